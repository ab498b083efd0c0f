import { Card } from "./card";

export interface Repository {
  list(board: string): Promise<string[]>;
  put(cards: Card[]): Promise<void>;
  close(): Promise<void>;
}

abstract class Base implements Repository {
  abstract list(board: string): Promise<string[]>;

  async put(cards: Card[]): Promise<void> {
    for (const card of cards) {
      await this.write(card.slug, encode(card));
    }
  }

  protected abstract write(key: string, text: string): Promise<void>;

  async close(): Promise<void> {
    await this.flush();
  }

  protected async flush() {}
}

class MemoryRepository extends Base {
  private rows = new Map<string, string>();

  async list(board: string) {
    return [...this.rows.values()];
  }

  protected async write(key: string, text: string) {
    this.rows.set(key, text);
  }
}

class HttpRepository extends Base {
  constructor(private readonly client: Client) {
    super();
  }

  async list(board: string) {
    const response = await this.client.get(`/boards/${board}`);
    return response.lines();
  }

  protected async write(key: string, text: string) {
    await this.client.post(key, text);
    this.client.stats.hit();
  }
}

class Stats {
  hits = 0;
  hit() {
    this.hits++;
  }
}

class Client {
  stats = new Stats();

  constructor(private base: string) {}

  async get(path: string): Promise<Reply> {
    const answer = await fetch(this.base + path);
    return new Reply(await answer.text());
  }

  async post(path: string, body: string): Promise<Reply> {
    this.stats.hit();
    return this.get(path);
  }
}

class Reply {
  constructor(private text: string) {}
  lines() {
    return this.text.split("\n");
  }
}

function encode(card: Card): string {
  return JSON.stringify(card.data);
}

export function openRepository(url?: string): Repository {
  if (!url) return new MemoryRepository();
  const client = new Client(url);
  return new HttpRepository(client);
}
