import type { OpenWorkBudget } from "../../src/controllers/work-budget.ts";

/** A budget of steps rather than time, so that a search is cut at the same place on every run. */
export function stepBudget(steps = Number.POSITIVE_INFINITY): OpenWorkBudget {
  return () => {
    let left = steps;
    return { mayContinue: () => left-- > 0 };
  };
}
