import { isLate } from "../dates";
import slugify from "../slug";

export interface CardData {
  title: string;
  due?: string;
}

export class Card {
  readonly slug: string;
  private tags = new Set<string>();

  constructor(readonly data: CardData, private position = 0) {
    this.slug = slugify(data.title);
  }

  static parse(text: string): Card {
    const card = new Card(JSON.parse(text));
    card.validate();
    return card;
  }

  get due(): Date | undefined {
    return this.data.due ? new Date(this.data.due) : undefined;
  }

  validate(): this {
    if (!this.data.title) throw new InvalidCard("no title");
    return this;
  }

  late(): boolean {
    return this.due !== undefined && isLate(this.due);
  }

  move(by: number): Card {
    this.position += by;
    return this;
  }

  tag(...names: string[]): Card {
    names.forEach((name) => this.tags.add(slugify(name)));
    return this;
  }

  compare(other: Card): number {
    return this.rank() - other.rank();
  }

  private rank = (): number => this.position;
}

export class InvalidCard extends Error {
  explain(): string {
    return `invalid: ${this.message}`;
  }
}
