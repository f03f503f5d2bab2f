import type { PodSpec, Toleration, TopologySpreadConstraint } from "../../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../../api/label-policy.ts";
import { labels, type Taint } from "../../../api/labels.ts";
import { isCompatible } from "../../compatibility.ts";
import type { Requirement } from "../../requirement.ts";
import { Requirements } from "../../requirements.ts";
import { firstUntoleratedTaint } from "../../tolerations.ts";

/** What a filter reads of a node. */
export interface FilteredNode {
  /** Without the hostname. */
  readonly requirements: Requirements;
  /** Undefined for a Node object without the label; its name is not used instead. */
  readonly hostname: string | undefined;
  readonly taints: readonly Taint[];
}

interface AffinityAlternative {
  readonly requirements: Requirements;
  readonly hostname: Requirement | undefined;
}

/** Which nodes a spread constraint counts, by its node affinity and taints policies. (02:X-15) */
export class TopologyNodeFilter {
  /** One of them has to match; if there are none, every node counts. */
  readonly #alternatives: readonly AffinityAlternative[];
  /** Undefined: taints are ignored. */
  readonly #tolerations: readonly Toleration[] | undefined;
  /** Equal filters have equal identities. (02 §12.2-3) */
  readonly identity: string;
  readonly #byRequirements = new Map<Requirements, boolean>();

  static readonly none = new TopologyNodeFilter([], undefined);

  private constructor(alternatives: readonly Requirements[], tolerations: readonly Toleration[] | undefined) {
    this.#alternatives = alternatives.map((requirements) => ({
      requirements: requirements.without(labels.hostname),
      hostname: requirements.has(labels.hostname) ? requirements.get(labels.hostname) : undefined,
    }));
    this.#tolerations = tolerations;
    const texts = [...new Set(alternatives.map((requirements) => JSON.stringify(requirements.toItems())))].sort();
    this.identity = JSON.stringify([texts, tolerations ?? null]);
  }

  static of(spec: PodSpec, constraint: TopologySpreadConstraint, policy: LabelPolicy): TopologyNodeFilter {
    const honoursAffinity = (constraint.nodeAffinityPolicy ?? "Honor") === "Honor";
    const honoursTaints = (constraint.nodeTaintsPolicy ?? "Ignore") === "Honor";
    const alternatives = honoursAffinity ? affinityAlternatives(spec, policy) : [];
    if (alternatives.length === 0 && !honoursTaints) return TopologyNodeFilter.none;
    return new TopologyNodeFilter(alternatives, honoursTaints ? (spec.tolerations ?? []) : undefined);
  }

  get honoursTaints(): boolean {
    return this.#tolerations !== undefined;
  }

  /** A label the node does not have never matches, even if a planned node could still get it. */
  matches(node: FilteredNode): boolean {
    if (this.#tolerations !== undefined && firstUntoleratedTaint(this.#tolerations, node.taints) !== undefined)
      return false;
    if (this.#alternatives.length === 0) return true;
    const { requirements, hostname } = node;
    if (this.#alternatives.every((one) => one.hostname === undefined)) return this.#matchesByLabels(requirements);
    return this.#alternatives.some(
      (one) => matchesHostname(one.hostname, hostname) && isCompatible(requirements, one.requirements),
    );
  }

  #matchesByLabels(requirements: Requirements): boolean {
    const known = this.#byRequirements.get(requirements);
    if (known !== undefined) return known;
    const result = this.#alternatives.some((one) => isCompatible(requirements, one.requirements));
    this.#byRequirements.set(requirements, result);
    return result;
  }
}

function matchesHostname(wanted: Requirement | undefined, hostname: string | undefined): boolean {
  if (wanted === undefined) return true;
  return hostname === undefined ? wanted.isNegative : wanted.has(hostname);
}

/** None for a pod that selects no nodes. */
function affinityAlternatives(spec: PodSpec, policy: LabelPolicy): readonly Requirements[] {
  const hasTerms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms.length;
  const alternatives = Requirements.alternativesFromPod(spec, policy);
  return hasTerms || alternatives[0]?.size ? alternatives : [];
}
