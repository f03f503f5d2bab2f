import type { Clock } from "../../../src/util/clock.ts";

export interface DelayedEventsOptions {
  readonly clock: Clock;
  /** How late the next one is. */
  readonly delayMs: () => number;
  /** Ends the source. */
  readonly signal: AbortSignal;
}

interface Pending<T> {
  readonly value: T;
  readonly dueAt: number;
}

/**
 * Delays values, keeping their order within the stream. Two streams may so report one change in either order.
 * (05:CP-T4)
 */
export async function* delayedEvents<T>(
  source: AsyncIterable<T>,
  { clock, delayMs, signal }: DelayedEventsOptions,
): AsyncIterable<T> {
  const queue: Pending<T>[] = [];
  const end: { isReached: boolean; error?: unknown } = { isReached: false };
  let wake: (() => void) | undefined;
  const wakeReader = () => {
    const waiting = wake;
    wake = undefined;
    waiting?.();
  };
  let lastDueAt = 0;
  const readSource = async () => {
    for await (const value of source) {
      lastDueAt = Math.max(lastDueAt, clock.now() + delayMs());
      queue.push({ value, dueAt: lastDueAt });
      wakeReader();
    }
  };
  const ended = (error?: unknown) => {
    Object.assign(end, { isReached: true, error });
    wakeReader();
  };
  readSource().then(() => ended(), ended);
  for (;;) {
    const next = queue[0];
    if (next === undefined) {
      if (end.error !== undefined) throw end.error;
      if (end.isReached) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      continue;
    }
    const waitMs = next.dueAt - clock.now();
    if (waitMs > 0) await clock.sleep(waitMs, signal).catch(() => {});
    if (signal.aborted) return;
    queue.shift();
    yield next.value;
  }
}
