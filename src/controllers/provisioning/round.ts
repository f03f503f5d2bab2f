import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { ClusterSnapshot } from "../../core/round/cluster-snapshot.ts";
import { podsToPlace, type RoundPods } from "../../core/round/round-pods.ts";
import type { Decision } from "../../core/scheduling/decision.ts";
import type { Pool } from "../../core/scheduling/problem.ts";
import { formatDurationMs } from "../../util/duration.ts";
import { updateBufferConditions } from "./buffer-conditions.ts";
import { collectPods } from "./collect-pods.ts";
import { createClaims } from "./create-claims.ts";
import { joinedPodNames } from "./log-text.ts";
import { PassMetrics } from "./pass-metrics.ts";
import { recordPodRefused } from "./pod-decisions.ts";
import { poolsWithInstanceTypes } from "./pools-with-instance-types.ts";
import { type ProvisioningContext, provisionerName } from "./provisioning-context.ts";
import { isRealPod, recordDecision } from "./record-decision.ts";
import { buildRoundProblem } from "./round-problem.ts";
import { forEachInSlices } from "./run-in-slices.ts";
import { solveWithinBudget } from "./solve-within-budget.ts";

const creationReason = "provisioned";

/** How long a round may think. */
export interface RoundOptions {
  /** In budgets. */
  readonly budgetCount: number;
}

/**
 * One round: from the cluster as it is to the machines it lacks. The machines are looked at before the pods, so that a
 * pod that is bound in between makes the round buy too little, which the next one heals, and never too much. (02:P-30)
 */
export async function provision(
  provisioningContext: ProvisioningContext,
  options: RoundOptions,
): Promise<{ readonly isUnfinished: boolean }> {
  const { dependencies, context } = provisioningContext;
  const snapshot = dependencies.cluster.snapshot();
  const roundPods = await collectPods(provisioningContext, snapshot);
  const pools = await poolsFor(provisioningContext, roundPods);
  const decision =
    pools.length === 0 ? emptyDecision : await decide(provisioningContext, { roundPods, snapshot, pools, ...options });
  const roundResult = { decision, snapshot, pools: byName(pools), budget: dependencies.openBudget() };
  await recordDecision(provisioningContext, roundResult);
  if (dependencies.settings.gates.CapacityBuffer) await updateBufferConditions(provisioningContext, decision, snapshot);
  const { errors } = await createClaims(decision.newNodes, {
    dependencies,
    context,
    ...roundResult,
    reason: creationReason,
    recordsPodEvents: true,
  });
  if (errors.length > 0) throw new AggregateError(errors, errors.map(({ message }) => message).join("; "));
  return { isUnfinished: decision.statistics.timedOut };
}

const emptyDecision: Decision = {
  placements: [],
  newNodes: [],
  refusals: [],
  emptyPools: [],
  statistics: { pods: 0, classes: 0, candidatesTried: 0, timedOut: false },
};

/** None where there is nobody to place; where there is no pool, nobody is placed, and pods are not told. (02:P-32) */
async function poolsFor(
  { dependencies, context }: ProvisioningContext,
  roundPods: RoundPods,
): Promise<readonly Pool[]> {
  const pods = podsToPlace(roundPods);
  if (pods.length === 0) return [];
  dependencies.log.debug("computing scheduling decision for provisionable pod(s)", {
    "pending-pods": pods.length - roundPods.onDeletingNodes.length,
    "deleting-pods": roundPods.onDeletingNodes.length,
  });
  const pools = await poolsWithInstanceTypes(dependencies, context);
  if (pools.length > 0) return pools;
  dependencies.log.info("no dynamic nodepools found");
  const now = context.clock.now();
  await forEachInSlices(pods.filter(isRealPod), {
    budget: dependencies.openBudget(),
    visit: (pod) => recordPodRefused(dependencies, pod, now),
  });
  return [];
}

interface DecideOptions extends RoundOptions {
  readonly roundPods: RoundPods;
  readonly snapshot: ClusterSnapshot;
  readonly pools: readonly Pool[];
}

async function decide(
  provisioningContext: ProvisioningContext,
  { roundPods, snapshot, pools, budgetCount }: DecideOptions,
): Promise<Decision> {
  const { dependencies, context } = provisioningContext;
  const { metrics, openBudget, log } = dependencies;
  const pods = podsToPlace(roundPods);
  const problem = await buildRoundProblem(
    { pods, pools, snapshot, seed: context.random.int(2 ** 32) },
    dependencies,
    context,
  );
  const id = context.random.uuid();
  const passMetrics = new PassMetrics({ metrics, clock: context.clock, controller: provisionerName, id });
  const decision = await solveWithinBudget(problem, { openBudget, budgetCount, passMetrics });
  const duration = formatDurationMs(passMetrics.elapsedMs);
  if (decision.statistics.timedOut) log.debug("scheduling simulation timed out", { duration, "scheduling-id": id });
  if (decision.newNodes.length > 0) log.info("found provisionable pod(s)", { Pods: joinedPodNames(pods), duration });
  return decision;
}

function byName(pools: readonly Pool[]): ReadonlyMap<string, NodePool> {
  return new Map(pools.map(({ nodePool }) => [nodePool.metadata.name ?? "", nodePool]));
}
