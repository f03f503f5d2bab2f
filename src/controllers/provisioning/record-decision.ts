import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { ClusterSnapshot } from "../../core/round/cluster-snapshot.ts";
import type { Decision } from "../../core/scheduling/decision.ts";
import type { Refusal } from "../../core/scheduling/refusal.ts";
import { isBufferPod, isVirtualPod } from "../../core/virtual-pods.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import type { WorkBudget } from "../work-budget.ts";
import { joinedPodNames, logReference } from "./log-text.ts";
import { isPoolHealthy, type PodPlacement, recordPodPlaced, recordPodRefused } from "./pod-decisions.ts";
import { forEachInSlices } from "./run-in-slices.ts";
import {
  failedSchedulingEvent,
  type NominationTarget,
  noCompatibleInstanceTypesEvent,
  nominatedEvent,
  podEventSubject,
} from "./scheduling-events.ts";

/** The decision of a round and what it was made from. */
export interface RoundResult {
  readonly decision: Decision;
  readonly snapshot: ClusterSnapshot;
  /** As the round saw them. */
  readonly pools: ReadonlyMap<string, NodePool>;
  /** For yielding while it is recorded. */
  readonly budget: WorkBudget;
}

/** Records a decision: events, log lines, metrics, nominations. */
export async function recordDecision(round: RoundResult, context: KarpenterContext): Promise<void> {
  const { decision, budget } = round;
  recordEmptyPools(round, context);
  logDeferred(decision.refusals, context);
  const growing = new Set(decision.newNodes.map(({ pool }) => pool));
  await forEachInSlices(decision.refusals, {
    budget,
    visit: (refusal) => recordRefusal(refusal, { mayPass: mayPass(refusal, growing) }, context),
  });
  await forEachInSlices(placedPods(round, context), { budget, visit: (placed) => recordPlacement(placed, context) });
  await forEachInSlices(plannedPods(round, context), {
    budget,
    visit: ({ pod, ...details }) => recordPodPlaced(pod, details, context),
  });
  logCounts(decision, context);
}

/** Pools whose requirements leave no instance type get an event and a log line. (02:T-6) */
function recordEmptyPools({ decision, pools }: RoundResult, context: KarpenterContext): void {
  for (const empty of decision.emptyPools) {
    const pool = pools.get(empty.pool);
    if (pool === undefined) continue;
    context.recordEvent(pool, noCompatibleInstanceTypesEvent(pool, empty));
    const about = { NodePool: logReference(pool.metadata) };
    context.log.info("skipping, nodepool requirements filtered out all instance types", about);
  }
}

/** Pods that wait for reserved capacity are left to the next round. (02:Y-5) */
function logDeferred(refusals: readonly Refusal[], { log }: KarpenterContext): void {
  const deferred = refusals.filter(({ code }) => code === "reserved-capacity").map(({ pod }) => pod);
  if (deferred.length === 0) return;
  log.debug(
    "deferring scheduling decision for provisionable pod(s) to future simulation due to limited reserved offering capacity",
    { Pods: joinedPodNames(deferred) },
  );
}

/** What may look otherwise once the nodes of this round have their types and zones. */
const passingCodes: ReadonlySet<string> = new Set(["limits", "instance-types", "topology"]);

/**
 * Whether the next round may place the pod: nodes that are only planned count with the largest type and all zones they
 * could have, against the limits of their pool and for topology. (02:L-20a)
 */
function mayPass({ pools }: Refusal, growing: ReadonlySet<string>): boolean {
  return pools.some(({ pool, cause }) => growing.has(pool) && passingCodes.has(cause.code));
}

/** Virtual pods get no events. (02 §12.2-18) */
function recordRefusal(
  { pod, code, message }: Refusal,
  { mayPass: isPassing }: { readonly mayPass: boolean },
  context: KarpenterContext,
): void {
  if (isVirtualPod(pod)) return;
  recordPodRefused(pod, context);
  if (code === "reserved-capacity") return;
  const about = { Pod: logReference(pod.metadata) };
  if (code === "dynamic-resources" && context.settings.ignoreDraRequests) {
    context.log.info(
      "skipping pod with Dynamic Resource Allocation requirements, not yet supported by Karpenter",
      about,
    );
  } else context.log.error("could not schedule pod", { ...about, error: message });
  if (isPassing) return;
  context.recordEvent(podEventSubject(pod), failedSchedulingEvent(pod, message));
}

/** A pod, real or expected, and where it was placed. */
interface PlacedPod extends PodPlacement {
  readonly pod: Pod;
  readonly target: NominationTarget;
}

/** Nodes that got a pod, other than those of buffers, are nominated, so that they are not disrupted for a while. (02:S-30) */
function* placedPods(
  { decision, snapshot, pools }: RoundResult,
  { cluster, clock }: KarpenterContext,
): Iterable<PlacedPod> {
  const nodes = new Map(snapshot.nodes.map((node) => [node.existing.name, node]));
  for (const placement of decision.placements) {
    const node = nodes.get(placement.node);
    const pods = placement.pods.filter((pod) => !isBufferPod(pod));
    if (node === undefined || pods.length === 0) continue;
    cluster.nominate(node.providerId);
    const isHealthy = isPoolHealthy(pools.get(node.nodePool ?? ""));
    const target = { claim: node.claim?.metadata.name, node: node.node?.metadata.name };
    const details = { now: clock.now(), isPoolHealthy: isHealthy, claim: target.claim, target };
    for (const pod of pods) yield { pod, ...details };
  }
}

function recordPlacement({ pod, target, ...details }: PlacedPod, context: KarpenterContext): void {
  recordPodPlaced(pod, details, context);
  if (isRealPod(pod)) context.recordEvent(podEventSubject(pod), nominatedEvent(pod, target));
}

/** Their claims have no names yet; the Nominated event follows when the claim is created. */
function* plannedPods(
  { decision, pools }: RoundResult,
  { clock }: KarpenterContext,
): Iterable<Omit<PlacedPod, "target">> {
  for (const { pool, pods } of decision.newNodes) {
    const details = { now: clock.now(), isPoolHealthy: isPoolHealthy(pools.get(pool)) };
    for (const pod of pods) if (isRealPod(pod)) yield { pod, ...details };
  }
}

/** How many nodes were planned, and how many nodes that are not ready yet take pods. (02 §6.3) */
function logCounts({ newNodes, placements }: Decision, { log }: KarpenterContext): void {
  if (newNodes.length === 0) return;
  log.info("computed new nodeclaim(s) to fit pod(s)", { nodeclaims: newNodes.length, pods: countPods(newNodes) });
  if (placements.length === 0) return;
  log.info("computed unready node(s) will fit pod(s)", { nodes: placements.length, pods: countPods(placements) });
}

function countPods(places: readonly { readonly pods: readonly Pod[] }[]): number {
  return places.reduce((sum, { pods }) => sum + pods.length, 0);
}

export function isRealPod(pod: Pod): boolean {
  return !isVirtualPod(pod);
}
