import type { OpenWorkBudget } from "../controllers/work-budget.ts";

export interface WallClockBudgetOptions {
  /** How long a search may run. */
  readonly totalMs: number;
  /** How long it may run before it yields. */
  readonly sliceMs?: number | undefined;
  readonly now: () => number;
  /** Resolves after one turn of the event loop. */
  readonly yieldToEventLoop: () => Promise<void>;
}

/** Wall-clock time in slices, so that leases, probes and watches never wait for a search. (docs/designs/engine.md) */
export function wallClockBudget(options: WallClockBudgetOptions): OpenWorkBudget {
  const { totalMs, sliceMs = 8, now, yieldToEventLoop } = options;
  return () => {
    const endAt = now() + totalMs;
    let sliceEndAt = now() + sliceMs;
    const nextSlice = async (): Promise<boolean> => {
      await yieldToEventLoop();
      const at = now();
      sliceEndAt = at + sliceMs;
      return at < endAt;
    };
    return {
      mayContinue: () => {
        const at = now();
        if (at >= endAt) return false;
        return at < sliceEndAt || nextSlice();
      },
    };
  };
}
