import { router } from "./lib/router.js";
import * as views from "./views/board";
import { Emitter } from "@board/core";

const started = new Emitter<string>();

async function main(): Promise<void> {
  const board = views.create("/api");
  router.add("/", board).add("/late", board);
  started.once((path) => router.go(path));
  started.emit(location.pathname);
  const { debug } = await import("./debug");
  debug(board);
}

main().catch((error) => console.error(error));
