import type { Pod, Toleration, TopologySpreadConstraint } from "../../src/api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../src/api/label-policy.ts";
import type { Taint } from "../../src/api/labels.ts";
import { isCompatible } from "../../src/core/compatibility.ts";
import { Requirements } from "../../src/core/requirements.ts";
import { firstUntoleratedTaint } from "../../src/core/tolerations.ts";

/** Which nodes take part in a spread. (02:X-15) */
export interface NodeFilter {
  /** One of these, when the pod's own node selection is honoured. */
  readonly oneOf?: readonly Requirements[];
  /** When taints are honoured. */
  readonly tolerations?: readonly Toleration[];
}

/** Affinity and anti-affinity look at every node. */
export const everyNode: NodeFilter = {};

/** 02:X-15: affinity is honoured unless ignored, taints are ignored unless honoured. */
export function nodeFilter(constraint: TopologySpreadConstraint, { spec }: Pod, policy: LabelPolicy): NodeFilter {
  const honoursAffinity = (constraint.nodeAffinityPolicy ?? "Honor") === "Honor";
  const honoursTaints = (constraint.nodeTaintsPolicy ?? "Ignore") === "Honor";
  const selector = Requirements.fromLabels(spec.nodeSelector ?? {}, policy);
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const oneOf = terms?.map(({ matchExpressions = [] }) =>
    selector.add(...Requirements.fromItems(matchExpressions, policy)),
  ) ?? [selector];
  return {
    ...(honoursAffinity && { oneOf }),
    ...(honoursTaints && { tolerations: spec.tolerations ?? [] }),
  };
}

export interface FilteredNode {
  readonly requirements: Requirements;
  readonly taints: readonly Taint[];
}

/** Strictly, also for nodes that are yet to be: a label nobody knows is not there. (02:X-15) */
export function admits({ oneOf, tolerations }: NodeFilter, { requirements, taints }: FilteredNode): boolean {
  const isSelected = oneOf === undefined || oneOf.some((wanted) => isCompatible(requirements, wanted));
  return isSelected && (tolerations === undefined || firstUntoleratedTaint(tolerations, taints) === undefined);
}

/** Equal for filters that say the same: what they ask for counts, not only of which labels. (02 §12.2-3) */
export function filterIdentity({ oneOf, tolerations }: NodeFilter): string {
  return JSON.stringify([
    oneOf === undefined ? null : distinct(oneOf.map((wanted) => JSON.stringify(wanted.toItems()))),
    tolerations === undefined ? null : distinct(tolerations.map((one) => JSON.stringify(one))),
  ]);
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}
