/** The scheduler's filters; which events may lift a refusal depends on the filter. */
const filterNames = [
  "node-unschedulable",
  "node-name",
  "taints",
  "node-affinity",
  "ports",
  "resources",
  "volume-limits",
  "volumes",
  "spread",
  "pod-affinity",
] as const;
export type FilterName = (typeof filterNames)[number];

/** Why a filter rejects a node for a pod. */
export interface FilterRefusal {
  readonly filter: FilterName;
  /** kube-scheduler's own texts: people search for them. */
  readonly reasons: readonly string[];
  /** Whether evicting other pods could help. */
  readonly isResolvable: boolean;
}

export const filterReasons = {
  unschedulable: "node(s) were unschedulable",
  nodeName: "node(s) didn't match the requested node name",
  nodeAffinity: "node(s) didn't match Pod's node affinity/selector",
  ports: "node(s) didn't have free ports for the requested pod ports",
  tooManyPods: "Too many pods",
  volumeLimit: "node(s) exceed max volume count",
  volumeAffinity: "node(s) had volume node affinity conflict",
  volumeZone: "node(s) had no available volume zone",
  noVolume: "node(s) didn't find available persistent volumes to bind",
  spread: "node(s) didn't match pod topology spread constraints",
  spreadLabel: "node(s) didn't match pod topology spread constraints (missing required label)",
  affinity: "node(s) didn't match pod affinity rules",
  antiAffinity: "node(s) didn't match pod anti-affinity rules",
  existingAntiAffinity: "node(s) didn't satisfy existing pods anti-affinity rules",
  immediateClaims: "pod has unbound immediate PersistentVolumeClaims",
} as const;

/** `3 Insufficient cpu, 2 Too many pods`, sorted as text the way kube-scheduler does. */
export function reasonHistogram(all: Iterable<readonly string[]>): string {
  const counts = new Map<string, number>();
  for (const list of all) for (const reason of list) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(", ");
}

/** The message of FailedScheduling events and the PodScheduled condition. */
export function unschedulableMessage(nodeCount: number, why: string, preemption?: string): string {
  const because = why === "" ? "" : ` ${why}.`;
  const tried = preemption === undefined ? "" : ` preemption: ${preemption}`;
  return `0/${nodeCount} nodes are available:${because}${tried}`;
}
