import type { Decision } from "../scheduling/decision.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";

/** Without a usable pool no pod is placed, not even on existing nodes; undefined if there is one. (02:P-32) */
export function decisionWithoutPools({ pools, pods }: SchedulingProblem): Decision | undefined {
  if (pools.length > 0) return undefined;
  return {
    placements: [],
    newNodes: [],
    refusals: pods.map((pod) => ({ pod, code: "no-pools", message: "no dynamic nodepools found", pools: [] })),
    emptyPools: [],
    statistics: { pods: pods.length, classes: 0, candidatesTried: 0, timedOut: false },
  };
}
