import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { ClusterSnapshot } from "../../core/round/cluster-snapshot.ts";
import { gatherPods } from "../../core/round/gather-pods.ts";
import { podsToPlace, type RoundPods } from "../../core/round/round-pods.ts";
import type { Decision } from "../../core/scheduling/decision.ts";
import type { Pool } from "../../core/scheduling/problem.ts";
import { formatDurationMs } from "../../util/duration.ts";
import type { ExpiringMap } from "../../util/expiring-map.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { updateBufferConditions } from "./buffer-conditions.ts";
import { collectPods } from "./collect-pods.ts";
import { createClaims } from "./create-claims.ts";
import { type ExpectedRoundPods, expectPods, nothingExpected, takeExpectedPlaces } from "./expect-pods.ts";
import { joinedPodNames } from "./log-text.ts";
import { PassMetrics } from "./pass-metrics.ts";
import { recordPodRefused } from "./pod-decisions.ts";
import { poolsWithInstanceTypes } from "./pools-with-instance-types.ts";
import { isRealPod, recordDecision } from "./record-decision.ts";
import { buildRoundProblem } from "./round-problem.ts";
import { forEachInSlices } from "./run-in-slices.ts";
import { solveWithinBudget } from "./solve-within-budget.ts";

const creationReason = "provisioned";

export interface RoundOptions {
  /** How many work budgets the pass of this round may use. */
  readonly budgetCount: number;
  /** Pods that were warned about, by warning and uid. (02:P-40) */
  readonly warnedPods: ExpiringMap<true>;
  /** Whether pods were still coming when the batch window ended. */
  readonly areMoreComing: boolean;
}

/** The name of the provisioning controller in logs and metrics. */
export const provisionerName = "provisioner";

/**
 * One round: from pending pods to NodeClaims. The snapshot is taken before pods are collected: a pod bound in between
 * makes the round launch too little, which the next one corrects, and never too much. (02:P-30)
 */
export async function provision(
  { budgetCount, warnedPods, areMoreComing }: RoundOptions,
  context: KarpenterContext,
): Promise<{ readonly isUnfinished: boolean }> {
  const snapshot = context.cluster.snapshot();
  const roundPods = await collectPods(snapshot, warnedPods, context);
  const places = context.cluster.expectedPlaces.takeAll();
  const expectsPods = areMoreComing && context.settings.gates.ExpectedPods && roundPods.pending.length > 0;
  const expected = expectsPods ? await expectPods(roundPods.pending, places, context) : nothingExpected;
  const pools = await poolsFor(roundPods, context);
  const decision =
    pools.length === 0 ? emptyDecision : await decide({ roundPods, expected, snapshot, pools, budgetCount }, context);
  const roundResult = { decision, snapshot, pools: byName(pools), budget: context.openBudget() };
  await recordDecision(roundResult, context);
  if (context.settings.gates.CapacityBuffer) await updateBufferConditions(decision, snapshot, context);
  const creation = { ...roundResult, reason: creationReason, recordsPodEvents: true };
  const { errors } = await createClaims(decision.newNodes, creation, context);
  if (expectsPods) await takeExpectedPlaces(context);
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

/** No pools if there are no pods. Without any usable pool nothing is placed, and pods get no event. (02:P-32) */
async function poolsFor(roundPods: RoundPods, context: KarpenterContext): Promise<readonly Pool[]> {
  const pods = podsToPlace(roundPods);
  if (pods.length === 0) return [];
  context.log.debug("computing scheduling decision for provisionable pod(s)", {
    "pending-pods": pods.length - roundPods.onDeletingNodes.length,
    "deleting-pods": roundPods.onDeletingNodes.length,
  });
  const pools = await poolsWithInstanceTypes(context);
  if (pools.length > 0) return pools;
  context.log.info("no dynamic nodepools found");
  const budget = context.openBudget();
  await forEachInSlices(pods.filter(isRealPod), { budget, visit: (pod) => recordPodRefused(pod, context) });
  return [];
}

interface DecideOptions extends Pick<RoundOptions, "budgetCount"> {
  readonly roundPods: RoundPods;
  readonly expected: ExpectedRoundPods;
  readonly snapshot: ClusterSnapshot;
  readonly pools: readonly Pool[];
}

/** Pods that are only expected must not keep others from being placed: where one is refused, they are left out. (02:P-35) */
async function decide(options: DecideOptions, context: KarpenterContext): Promise<Decision> {
  const { roundPods, expected } = options;
  const pods = podsToPlace(roundPods);
  if (expected.pods.length > 0) {
    const decision = await solve([...pods, ...expected.pods], options, context);
    const isRefused = decision.statistics.timedOut || decision.refusals.some(({ pod }) => isRealPod(pod));
    const gathered = isRefused ? undefined : gatherPods(decision);
    if (gathered !== undefined) return gathered;
  }
  return solve(pods, options, context);
}

async function solve(
  pods: readonly Pod[],
  { expected, snapshot, pools, budgetCount }: DecideOptions,
  context: KarpenterContext,
): Promise<Decision> {
  const { metrics, openBudget, log } = context;
  const source = { pods, pools, snapshot, expectedClaims: expected.claims, seed: context.random.int(2 ** 32) };
  const problem = await buildRoundProblem(source, context);
  const id = context.random.uuid();
  const passMetrics = new PassMetrics({ metrics, clock: context.clock, controller: provisionerName, id });
  const decision = await solveWithinBudget(problem, {
    ...{ openBudget, budgetCount, passMetrics },
    clock: context.clock,
  });
  const duration = formatDurationMs(passMetrics.elapsedMs);
  if (decision.statistics.timedOut) log.debug("scheduling simulation timed out", { duration, "scheduling-id": id });
  if (decision.newNodes.length > 0)
    log.info("found provisionable pod(s)", { Pods: joinedPodNames(pods.filter(isRealPod)), duration });
  return decision;
}

function byName(pools: readonly Pool[]): ReadonlyMap<string, NodePool> {
  return new Map(pools.map(({ nodePool }) => [nodePool.metadata.name ?? "", nodePool]));
}
