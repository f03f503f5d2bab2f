import { labelOf } from "../node-terms.ts";
import type { NodeView } from "./node-view.ts";
import { type AffinityTerm, type PodProfile, termSelects } from "./profile.ts";
import type { Snapshot } from "./snapshot.ts";
import { type Refusal, reasons } from "./verdict.ts";

/** How many pods there are by topology key, then by domain. */
class Domains {
  readonly #counts = new Map<string, Map<string, number>>();

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  add(topologyKey: string, node: NodeView): void {
    const domain = labelOf(node.facts, topologyKey);
    if (domain === undefined) return;
    const counts = this.#counts.get(topologyKey) ?? new Map<string, number>();
    this.#counts.set(topologyKey, counts);
    counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }

  has(topologyKey: string, node: NodeView): boolean {
    const domain = labelOf(node.facts, topologyKey);
    return domain !== undefined && (this.#counts.get(topologyKey)?.get(domain) ?? 0) > 0;
  }

  /** Whether the node is in any of the domains. */
  hold(node: NodeView): boolean {
    for (const topologyKey of this.#counts.keys()) if (this.has(topologyKey, node)) return true;
    return false;
  }
}

interface Neighbours {
  /** Domains of pods that suit all the affinity terms. */
  readonly wanted: Domains;
  /** Domains of pods the pod keeps away from. */
  readonly avoided: Domains;
  /** Domains of pods that keep away from the pod. */
  readonly forbidden: Domains;
}

/** Required affinity and anti-affinity, of the pod and of those that are there; undefined where there is none. */
export function podAffinityFilter(
  pod: PodProfile,
  snapshot: Snapshot,
): ((node: NodeView) => Refusal | undefined) | undefined {
  if (pod.affinity.length === 0 && pod.antiAffinity.length === 0 && !snapshot.hasAntiAffinity) return undefined;
  const { wanted, avoided, forbidden } = neighboursOf(pod, snapshot);
  // The first of a group has nobody to be near to but itself.
  const startsGroup = wanted.isEmpty && pod.affinity.every((term) => termSelects(term, pod, snapshot.namespaceLabels));
  return (node) => {
    if (!isNearWanted(pod.affinity, node, { wanted, startsGroup })) {
      return { filter: "pod-affinity", reasons: [reasons.affinity], isResolvable: false };
    }
    if (pod.antiAffinity.some(({ topologyKey }) => avoided.has(topologyKey, node))) {
      return { filter: "pod-affinity", reasons: [reasons.antiAffinity], isResolvable: true };
    }
    if (forbidden.hold(node)) {
      return { filter: "pod-affinity", reasons: [reasons.existingAntiAffinity], isResolvable: true };
    }
    return undefined;
  };
}

function isNearWanted(
  terms: readonly AffinityTerm[],
  node: NodeView,
  { wanted, startsGroup }: { readonly wanted: Domains; readonly startsGroup: boolean },
): boolean {
  if (terms.length === 0) return true;
  if (terms.some(({ topologyKey }) => labelOf(node.facts, topologyKey) === undefined)) return false;
  return startsGroup || terms.every(({ topologyKey }) => wanted.has(topologyKey, node));
}

function neighboursOf(pod: PodProfile, { nodes, namespaceLabels, hasAntiAffinity }: Snapshot): Neighbours {
  const [wanted, avoided, forbidden] = [new Domains(), new Domains(), new Domains()];
  const looks = pod.affinity.length > 0 || pod.antiAffinity.length > 0;
  for (const node of nodes) {
    for (const other of node.pods.values()) {
      if (other.key === pod.key) continue;
      if (looks) {
        if (pod.affinity.length > 0 && pod.affinity.every((term) => termSelects(term, other, namespaceLabels))) {
          for (const { topologyKey } of pod.affinity) wanted.add(topologyKey, node);
        }
        for (const term of pod.antiAffinity) {
          if (termSelects(term, other, namespaceLabels)) avoided.add(term.topologyKey, node);
        }
      }
      if (!hasAntiAffinity) continue;
      for (const term of other.antiAffinity) {
        if (termSelects(term, pod, namespaceLabels)) forbidden.add(term.topologyKey, node);
      }
    }
  }
  return { wanted, avoided, forbidden };
}
