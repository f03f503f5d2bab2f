import { lpSolver } from "../src/cli/lp-solver.ts";
import { lowerBound } from "../src/core/bound/lower-bound.ts";
import { type Run, requestsBound, run } from "./measure.ts";
import { problemFor } from "./prepare.ts";
import { measureSteps } from "./steps.ts";
import type { Workload } from "./workloads.ts";

/** What a process of its own measures, and prints as one line of JSON. */
export type Errand = "cold" | "warm" | "bounds" | "steps";

export interface ColdAnswer {
  readonly run: Run;
  readonly peakRssMiB: number;
}

export interface WarmAnswer {
  readonly runs: readonly Run[];
  readonly plain: readonly Run[];
}

export interface BoundsAnswer {
  readonly pods: number;
  readonly requests: number;
  readonly linear: number;
}

const warmUps = 3;

export async function answer(errand: Errand, workload: Workload, count: number): Promise<object> {
  if (errand === "cold") {
    const once = run(workload);
    return { run: once, peakRssMiB: process.resourceUsage().maxRSS / 1024 } satisfies ColdAnswer;
  }
  if (errand === "steps") return measureSteps(workload);
  if (errand === "bounds") {
    const problem = problemFor(workload);
    const linear = await lowerBound(problem, { solveLp: await lpSolver() });
    return { pods: problem.pods.length, requests: requestsBound(workload, problem), linear } satisfies BoundsAnswer;
  }
  for (let i = 0; i < warmUps; i++) run(workload);
  const pairs = Array.from({ length: count }, () => ({ polished: run(workload), plain: run(workload, "plain") }));
  return {
    runs: pairs.map(({ polished }) => polished),
    plain: pairs.map(({ plain }) => plain),
  } satisfies WarmAnswer;
}
