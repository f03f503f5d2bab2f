import type { Decision } from "../../core/scheduling/decision.ts";
import type { SchedulingProblem } from "../../core/scheduling/problem.ts";
import { type Stop, solving } from "../../core/scheduling/solving.ts";
import type { Budgets } from "../budget.ts";
import type { PassMetrics } from "./pass-metrics.ts";

export interface SolveOptions {
  readonly budgets: Budgets;
  /** How many budgets it may use up, one after the other. */
  readonly grants: number;
  readonly figures: PassMetrics;
}

/**
 * One pass that lets others work in between, and comes to its end when its time is up: what it has placed by then is
 * kept, and the rest is not spoken of. (02:Q-9)
 */
export async function solveWithin(
  problem: SchedulingProblem,
  { budgets, grants, figures }: SolveOptions,
): Promise<Decision> {
  const stop: Stop = { isAsked: false, onOpen: (pass) => figures.opened(pass) };
  const pass = solving(problem, stop);
  let left = grants;
  let budget = budgets();
  for (;;) {
    const step = pass.next();
    if (step.done) {
      figures.closed(step.value);
      return step.value;
    }
    const answer = budget.goesOn();
    if (typeof answer !== "boolean") figures.paused();
    const goesOn = typeof answer === "boolean" ? answer : await answer;
    if (goesOn) continue;
    stop.isAsked = --left <= 0;
    budget = budgets(); // ending it takes time as well, and others still want to work
  }
}
