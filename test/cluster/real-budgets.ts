import { wallBudget } from "../../src/operator/wall-budget.ts";

const solveBudgetMs = 5_000;

/** Time for a search as the `run` command gives it. */
export const realBudgets = wallBudget({ totalMs: solveBudgetMs, now: () => performance.now(), turn });

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
