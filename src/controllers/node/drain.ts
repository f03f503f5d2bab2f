import { get } from "../../api/conditions/engine.ts";
import { nodeClaimReasons } from "../../api/conditions/node-claim.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { isActive, isOwnedByDaemonSet, isWaitingEviction } from "../../core/provisionable.ts";
import { withFinding, withTrue } from "../node-claim/claim-conditions.ts";
import { type Deadline, isForcedNow } from "./force.ts";
import { type LivePod, type NodeScene, type NodeStep, podsOn } from "./node-scene.ts";

const pollMs = 1_000;
/** Long enough for pods that were bound just before the taint was seen to show. (03:T-13) */
const leastMs = 5_000;

const criticalClasses: readonly string[] = ["system-cluster-critical", "system-node-critical"];

/** Asks the pods to leave, a tier at a time, and waits until they have. (03 §2.2) */
export async function drain(scene: NodeScene): Promise<NodeStep> {
  const { node, world, queue, deadlineMs } = scene;
  const nowMs = world.clock.now();
  const claim = begun(scene.claim, nowMs);
  const waiting = podsOn(node, world).filter((pod) => isWaitingEviction(pod, nowMs));
  if (waiting.length > 0) {
    queue.add(dueNow(waiting, { nowMs, deadlineMs }), { node: node.metadata.name ?? "", deadlineMs });
    tell(scene, waiting);
    return { claim, afterMs: pollMs };
  }
  if (claim === undefined || get(claim, "Drained")?.status === "True") return { claim };
  const since = Date.parse(get(claim, "Drained")?.lastTransitionTime ?? "");
  if (nowMs - since < leastMs) return { claim, afterMs: pollMs };
  return { claim: withTrue(claim, "Drained", nowMs) };
}

/** Drained stays True once it was, even if pods come back. (03:T-11, T-14) */
function begun(claim: NodeClaim | undefined, nowMs: number): NodeClaim | undefined {
  if (claim === undefined || get(claim, "Drained") !== undefined) return claim;
  return withFinding(claim, "Drained", { status: "Unknown", reason: nodeClaimReasons.draining, message: "", nowMs });
}

/**
 * Those whose time is up whatever their tier, and of the others the first tier. Pods that are going hold their tier
 * until they are gone, and need not be asked again. (03:T-4, T-12)
 */
export function dueNow<P extends Pod>(pods: readonly P[], deadline: Deadline): readonly P[] {
  const first = Math.min(...pods.map(tierOf));
  return pods.filter((pod) => isForcedNow(pod, deadline) || (isActive(pod) && tierOf(pod) === first));
}

/** By name of the class, not by its value: people give high values to their own pods. (03:T-4) */
function tierOf(pod: Pod): number {
  const isCritical = criticalClasses.includes(pod.spec.priorityClassName ?? "");
  return Number(isCritical) * 2 + Number(isOwnedByDaemonSet(pod));
}

function tell({ node, world }: NodeScene, waiting: readonly LivePod[]): void {
  world.tell(node, {
    type: "Warning",
    reason: "FailedDraining",
    message: `Failed to drain node, ${waiting.length} pods are waiting to be evicted`,
    dedupe: { values: [node.metadata.uid ?? ""] },
  });
}
