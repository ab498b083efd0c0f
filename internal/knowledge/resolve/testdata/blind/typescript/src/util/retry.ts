import logger from "./logger";

export interface Policy {
  attempts: number;
  delay(attempt: number): number;
}

export const backoff = (base: number): Policy => ({
  attempts: 5,
  delay: (attempt) => base * 2 ** attempt,
});

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms)); //~ setTimeout -

export default async function <T>(work: () => Promise<T>, policy: Policy = backoff(10)): Promise<T> { //~ backoff retry.ts:backoff
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(); //~ work -
    } catch (e) {
      if (attempt >= policy.attempts) throw e;
      logger.warn("again", { attempt }); //~ warn logger.ts:Logger.warn
      await sleep(policy.delay(attempt)); //~ sleep retry.ts:sleep; delay retry.ts:Policy.delay
    }
  }
}
