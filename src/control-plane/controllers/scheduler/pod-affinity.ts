import { labelOf } from "../node-selector.ts";
import { type FilterRefusal, filterReasons } from "./filter-refusal.ts";
import type { NodeInfo } from "./node-info.ts";
import { type AffinityTerm, type PodProfile, termSelects } from "./pod-profile.ts";
import type { SchedulerSnapshot } from "./scheduler-snapshot.ts";

/** Pod counts by topology key, then by domain. */
class TopologyCounts {
  readonly #counts = new Map<string, Map<string, number>>();

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  add(topologyKey: string, node: NodeInfo): void {
    const domain = labelOf(node.facts, topologyKey);
    if (domain === undefined) return;
    const counts = this.#counts.get(topologyKey) ?? new Map<string, number>();
    this.#counts.set(topologyKey, counts);
    counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }

  has(topologyKey: string, node: NodeInfo): boolean {
    const domain = labelOf(node.facts, topologyKey);
    return domain !== undefined && (this.#counts.get(topologyKey)?.get(domain) ?? 0) > 0;
  }

  /** Whether the node is in any of the domains. */
  includesNode(node: NodeInfo): boolean {
    for (const topologyKey of this.#counts.keys()) if (this.has(topologyKey, node)) return true;
    return false;
  }
}

interface AffinityDomains {
  /** Domains with pods that match all affinity terms. */
  readonly affinity: TopologyCounts;
  /** Domains with pods the anti-affinity terms select. */
  readonly antiAffinity: TopologyCounts;
  /** Domains with pods whose anti-affinity selects this pod. */
  readonly existingAntiAffinity: TopologyCounts;
}

/** Required affinity and anti-affinity of the pod and of placed pods; undefined if there is none. */
export function podAffinityFilter(
  pod: PodProfile,
  snapshot: SchedulerSnapshot,
): ((node: NodeInfo) => FilterRefusal | undefined) | undefined {
  if (pod.affinity.length === 0 && pod.antiAffinity.length === 0 && !snapshot.hasAntiAffinity) return undefined;
  const { affinity, antiAffinity, existingAntiAffinity } = affinityDomains(pod, snapshot);
  // The first pod of a group matches its own affinity and may start anywhere.
  const startsGroup =
    affinity.isEmpty && pod.affinity.every((term) => termSelects(term, pod, snapshot.namespaceLabels));
  return (node) => {
    if (!satisfiesAffinity(pod.affinity, node, { affinity, startsGroup })) {
      return { filter: "pod-affinity", reasons: [filterReasons.affinity], isResolvable: false };
    }
    if (pod.antiAffinity.some(({ topologyKey }) => antiAffinity.has(topologyKey, node))) {
      return { filter: "pod-affinity", reasons: [filterReasons.antiAffinity], isResolvable: true };
    }
    if (existingAntiAffinity.includesNode(node)) {
      return { filter: "pod-affinity", reasons: [filterReasons.existingAntiAffinity], isResolvable: true };
    }
    return undefined;
  };
}

function satisfiesAffinity(
  terms: readonly AffinityTerm[],
  node: NodeInfo,
  { affinity, startsGroup }: { readonly affinity: TopologyCounts; readonly startsGroup: boolean },
): boolean {
  if (terms.length === 0) return true;
  if (terms.some(({ topologyKey }) => labelOf(node.facts, topologyKey) === undefined)) return false;
  return startsGroup || terms.every(({ topologyKey }) => affinity.has(topologyKey, node));
}

function affinityDomains(
  pod: PodProfile,
  { nodes, namespaceLabels, hasAntiAffinity }: SchedulerSnapshot,
): AffinityDomains {
  const [affinity, antiAffinity, existingAntiAffinity] = [
    new TopologyCounts(),
    new TopologyCounts(),
    new TopologyCounts(),
  ];
  const hasTerms = pod.affinity.length > 0 || pod.antiAffinity.length > 0;
  for (const node of nodes) {
    for (const other of node.pods.values()) {
      if (other.key === pod.key) continue;
      if (hasTerms) {
        if (pod.affinity.length > 0 && pod.affinity.every((term) => termSelects(term, other, namespaceLabels))) {
          for (const { topologyKey } of pod.affinity) affinity.add(topologyKey, node);
        }
        for (const term of pod.antiAffinity) {
          if (termSelects(term, other, namespaceLabels)) antiAffinity.add(term.topologyKey, node);
        }
      }
      if (!hasAntiAffinity) continue;
      for (const term of other.antiAffinity) {
        if (termSelects(term, pod, namespaceLabels)) existingAntiAffinity.add(term.topologyKey, node);
      }
    }
  }
  return { affinity, antiAffinity, existingAntiAffinity };
}
