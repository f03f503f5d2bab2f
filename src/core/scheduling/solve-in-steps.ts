import type { Steps } from "../../util/steps.ts";
import { closePassInSteps } from "./close-pass.ts";
import type { Decision } from "./decision.ts";
import { openPassInSteps } from "./open-pass.ts";
import type { Pass } from "./pass-state.ts";
import type { SchedulingProblem } from "./problem.ts";
import { isQueueExhausted, stepPass } from "./solve.ts";

/** How a caller asks a pass to come to its end. */
export interface PassControl {
  isStopRequested: boolean;
  /** Sees the pass once it is laid out and before anything is placed, in steps of its own. */
  readonly onPassOpened?: (pass: Pass) => Steps<void>;
}

/**
 * One scheduling pass in small steps, for callers that have other things to do in between: the answer is the same. A
 * pass that is asked to stop keeps what it has placed and says nothing of the rest; its last steps still have to be
 * taken. It always tries one pod at least: one that stopped while it was opening would be no nearer to its end however
 * often it is begun. (02:Q-9, docs/designs/engine.md)
 */
export function* solveInSteps(
  problem: SchedulingProblem,
  control: PassControl = { isStopRequested: false },
): Steps<Decision> {
  const pass = yield* openPassInSteps(problem);
  if (control.onPassOpened !== undefined) yield* control.onPassOpened(pass);
  while (stepPass(pass)) {
    yield;
    if (!control.isStopRequested) continue;
    pass.timedOut = !isQueueExhausted(pass);
    break;
  }
  return yield* closePassInSteps(pass);
}
