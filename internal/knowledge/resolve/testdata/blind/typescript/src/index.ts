export { default as createServer } from "./http/server";
export { default as Ledger } from "./ledger";
export * as jobs from "./jobs";
export type { Account } from "./db/account";
