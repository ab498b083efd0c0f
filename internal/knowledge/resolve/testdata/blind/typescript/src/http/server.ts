import { createServer as createHttp, type IncomingMessage } from "node:http";
import Ledger from "../ledger";
import Router, { json, type Handler } from "./router";
import * as auth from "./auth";
import defaultLogger, { type Logger } from "../util/logger";

interface Options {
  port: number;
  logger?: Logger;
}

const createServer = ({ port, logger = defaultLogger }: Options) => {
  const ledger = Ledger.demo(); //~ demo ledger.ts:Ledger.demo
  const router = new Router() //~ Router router.ts:Router
    .use(auth.guard("secret")) //~ use router.ts:Router.use; guard auth.ts:guard
    .get("/health", () => json({ ok: true })) //~ get router.ts:Router.get; json router.ts:json
    .post("/transfer", transfer(ledger)); //~ post router.ts:Router.post; transfer server.ts:transfer

  const server = createHttp(async (req, res) => { //~ createHttp -
    const reply = await router.dispatch(req); //~ dispatch router.ts:Router.dispatch
    logger.info("served", { url: req.url }); //~ info logger.ts:Logger.info
    res.end(reply.body); //~ end -
  });
  server.listen(port); //~ listen -
  return { server, ledger, stop: () => ledger.close() }; //~ close ledger.ts:Ledger.close
};

export default createServer;

function transfer(ledger: Ledger): Handler {
  return async (req) => {
    const { from, to, amount } = await body(req); //~ body server.ts:body
    const result = await ledger.transfer(from, to, amount); //~ transfer ledger.ts:Ledger.transfer
    return json({ left: result.map((left) => format(left)).unwrapOr("none") }); //~ json router.ts:json; map result.ts:Result.map; format server.ts:transfer.format; unwrapOr result.ts:Result.unwrapOr
  };

  function format(amount: number): string {
    return amount.toFixed(2); //~ toFixed -
  }
}

async function body(req: IncomingMessage): Promise<any> {
  let text = "";
  for await (const chunk of req) text += chunk;
  return JSON.parse(text); //~ parse -
}
