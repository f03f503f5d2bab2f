import { wallClockBudget } from "../../src/operator/wall-clock-budget.ts";

const solveBudgetMs = 5_000;

/** Time for a search as the `run` command gives it. */
export const realBudgets = wallClockBudget({
  totalMs: solveBudgetMs,
  now: () => performance.now(),
  yieldToEventLoop: turn,
});

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
