import { decisionWithoutPools } from "../../core/round/decision-without-pools.ts";
import { roundProblem } from "../../core/round/round-problem.ts";
import type { SchedulingProblem } from "../../core/scheduling/problem.ts";
import { solve, solveInSteps } from "../../core/scheduling/solve.ts";
import { copyOfViews } from "../../state/copy-of-views.ts";
import { type RoundsResult, runRounds } from "../../state/plan-rounds.ts";
import { ProjectedCluster } from "../../state/projected-cluster.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { nominationMs } from "../settings.ts";
import { runInSlices } from "./run-in-slices.ts";

/** Enough to tell what stays; somebody waits for the answer. */
const maxRounds = 20;

/**
 * How the rounds that begin with this one end, if it refuses pods only for now: as long as a round plans nodes, the largest
 * types they could have count against limits, and the next round may place what it refuses. (docs/designs/rounds.md)
 */
export async function settledRounds(
  problem: SchedulingProblem,
  context: KarpenterContext,
): Promise<RoundsResult | undefined> {
  const { openBudget, clock, cloud, settings } = context;
  if (problem.devices !== undefined) return undefined; // what claims get in one round is not known in the next
  const first = decisionWithoutPools(problem) ?? (await runInSlices(solveInSteps(problem), openBudget()));
  if (first.newNodes.length === 0 || first.refusals.length === 0) return undefined;
  const options = { clock, servedNodeClasses: cloud.nodeClasses, nominationMs: nominationMs(settings) };
  const cluster = copyOfViews(context, options);
  const projected = new ProjectedCluster(cluster, { ...problem, pendingPods: problem.pods, nowMs: clock.now() });
  const currentProblem = (): SchedulingProblem => ({
    ...problem,
    ...roundProblem({
      ...problem,
      pods: projected.pendingPods,
      snapshot: cluster.snapshot(),
      workloads: () => [],
      devices: undefined,
    }),
    ...(problem.selectorOwners && { selectorOwners: problem.selectorOwners }),
  });
  const overlaid = { priced: new Set<never>(), enlarged: new Set<never>() };
  const scenario = { problem, ignored: [], notes: [], overlaid };
  return runRounds({ scenario, cluster, projected, staticPools: [], currentProblem }, { rounds: maxRounds, solve });
}
