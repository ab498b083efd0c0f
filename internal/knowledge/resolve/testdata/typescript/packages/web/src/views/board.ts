import { Board, Card, openRepository, slugify, dates, type Repository } from "@board/core";
import { h } from "@lib/html";
import { View } from "./view";
import { useClock } from "./clock";

export class BoardView extends View {
  private board: Board;
  private clock = useClock();

  constructor(repository: Repository) {
    super();
    this.board = new Board(repository);
    this.board.changes.on((change) => this.changed(change.card));
  }

  override load(): void {
    this.board.load("main").then((board) => board.sort());
    this.clock.start();
  }

  private changed(card: Card): void {
    this.parts.push(h("li", label(card)));
  }

  body(): string {
    const late = this.board.late();
    for (const card of late) {
      this.changed(card.move(1));
    }
    return late.map((card) => h("li", label(card))).join("");
  }

  title(): string {
    return super.title() + slugify("board") + this.clock.now().getDay();
  }

  search(query: string): Card | undefined {
    const found = this.board.find(slugify(query));
    found?.validate();
    dates.isLate(dates.today());
    return found;
  }
}

function label(card: Card): string {
  const mark = card.late() ? bold("!") : "";
  return mark + card.slug;

  function bold(s: string) {
    return h("b", s);
  }
}

export function create(url: string): BoardView {
  const view = new BoardView(openRepository(url));
  view.mount();
  return view;
}
