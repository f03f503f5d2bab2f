import type { Decision } from "../../core/scheduling/decision.ts";
import type { SchedulingProblem } from "../../core/scheduling/problem.ts";
import { type PassControl, solveInSteps } from "../../core/scheduling/solve.ts";
import type { Clock } from "../../util/clock.ts";
import type { OpenWorkBudget } from "../work-budget.ts";
import type { PassMetrics } from "./pass-metrics.ts";

export interface SolveWithinBudgetOptions {
  readonly openBudget: OpenWorkBudget;
  /** How many budgets the pass may use, one after the other. */
  readonly budgetCount: number;
  readonly passMetrics: PassMetrics;
  readonly clock: Clock;
}

/** How long the search for the devices of one pod on one node may take. (02:D-9) */
const deviceSearchMs = 5_000;

/**
 * Runs a pass and lets other work of the process have its turn in between. When the budgets are used up the pass stops:
 * what is placed by then is kept, and the other pods are not reported. (02:Q-9)
 */
export async function solveWithinBudget(
  problem: SchedulingProblem,
  { openBudget, budgetCount, passMetrics, clock }: SolveWithinBudgetOptions,
): Promise<Decision> {
  const control: PassControl = {
    isStopRequested: false,
    onPassOpened: (pass) => passMetrics.opened(pass),
    openSearchBudget: () => {
      const endMs = clock.now() + deviceSearchMs;
      return () => clock.now() >= endMs;
    },
  };
  const steps = solveInSteps(problem, control);
  let left = budgetCount;
  let budget = openBudget();
  for (;;) {
    const step = steps.next();
    if (step.done) {
      passMetrics.closed(step.value);
      return step.value;
    }
    const answer = budget.mayContinue();
    if (typeof answer !== "boolean") passMetrics.paused();
    const mayContinue = typeof answer === "boolean" ? answer : await answer;
    if (mayContinue) continue;
    control.isStopRequested = --left <= 0;
    budget = openBudget(); // closing the pass takes time as well, and pauses as before
  }
}
