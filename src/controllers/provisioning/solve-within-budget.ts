import type { Decision } from "../../core/scheduling/decision.ts";
import type { SchedulingProblem } from "../../core/scheduling/problem.ts";
import { type PassControl, solveInSteps } from "../../core/scheduling/solve-in-steps.ts";
import type { OpenWorkBudget } from "../work-budget.ts";
import type { PassMetrics } from "./pass-metrics.ts";

export interface SolveWithinBudgetOptions {
  readonly openBudget: OpenWorkBudget;
  /** How many budgets it may use up, one after the other. */
  readonly budgetCount: number;
  readonly passMetrics: PassMetrics;
}

/**
 * One pass that lets others work in between, and comes to its end when its time is up: what it has placed by then is
 * kept, and the rest is not spoken of. (02:Q-9)
 */
export async function solveWithinBudget(
  problem: SchedulingProblem,
  { openBudget, budgetCount, passMetrics }: SolveWithinBudgetOptions,
): Promise<Decision> {
  const stop: PassControl = { isStopRequested: false, onPassOpened: (pass) => passMetrics.opened(pass) };
  const pass = solveInSteps(problem, stop);
  let left = budgetCount;
  let budget = openBudget();
  for (;;) {
    const step = pass.next();
    if (step.done) {
      passMetrics.closed(step.value);
      return step.value;
    }
    const answer = budget.mayContinue();
    if (typeof answer !== "boolean") passMetrics.paused();
    const goesOn = typeof answer === "boolean" ? answer : await answer;
    if (goesOn) continue;
    stop.isStopRequested = --left <= 0;
    budget = openBudget(); // ending it takes time as well, and others still want to work
  }
}
