export * from "./result";
export { default as retry, backoff } from "./retry";
export { default } from "./logger";
