import { Emitter, ReplayEmitter } from "../events/emitter";
import * as dates from "../dates";
import { Card, InvalidCard } from "./card";
import type { Repository } from "./repository";

type Change = { card: Card; at: Date };

export class Board {
  readonly changes: Emitter<Change> = new ReplayEmitter<Change>();
  private cards: Card[] = [];
  private byName: Map<string, Card> = new Map();

  constructor(private readonly repository: Repository) {}

  async load(name: string): Promise<Board> {
    const rows = await this.repository.list(name);
    for (const row of rows) {
      this.insert(Card.parse(row));
    }
    this.sort();
    return this;
  }

  insert(card: Card): void {
    this.cards.push(card.validate().move(1));
    this.byName.set(card.slug, card);
    this.changes.emit({ card, at: dates.today() });
  }

  sort(): void {
    this.cards.sort((a, b) => a.compare(b));
  }

  find(slug: string): Card | undefined {
    return this.byName.get(slug);
  }

  late(): Card[] {
    return this.cards.filter((card) => card.late());
  }

  postpone(slug: string): void {
    const card = this.find(slug);
    card?.move(10).tag("postponed");
    this.cards[0].move(1);
    this.byName.get(slug)!.validate();
  }

  async save(): Promise<void> {
    try {
      await this.repository.put(this.cards);
    } catch (error) {
      if (error instanceof InvalidCard) error.explain();
      await this.repository.close();
    }
  }
}
