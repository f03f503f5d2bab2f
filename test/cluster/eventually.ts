import { setTimeout as sleep } from "node:timers/promises";

export interface EventuallyOptions {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
}

/** Asks again and again until the probe has an answer; a probe that throws or says `undefined` is asked once more. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined>,
  { timeoutMs = 60_000, everyMs = 50 }: EventuallyOptions = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let cause: unknown;
  do {
    try {
      const answer = await probe();
      if (answer !== undefined) return answer;
      cause = undefined;
    } catch (error) {
      if (error instanceof Hopeless) throw error;
      cause = error;
    }
    await sleep(everyMs);
  } while (Date.now() < deadline);
  throw new Error(`${what}: not within ${timeoutMs} ms`, { cause });
}

/** Thrown by a probe when asking again is pointless. */
export class Hopeless extends Error {}
