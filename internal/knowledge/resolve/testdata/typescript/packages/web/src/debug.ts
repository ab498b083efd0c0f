import { BoardView } from "./views/board";

export function debug(view: BoardView): void {
  console.log(view.render());
  view.search("x")?.late();
}
