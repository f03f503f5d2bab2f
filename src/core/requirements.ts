import type { PodSpec, PreferredNodeTerm, RequirementItem } from "../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import { Requirement } from "./requirement.ts";

/** The part of a pod's spec that selects nodes by label. Of node selector terms only matchExpressions are read. (02:R-21) */
export type NodeSelectingSpec = Pick<PodSpec, "nodeSelector" | "affinity">;

/** Requirements by label key. Immutable: adding yields another one. (02:R-20) */
export class Requirements implements Iterable<Requirement> {
  static readonly none = new Requirements(new Map());

  private readonly byKey: ReadonlyMap<string, Requirement>;

  private constructor(byKey: ReadonlyMap<string, Requirement>) {
    this.byKey = byKey;
  }

  static of(...requirements: readonly Requirement[]): Requirements {
    return Requirements.none.add(...requirements);
  }

  static fromItems(items: readonly RequirementItem[], policy: LabelPolicy): Requirements {
    return Requirements.of(...items.map((item) => Requirement.fromItem(item, policy)));
  }

  /** Each label allows its one value. (02:R-21) */
  static fromLabels(nodeLabels: Readonly<Record<string, string>>, policy: LabelPolicy): Requirements {
    return Requirements.fromItems(labelItems(nodeLabels), policy);
  }

  /** A pod's requirements, with its highest-weight preference treated as required; relaxation drops it later. (02:R-21) */
  static fromPod(pod: NodeSelectingSpec, policy: LabelPolicy): Requirements {
    const preferred = heaviest(pod.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []);
    const preferredItems = preferred?.preference.matchExpressions ?? [];
    return Requirements.fromItems(
      [...labelItems(pod.nodeSelector ?? {}), ...preferredItems, ...requiredItems(pod)],
      policy,
    );
  }

  /** A pod's requirements without preferences. (02:R-21) */
  static fromPodStrictly(pod: NodeSelectingSpec, policy: LabelPolicy): Requirements {
    return Requirements.fromItems([...labelItems(pod.nodeSelector ?? {}), ...requiredItems(pod)], policy);
  }

  /** The node selector combined with each required node affinity term; the selector alone if there are none. (02 §12.2-5) */
  static alternativesFromPod({ nodeSelector = {}, affinity }: NodeSelectingSpec, policy: LabelPolicy): Requirements[] {
    const selector = Requirements.fromLabels(nodeSelector, policy);
    const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
    if (terms.length === 0) return [selector];
    return terms.map(({ matchExpressions = [] }) => selector.add(...Requirements.fromItems(matchExpressions, policy)));
  }

  get size(): number {
    return this.byKey.size;
  }

  /** An existing key is intersected. (02:R-20) */
  add(...requirements: readonly Requirement[]): Requirements {
    if (requirements.length === 0) return this;
    const byKey = new Map(this.byKey);
    for (const requirement of requirements) {
      const existing = byKey.get(requirement.key);
      byKey.set(requirement.key, existing === undefined ? requirement : requirement.intersection(existing));
    }
    return new Requirements(byKey);
  }

  /** Replaces a key without intersecting: for requirements derived from the old one, such as relaxed minValues. */
  replace(requirement: Requirement): Requirements {
    return new Requirements(new Map(this.byKey).set(requirement.key, requirement));
  }

  without(key: string): Requirements {
    if (!this.byKey.has(key)) return this;
    const byKey = new Map(this.byKey);
    byKey.delete(key);
    return new Requirements(byKey);
  }

  /** A key without requirement may have any value. (02:R-20) */
  get(key: string): Requirement {
    return this.byKey.get(key) ?? Requirement.exists(key);
  }

  has(key: string): boolean {
    return this.byKey.has(key);
  }

  /** What a node has for certain: the labels of which one value alone is possible. */
  singleValueLabels(): Readonly<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const { key, singleValue } of this) if (singleValue !== undefined) found[key] = singleValue;
    return found;
  }

  /** In the order they were first added; sort before it reaches a reader. */
  keys(): IterableIterator<string> {
    return this.byKey.keys();
  }

  sortedKeys(): string[] {
    return [...this.byKey.keys()].sort();
  }

  [Symbol.iterator](): IterableIterator<Requirement> {
    return this.byKey.values();
  }

  get hasMinValues(): boolean {
    for (const requirement of this) if (requirement.minValues !== undefined) return true;
    return false;
  }

  /** As the API writes it, by key. (02:R-35, 02 §12.1-1) */
  toItems(): readonly RequirementItem[] {
    return this.sortedKeys().flatMap((key) => this.get(key).toItems());
  }

  /** Hides the hostname: a placeholder means nothing to a reader. (02:R-37) */
  toString(): string {
    const shown = [...this].filter((requirement) => requirement.key !== labels.hostname);
    return shown.map(String).sort().join(", ");
  }
}

function labelItems(nodeLabels: Readonly<Record<string, string>>): RequirementItem[] {
  return Object.entries(nodeLabels).map(([key, value]) => ({ key, operator: "In", values: [value] }));
}

/** The first of equal weights, as written. (02 §12.1-5) */
function heaviest(terms: readonly PreferredNodeTerm[]): PreferredNodeTerm | undefined {
  let best: PreferredNodeTerm | undefined;
  for (const term of terms) if (best === undefined || term.weight > best.weight) best = term;
  return best;
}

/** The other terms are alternatives, reached by relaxation. (02:Q-40) */
function requiredItems(pod: NodeSelectingSpec): readonly RequirementItem[] {
  const required = pod.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required?.nodeSelectorTerms[0]?.matchExpressions ?? [];
}
