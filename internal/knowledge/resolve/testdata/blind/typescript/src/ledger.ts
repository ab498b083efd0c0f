import { accounts, openAccount, type Store } from "./db/store";
import { Entry } from "#db/account";
import type { PlainAccount } from "#db/account";
import { EventHub, type Unsubscribe } from "./util/hub";
import { Result } from "#util";

type Changes = { posted: Entry };

export default class Ledger {
  readonly hub = new EventHub<Changes>(); //~ EventHub hub.ts:EventHub
  #open: Unsubscribe[] = [];

  constructor(private readonly store: Store<PlainAccount> = accounts) {
    this.#open.push(this.hub.on("posted", this.onPosted.bind(this))); //~ push -; on hub.ts:EventHub.on; bind -
  }

  async transfer(from: string, to: string, amount: number): Promise<Result<number>> {
    const [a, b] = await Promise.all([this.store.find(from), this.store.find(to)]); //~ all -; find store.ts:Store.find; find#2 store.ts:Store.find
    if (!a || !b) throw new Error("unknown");
    const entry = new Entry(-amount); //~ Entry account.ts:Entry.constructor
    return Result.from(async () => { //~ from result.ts:Result.from
      const left = a.post(entry).unwrapOr(0); //~ post account.ts:PlainAccount.post; unwrapOr result.ts:Result.unwrapOr
      b.post(entry.reverse()); //~ post account.ts:PlainAccount.post; reverse account.ts:Entry.reverse
      await this.#persist(a, b); //~ #persist ledger.ts:Ledger.#persist
      return left;
    });
  }

  async #persist(...changed: PlainAccount[]): Promise<void> {
    for (const account of changed) {
      await this.store.save(account); //~ save store.ts:Store.save
      this.hub.emit("posted", new Entry(account.balance())); //~ emit hub.ts:EventHub.emit; Entry account.ts:Entry.constructor; balance account.ts:PlainAccount.balance
    }
  }

  private onPosted(entry: Entry): void {
    const { amount, memo } = entry;
    if (amount > 0) audit(memo); //~ audit ledger.ts:audit
  }

  close(): void {
    this.#open.forEach((off) => off()); //~ forEach -; off -
  }

  static demo(): Ledger {
    const ledger = new Ledger(); //~ Ledger ledger.ts:Ledger.constructor
    accounts.save(openAccount("plain")); //~ save store.ts:MemoryStore.save; openAccount store.ts:openAccount
    return ledger;
  }
}

const audit = (memo: string): void => {
  trail.push(memo); //~ push -
};

const trail: string[] = [];
