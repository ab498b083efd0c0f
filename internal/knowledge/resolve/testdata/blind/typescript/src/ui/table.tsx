import { useState } from "react";
import type { Account } from "..";

type Cell = string | number;

export class Table {
  private rows: Cell[][] = [];
  private readonly columns: string[];

  constructor(...columns: string[]) {
    this.columns = columns;
  }

  row(...cells: Cell[]): Table {
    this.rows.push(cells); //~ push -
    return this;
  }

  lines(): string[] {
    return [this.columns, ...this.rows].map(pad); //~ map -
  }
}

const pad = (cells: readonly Cell[]) => cells.map((c) => String(c).padEnd(8)).join(" "); //~ map -; padEnd -; join -

export function render(table: Table): string {
  return table.lines().join("\n"); //~ lines table.tsx:Table.lines; join -
}

function useAccount(initial: Account) {
  const [account, setAccount] = useState<Account>(initial); //~ useState -
  const refresh = () => setAccount({ ...account }); //~ setAccount -
  return { account, refresh };
}

export const Balance = ({ of }: { of: Account }) => {
  const { account, refresh } = useAccount(of); //~ useAccount table.tsx:useAccount
  const onClick = () => {
    refresh(); //~ refresh -
    track("balance"); //~ track table.tsx:track
  };
  return <button onClick={onClick}>{account.balance()}</button>; //~ balance account.ts:Account.balance
};

function track(name: string): void {
  window.dispatchEvent(new CustomEvent(name)); //~ dispatchEvent -
}
