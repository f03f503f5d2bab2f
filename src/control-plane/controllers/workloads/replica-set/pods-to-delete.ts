import { annotations } from "../../../../api/labels.ts";
import { isActivePod } from "../../../../core/pod-predicates.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import { isPodReady, podReadySince } from "../pods.ts";

export interface PodsToDeleteOptions {
  readonly count: number;
  readonly now: number;
  /** Pods of this set and of sets with the same owner: nodes with more of them lose one first. */
  readonly related: readonly ApiPod[];
}

/** Which pods to delete when scaling down, in kube-controller-manager's order. (05:CP-L2) */
export function podsToDelete(pods: readonly ApiPod[], { count, now, related }: PodsToDeleteOptions): readonly ApiPod[] {
  const relatedOnNode = new Map<string, number>();
  for (const pod of related) {
    const { nodeName } = pod.spec;
    if (nodeName !== undefined && isActivePod(pod)) relatedOnNode.set(nodeName, (relatedOnNode.get(nodeName) ?? 0) + 1);
  }
  const ranks = pods.map((pod) =>
    deletionRankOf(pod, { now, relatedOnNode: relatedOnNode.get(pod.spec.nodeName ?? "") ?? 0 }),
  );
  return [...ranks]
    .sort(byDeletionOrder)
    .slice(0, count)
    .map(({ pod }) => pod);
}

interface DeletionRank {
  readonly pod: ApiPod;
  readonly isAssigned: boolean;
  readonly phase: number;
  readonly isReady: boolean;
  readonly deletionCost: number;
  readonly relatedOnNode: number;
  readonly readyAge: number;
  readonly restarts: number;
  readonly age: number;
  readonly uid: string;
}

const phases = ["Pending", "Unknown", "Running"];

function deletionRankOf(
  pod: ApiPod,
  { now, relatedOnNode }: { readonly now: number; readonly relatedOnNode: number },
): DeletionRank {
  const created = Date.parse(pod.metadata.creationTimestamp ?? "") || 0;
  return {
    pod,
    isAssigned: (pod.spec.nodeName ?? "") !== "",
    phase: phases.indexOf(pod.status?.phase ?? "Unknown"),
    isReady: isPodReady(pod),
    deletionCost: deletionCost(pod),
    relatedOnNode,
    readyAge: magnitude(now - (podReadySince(pod) ?? now)),
    restarts: Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount = 0 }) => restartCount)),
    age: magnitude(now - created),
    uid: pod.metadata.uid ?? "",
  };
}

function byDeletionOrder(a: DeletionRank, b: DeletionRank): number {
  return (
    Number(a.isAssigned) - Number(b.isAssigned) ||
    a.phase - b.phase ||
    Number(a.isReady) - Number(b.isReady) ||
    a.deletionCost - b.deletionCost ||
    b.relatedOnNode - a.relatedOnNode ||
    (a.isReady ? a.readyAge - b.readyAge : 0) ||
    b.restarts - a.restarts ||
    a.age - b.age ||
    // Equal in magnitude: pick by uid, or scaling down would always take the newest pods and skew zones.
    (a.uid < b.uid ? -1 : 1)
  );
}

/** Ages are compared by order of magnitude: among day-old pods a minute makes no difference. */
function magnitude(ms: number): number {
  return ms <= 0 ? 0 : Math.floor(Math.log2(ms));
}

/** The pod-deletion-cost annotation; 0 if it is not an integer. */
function deletionCost({ metadata }: ApiPod): number {
  const written = metadata.annotations?.[annotations.podDeletionCost] ?? "";
  return /^-?\d{1,10}$/.test(written) ? Number(written) : 0;
}
