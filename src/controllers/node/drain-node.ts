import { nodeClaimReasons } from "../../api/conditions/node-claim.ts";
import { getCondition } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { isActivePod, isOwnedByDaemonSet, isWaitingEviction } from "../../core/pod-predicates.ts";
import { withClaimCondition, withClaimConditionTrue } from "../node-claim/claim-conditions.ts";
import { type DrainDeadline, isForceDeleteDue } from "./force-delete.ts";
import {
  type NodeTerminationContext,
  type PodKubeObject,
  podsOfNode,
  type TerminationStepResult,
} from "./node-termination-context.ts";

const pollMs = 1_000;
/** Long enough for pods that were bound just before the taint was seen to show. (03:T-13) */
const minDrainMs = 5_000;

const criticalClasses: readonly string[] = ["system-cluster-critical", "system-node-critical"];

/** Asks the pods to leave, a tier at a time, and waits until they have. (03 §2.2) */
export async function drainNode(terminationContext: NodeTerminationContext): Promise<TerminationStepResult> {
  const { node, context, queue, deadlineMs } = terminationContext;
  const nowMs = context.clock.now();
  const claim = withDrainingCondition(terminationContext.claim, nowMs);
  const waiting = podsOfNode(node, context).filter((pod) => isWaitingEviction(pod, nowMs));
  if (waiting.length > 0) {
    queue.add(podsToEvictNow(waiting, { nowMs, deadlineMs }), { node: node.metadata.name ?? "", deadlineMs });
    recordDraining(terminationContext, waiting);
    return { claim, afterMs: pollMs };
  }
  if (claim === undefined || getCondition(claim, "Drained")?.status === "True") return { claim };
  const since = Date.parse(getCondition(claim, "Drained")?.lastTransitionTime ?? "");
  if (nowMs - since < minDrainMs) return { claim, afterMs: pollMs };
  return { claim: withClaimConditionTrue(claim, "Drained", nowMs) };
}

/** Drained stays True once it was, even if pods come back. (03:T-11, T-14) */
function withDrainingCondition(claim: NodeClaim | undefined, nowMs: number): NodeClaim | undefined {
  if (claim === undefined || getCondition(claim, "Drained") !== undefined) return claim;
  return withClaimCondition(claim, "Drained", {
    status: "Unknown",
    reason: nodeClaimReasons.draining,
    message: "",
    nowMs,
  });
}

/**
 * Those whose time is up whatever their tier, and of the others the first tier. Pods that are going hold their tier
 * until they are gone, and need not be asked again. (03:T-4, T-12)
 */
export function podsToEvictNow<P extends Pod>(pods: readonly P[], deadline: DrainDeadline): readonly P[] {
  const first = Math.min(...pods.map(tierOf));
  return pods.filter((pod) => isForceDeleteDue(pod, deadline) || (isActivePod(pod) && tierOf(pod) === first));
}

/** By name of the class, not by its value: people give high values to their own pods. (03:T-4) */
function tierOf(pod: Pod): number {
  const isCritical = criticalClasses.includes(pod.spec.priorityClassName ?? "");
  return Number(isCritical) * 2 + Number(isOwnedByDaemonSet(pod));
}

function recordDraining({ node, context }: NodeTerminationContext, waiting: readonly PodKubeObject[]): void {
  context.recordEvent(node, {
    type: "Warning",
    reason: "FailedDraining",
    message: `Failed to drain node, ${waiting.length} pods are waiting to be evicted`,
    dedupe: { values: [node.metadata.uid ?? ""] },
  });
}
