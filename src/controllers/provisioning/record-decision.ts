import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { ClusterSnapshot } from "../../core/round/cluster-snapshot.ts";
import type { Decision } from "../../core/scheduling/decision.ts";
import type { Refusal } from "../../core/scheduling/refusal.ts";
import { isVirtualPod } from "../../core/virtual-pods.ts";
import type { WorkBudget } from "../work-budget.ts";
import { joinedPodNames, logReference } from "./log-text.ts";
import { isPoolHealthy, type PodPlacement, recordPodPlaced, recordPodRefused } from "./pod-decisions.ts";
import type { ProvisioningContext } from "./provisioning-context.ts";
import { forEachInSlices } from "./run-in-slices.ts";
import {
  failedSchedulingEvent,
  type NominationTarget,
  noCompatibleInstanceTypesEvent,
  nominatedEvent,
  podEventSubject,
} from "./scheduling-events.ts";

/** What a round decided, and what it was asked about. */
export interface RoundResult {
  readonly decision: Decision;
  readonly snapshot: ClusterSnapshot;
  /** As the round saw them. */
  readonly pools: ReadonlyMap<string, NodePool>;
  /** For letting others work while it is told. */
  readonly budget: WorkBudget;
}

/** Tells everybody what was decided: pods and pools by events, operators by logs and metrics, the state by nominations. */
export async function recordDecision(
  provisioningContext: ProvisioningContext,
  roundResult: RoundResult,
): Promise<void> {
  const { decision, budget } = roundResult;
  recordEmptyPools(provisioningContext, roundResult);
  logDeferred(provisioningContext, decision.refusals);
  await forEachInSlices(decision.refusals, {
    budget,
    visit: (refusal) => recordRefusal(provisioningContext, refusal),
  });
  await forEachInSlices(placedPods(provisioningContext, roundResult), {
    budget,
    visit: (placed) => recordPlacement(provisioningContext, placed),
  });
  await forEachInSlices(plannedPods(provisioningContext, roundResult), {
    budget,
    visit: ({ pod, ...details }) => recordPodPlaced(provisioningContext.dependencies, pod, details),
  });
  logCounts(provisioningContext, decision);
}

/** 02:T-6. */
function recordEmptyPools({ dependencies, context }: ProvisioningContext, { decision, pools }: RoundResult): void {
  for (const empty of decision.emptyPools) {
    const pool = pools.get(empty.pool);
    if (pool === undefined) continue;
    context.recordEvent(pool, noCompatibleInstanceTypesEvent(pool, empty));
    dependencies.log.info("skipping, nodepool requirements filtered out all instance types", {
      NodePool: logReference(pool.metadata),
    });
  }
}

/** Pods that wait for reserved capacity are not refused: the next round decides. (02:Y-5) */
function logDeferred({ dependencies }: ProvisioningContext, refusals: readonly Refusal[]): void {
  const deferred = refusals.filter(({ code }) => code === "reserved-capacity").map(({ pod }) => pod);
  if (deferred.length === 0) return;
  dependencies.log.debug(
    "deferring scheduling decision for provisionable pod(s) to future simulation due to limited reserved offering capacity",
    { Pods: joinedPodNames(deferred) },
  );
}

/** Nobody reads the events of pods that do not exist. (02 §12.2-18) */
function recordRefusal({ dependencies, context }: ProvisioningContext, { pod, code, message }: Refusal): void {
  if (isVirtualPod(pod)) return;
  recordPodRefused(dependencies, pod, context.clock.now());
  if (code === "reserved-capacity") return;
  const about = { Pod: logReference(pod.metadata) };
  if (code === "dynamic-resources") {
    dependencies.log.info(
      "skipping pod with Dynamic Resource Allocation requirements, not yet supported by Karpenter",
      about,
    );
  } else dependencies.log.error("could not schedule pod", { ...about, error: message });
  context.recordEvent(podEventSubject(pod), failedSchedulingEvent(pod, message));
}

/** A real pod and where it goes. */
interface PlacedPod extends PodPlacement {
  readonly pod: Pod;
  readonly target: NominationTarget;
}

/** Machines that got a real pod are left alone for a while. (02:S-30) */
function* placedPods(
  { dependencies, context }: ProvisioningContext,
  { decision, snapshot, pools }: RoundResult,
): Iterable<PlacedPod> {
  const nodes = new Map(snapshot.nodes.map((node) => [node.existing.name, node]));
  for (const placement of decision.placements) {
    const node = nodes.get(placement.node);
    const pods = placement.pods.filter(isRealPod);
    if (node === undefined || pods.length === 0) continue;
    dependencies.cluster.nominate(node.providerId);
    const isHealthy = isPoolHealthy(pools.get(node.nodePool ?? ""));
    const target = { claim: node.claim?.metadata.name, node: node.node?.metadata.name };
    const details = { now: context.clock.now(), isPoolHealthy: isHealthy, claim: target.claim, target };
    for (const pod of pods) yield { pod, ...details };
  }
}

function recordPlacement({ dependencies, context }: ProvisioningContext, { pod, target, ...details }: PlacedPod): void {
  recordPodPlaced(dependencies, pod, details);
  context.recordEvent(podEventSubject(pod), nominatedEvent(pod, target));
}

/** Their claims have no names yet; they are told once they do. */
function* plannedPods(
  { context }: ProvisioningContext,
  { decision, pools }: RoundResult,
): Iterable<Omit<PlacedPod, "target">> {
  for (const { pool, pods } of decision.newNodes) {
    const details = { now: context.clock.now(), isPoolHealthy: isPoolHealthy(pools.get(pool)) };
    for (const pod of pods) if (isRealPod(pod)) yield { pod, ...details };
  }
}

/** 02 §6.3. */
function logCounts({ dependencies }: ProvisioningContext, { newNodes, placements }: Decision): void {
  if (newNodes.length === 0) return;
  dependencies.log.info("computed new nodeclaim(s) to fit pod(s)", {
    nodeclaims: newNodes.length,
    pods: countPods(newNodes),
  });
  if (placements.length === 0) return;
  dependencies.log.info("computed unready node(s) will fit pod(s)", {
    nodes: placements.length,
    pods: countPods(placements),
  });
}

function countPods(places: readonly { readonly pods: readonly Pod[] }[]): number {
  return places.reduce((sum, { pods }) => sum + pods.length, 0);
}

export function isRealPod(pod: Pod): boolean {
  return !isVirtualPod(pod);
}
