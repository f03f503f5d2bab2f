import type { Budgets } from "../controllers/budget.ts";

export interface WallBudgetOptions {
  /** How long a search may go on. */
  readonly totalMs: number;
  /** How long it may work before others get a turn. */
  readonly sliceMs?: number | undefined;
  readonly now: () => number;
  /** Resolves after everybody who waited has had a turn of the event loop. */
  readonly turn: () => Promise<void>;
}

/** Real time, in slices: leases, health checks and watches never wait for a search. (design §3) */
export function wallBudget({ totalMs, sliceMs = 8, now, turn }: WallBudgetOptions): Budgets {
  return () => {
    const endAt = now() + totalMs;
    let sliceEndAt = now() + sliceMs;
    const nextSlice = async (): Promise<boolean> => {
      await turn();
      const at = now();
      sliceEndAt = at + sliceMs;
      return at < endAt;
    };
    return {
      goesOn: () => {
        const at = now();
        if (at >= endAt) return false;
        return at < sliceEndAt || nextSlice();
      },
    };
  };
}
