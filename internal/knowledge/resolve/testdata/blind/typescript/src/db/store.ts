import type Entity from "./entity";
import { type Account, CreditAccount, Entry, PlainAccount } from "./account";
import log, { retry } from "#util";

export interface Store<T extends { id: string }> {
  find(id: string): Promise<T | undefined>;
  save(item: T): Promise<void>;
}

const logger = log.child("store"); //~ child logger.ts:Logger.child

export class MemoryStore<T extends Entity> implements Store<T> {
  private readonly rows = new Map<string, T>();

  async find(id: string): Promise<T | undefined> {
    return this.rows.get(id); //~ get -
  }

  async save(item: T): Promise<void> {
    logger.info("save", item.toRow()); //~ info logger.ts:Logger.info; toRow entity.ts:Entity.toRow
    this.rows.set(item.id, item); //~ set -
  }

  async update(id: string, change: (item: T) => T): Promise<T> {
    const found = await this.find(id); //~ find store.ts:MemoryStore.find
    if (!found) throw notFound(id); //~ notFound store.ts:notFound
    const changed = change(found); //~ change -
    await retry(() => this.save(changed)); //~ retry retry.ts:default; save store.ts:MemoryStore.save
    return changed;
  }
}

function notFound(id: string): Error {
  return new Error(`no ${id}`);
}

export const accounts = new MemoryStore<PlainAccount>(); //~ MemoryStore store.ts:MemoryStore

export function openAccount(kind: "plain"): PlainAccount;
export function openAccount(kind: "credit", limit: number): CreditAccount;
export function openAccount(kind: string, limit = 0): Account {
  const factories = {
    plain: () => new PlainAccount("plain"), //~ PlainAccount entity.ts:Entity.constructor
    credit: () => CreditAccount.open(limit), //~ open account.ts:CreditAccount.open
  };
  const account = kind === "credit" ? factories.credit() : factories.plain(); //~ credit -; plain -
  account.post(new Entry(0)); //~ post account.ts:PlainAccount.post; Entry account.ts:Entry.constructor
  return account;
}
