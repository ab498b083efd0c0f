import { accounts } from "../db/store";

async function cleanup(): Promise<void> {
  const render = (n: number) => String(n);
  const kept = await accounts.update("plain-0", (account) => { //~ update store.ts:MemoryStore.update
    account.undo(); //~ undo account.ts:PlainAccount.undo
    return account;
  });
  render(kept.balance()); //~ render -; balance account.ts:PlainAccount.balance
}

export default cleanup;
