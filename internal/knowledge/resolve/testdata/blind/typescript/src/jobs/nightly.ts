import { jobs, createServer, Ledger } from "../index";

export const nightly = {
  timer: undefined as ReturnType<typeof setInterval> | undefined,

  start(): void {
    this.timer = setInterval(() => jobs.runAll(), 1000); //~ setInterval -; runAll index.ts:runAll
    this.once(createServer({ port: 0 }).ledger); //~ once nightly.ts:nightly.once; createServer server.ts:createServer
  },

  once(ledger: Ledger): void {
    ledger.hub.once("posted", (entry) => entry.reverse()); //~ once hub.ts:EventHub.once; reverse account.ts:Entry.reverse
  },
};
