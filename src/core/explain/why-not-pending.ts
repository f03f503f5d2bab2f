import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import { isOwnedByDaemonSet, isTerminalPod } from "../pod-predicates.ts";

/** A pod that no node is launched for. */
export interface NotPendingPod {
  readonly pod: string;
  readonly outcome: { readonly kind: "not-pending"; readonly node?: string };
  /** One sentence without a full stop. */
  readonly cause: string;
}

/** Why a pod is not one the provisioner would consider. (02:P-1 to P-6) */
export function notPendingPod(pod: Pod): NotPendingPod {
  const { nodeName } = pod.spec;
  const outcome = { kind: "not-pending", ...(nodeName && { node: nodeName }) } as const;
  return { pod: namespacedName(pod.metadata), outcome, cause: whyNotPending(pod) };
}

function whyNotPending(pod: Pod): string {
  const { nodeName = "", schedulingGates = [] } = pod.spec;
  if (isTerminalPod(pod)) return `it has finished (${pod.status?.phase})`;
  if (nodeName !== "") return `it is already bound to node ${nodeName}`;
  if (isOwnedByDaemonSet(pod)) return "it belongs to a DaemonSet, and no node is launched for DaemonSet pods";
  if (schedulingGates.length > 0)
    return `it has scheduling gates (${schedulingGates.map(({ name }) => name).join(", ")})`;
  if (pod.status?.nominatedNodeName)
    return `it is nominated to node ${pod.status.nominatedNodeName}, where its scheduler is about to bind it`;
  return "the scheduler has not marked it Unschedulable";
}
