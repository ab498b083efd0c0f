import { accounts } from "#db/store";
import { Table, render } from "../ui/table";

export async function statement(id = "plain-0"): Promise<string> {
  const account = await accounts.find(id); //~ find store.ts:MemoryStore.find
  const table = new Table("id", "balance"); //~ Table table.tsx:Table.constructor
  table.row(id, account?.balance() ?? 0).row("limit", 0); //~ row table.tsx:Table.row; balance account.ts:PlainAccount.balance; row#2 table.tsx:Table.row
  return render(table); //~ render table.tsx:render
}
