import { json, type Middleware } from "./router";
import type { IncomingMessage } from "node:http";

namespace tokens {
  export function verify(token: string, secret: string): boolean {
    return digest(token) === secret; //~ digest auth.ts:tokens.digest
  }

  function digest(token: string): string {
    return token.split("").reverse().join(""); //~ split -; reverse -; join -
  }
}

export function guard(secret: string): Middleware {
  return (next) => (req) => {
    if (!tokens.verify(bearer(req), secret)) { //~ verify auth.ts:tokens.verify; bearer auth.ts:bearer
      return json({ error: "denied" }, 401); //~ json router.ts:json
    }
    return next(req); //~ next -
  };
}

const bearer = ({ headers }: IncomingMessage) => headers.authorization?.slice(7) ?? ""; //~ slice -
