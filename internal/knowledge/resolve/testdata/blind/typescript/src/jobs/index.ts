import { statement } from "./statement";
import cleanup from "./cleanup";

export const all = [statement, cleanup];

export async function runAll(): Promise<void> {
  for (const job of all) {
    await job(); //~ job -
  }
  await cleanup(); //~ cleanup cleanup.ts:cleanup
  const { nightly } = await import("./nightly");
  nightly.start(); //~ start nightly.ts:nightly.start
}
