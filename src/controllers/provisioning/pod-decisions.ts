import type { Conditioned } from "../../api/conditions/condition.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import { expectedReplicaSetOf } from "../../core/round/expected-pods.ts";
import type { KarpenterContext } from "../karpenter-context.ts";

/** Whether nodes of the pool register. (03:P-20) */
export function isPoolHealthy(pool: NodePool | undefined): boolean {
  return pool !== undefined && isStatusConditionTrue(pool as Conditioned, "NodeRegistrationHealthy");
}

/** Where a pod was placed. */
export interface PodPlacement {
  readonly now: number;
  readonly isPoolHealthy: boolean;
  /** The node's claim, once there is one. */
  readonly claim?: string | undefined;
}

/** Records that a round placed the pod: for the scheduling metrics, the next round and its nomination. (02:S-45, L-40) */
export function recordPodPlaced(pod: Pod, placement: PodPlacement, context: KarpenterContext): void {
  const { now, isPoolHealthy, claim } = placement;
  const replicaSet = expectedReplicaSetOf(pod);
  if (replicaSet !== undefined) {
    context.cluster.expectedPlaces.add(replicaSet, claim);
    return;
  }
  const isBound = (pod.spec.nodeName ?? "") !== ""; // already bound: its times are those of its first placement
  if (!isBound) recordFirstDecision(pod, now, context);
  context.cluster.podTimes.markPlaced(pod, { now, isPoolHealthy });
  context.cluster.plannedPods.plan(namespacedName(pod.metadata), claim);
}

/** Records that a round found no place for the pod. (02:S-45) */
export function recordPodRefused(pod: Pod, context: KarpenterContext): void {
  const now = context.clock.now();
  recordFirstDecision(pod, now, context);
  context.cluster.podTimes.markRefused(pod);
  context.cluster.plannedPods.plan(namespacedName(pod.metadata), undefined);
}

/** Reports the time from first sight to first decision. */
function recordFirstDecision(pod: Pod, now: number, { cluster, metrics }: KarpenterContext): void {
  if (!cluster.podTimes.markDecided(pod, now)) return;
  const { ack } = cluster.podTimes.get(namespacedName(pod.metadata));
  if (ack !== undefined) metrics.observe("pods_scheduling_decision_duration_seconds", {}, (now - ack) / 1_000);
}
