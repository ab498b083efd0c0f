import { Result, err } from "#util";
import Entity, { type Id } from "./entity";

export interface Account {
  id: Id;
  balance(): number;
  post(entry: Entry): Result<number>;
}

export class Entry extends Entity {
  constructor(readonly amount: number, readonly memo = "") {
    super("entry"); //~ Entity entity.ts:Entity.constructor
  }

  get negative(): boolean {
    return this.amount < 0;
  }

  override toRow() {
    return { ...super.toRow(), amount: this.amount }; //~ toRow entity.ts:Entity.toRow
  }

  reverse = (): Entry => new Entry(-this.amount, this.memo); //~ Entry account.ts:Entry.constructor
}

export class PlainAccount extends Entity implements Account {
  protected entries: Entry[] = [];

  balance(): number {
    return this.entries.reduce((sum, e) => sum + e.amount, 0); //~ reduce -
  }

  post(entry: Entry): Result<number> {
    if (!this.allowed(entry)) { //~ allowed account.ts:PlainAccount.allowed
      return err(new Error("refused")); //~ err result.ts:err
    }
    this.entries.push(entry); //~ push -
    this.touch(); //~ touch entity.ts:Entity.touch
    return Result.ok(this.balance()); //~ ok result.ts:Result.ok; balance account.ts:PlainAccount.balance
  }

  undo(): void {
    const last = this.entries.at(-1); //~ at -
    if (last) {
      this.post(last.reverse()); //~ post account.ts:PlainAccount.post; reverse account.ts:Entry.reverse
    }
  }

  protected allowed(entry: Entry): boolean {
    return !entry.negative || this.balance() + entry.amount >= 0; //~ balance account.ts:PlainAccount.balance
  }
}

export class CreditAccount extends PlainAccount {
  static open(limit: number): CreditAccount {
    const made = new this("credit"); //~ CreditAccount entity.ts:Entity.constructor
    made.limit = limit;
    return made;
  }

  limit = 0;

  protected override allowed(entry: Entry): boolean {
    return super.allowed(entry) || this.balance() >= -this.limit; //~ allowed account.ts:PlainAccount.allowed; balance account.ts:PlainAccount.balance
  }
}
