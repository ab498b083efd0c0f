import type { IncomingMessage } from "node:http";

export interface Reply {
  status: number;
  body: string;
}

export type Handler = (req: IncomingMessage) => Reply | Promise<Reply>;
export type Middleware = (next: Handler) => Handler;

class Router {
  private routes = new Map<string, Handler>();
  private middlewares: Middleware[] = [];

  get(path: string, handler: Handler): this {
    return this.route("GET", path, handler); //~ route router.ts:Router.route
  }

  post(path: string, handler: Handler): this {
    return this.route("POST", path, handler); //~ route router.ts:Router.route
  }

  use(middleware: Middleware): this {
    this.middlewares.push(middleware); //~ push -
    return this;
  }

  private route(method: string, path: string, handler: Handler): this {
    this.routes.set(key(method, path), handler); //~ set -; key router.ts:key
    return this;
  }

  async dispatch(req: IncomingMessage): Promise<Reply> {
    const handler = this.routes.get(key(req.method ?? "GET", req.url ?? "/")) ?? Router.missing; //~ get -; key router.ts:key
    return this.wrap(handler)(req); //~ wrap router.ts:Router.wrap
  }

  private wrap(handler: Handler): Handler {
    return this.middlewares.reduceRight((next, middleware) => middleware(next), handler); //~ reduceRight -; middleware -
  }

  private static missing: Handler = () => json({ error: "missing" }, 404); //~ json router.ts:json
}

const key = (method: string, path: string) => `${method} ${path}`;

export const json = (value: unknown, status = 200): Reply => ({ status, body: JSON.stringify(value) }); //~ stringify -

export { Router as default };
