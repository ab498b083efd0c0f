export * from "./store";
export { Emitter } from "./events/emitter";
export type { Listener } from "./events/emitter";
export { default as slugify } from "./slug";
export * as dates from "./dates";
