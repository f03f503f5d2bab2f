import { nodeClaimReasons } from "../../api/conditions/node-claim.ts";
import { getCondition } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { isActivePod, isOwnedByDaemonSet, isWaitingEviction } from "../../core/pod-predicates.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { withClaimCondition, withClaimConditionTrue } from "../node-claim/claim-conditions.ts";
import type { NodeKubeObject } from "../node-claim/claim-lookups.ts";
import type { EvictionQueue } from "./eviction-queue.ts";
import { type DrainDeadline, isForceDeleteDue } from "./force-delete.ts";
import { podsOfNode } from "./pods-of-node.ts";
import type { TerminatingNode, TerminationStepResult } from "./termination-step.ts";

export const drainPollMs = 1_000;
/** Long enough for pods that were bound just before the scheduler saw the taint to appear. (03:T-13) */
const minDrainMs = 5_000;

const criticalClasses: readonly string[] = ["system-cluster-critical", "system-node-critical"];

/** Evicts the pods, a priority tier at a time, and waits until they are gone. (03 §2.2) */
export async function drainNode(
  { node, claim: seen, deadlineMs }: TerminatingNode,
  queue: EvictionQueue,
  context: KarpenterContext,
): Promise<TerminationStepResult> {
  const nowMs = context.clock.now();
  const claim = withDrainingCondition(seen, nowMs);
  const waiting = podsOfNode(node, context).filter((pod) => isWaitingEviction(pod, nowMs));
  if (waiting.length > 0) {
    queue.add(podsToEvictNow(waiting, { nowMs, deadlineMs }), { node: node.metadata.name ?? "", deadlineMs });
    recordDraining(node, waiting.length, context);
    return { claim, afterMs: drainPollMs };
  }
  if (claim === undefined || getCondition(claim, "Drained")?.status === "True") return { claim };
  const since = Date.parse(getCondition(claim, "Drained")?.lastTransitionTime ?? "");
  if (nowMs - since < minDrainMs) return { claim, afterMs: drainPollMs };
  return { claim: withClaimConditionTrue(claim, "Drained", nowMs) };
}

/** Once Drained is True it stays so, even if pods come back. (03:T-11, T-14) */
function withDrainingCondition(claim: NodeClaim | undefined, nowMs: number): NodeClaim | undefined {
  if (claim === undefined || getCondition(claim, "Drained") !== undefined) return claim;
  const { draining: reason } = nodeClaimReasons;
  return withClaimCondition(claim, "Drained", { status: "Unknown", reason, message: "", nowMs });
}

/**
 * The pods that are due for force deletion, whatever their tier, and of the others the first tier. Terminating pods
 * hold their tier until they are gone, and are not evicted again. (03:T-4, T-12)
 */
function podsToEvictNow<P extends Pod>(pods: readonly P[], deadline: DrainDeadline): readonly P[] {
  const first = Math.min(...pods.map(tierOf));
  return pods.filter((pod) => isForceDeleteDue(pod, deadline) || (isActivePod(pod) && tierOf(pod) === first));
}

/** Goes by the name of the priority class, not by its value: people give high values to their own pods. (03:T-4) */
function tierOf(pod: Pod): number {
  const isCritical = criticalClasses.includes(pod.spec.priorityClassName ?? "");
  return Number(isCritical) * 2 + Number(isOwnedByDaemonSet(pod));
}

function recordDraining(node: NodeKubeObject, waiting: number, { recordEvent }: KarpenterContext): void {
  recordEvent(node, {
    type: "Warning",
    reason: "FailedDraining",
    message: `Failed to drain node, ${waiting} pods are waiting to be evicted`,
    dedupe: { values: [node.metadata.uid ?? ""] },
  });
}
