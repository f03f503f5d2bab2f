import { untolerated } from "../../../../core/tolerations.ts";
import { labelOf } from "../node-terms.ts";
import type { NodeView } from "./node-view.ts";
import type { PodProfile, Spread } from "./profile.ts";
import type { Snapshot } from "./snapshot.ts";
import { type Refusal, reasons } from "./verdict.ts";

interface Counted extends Spread {
  /** How many pods the constraint selects, by domain. */
  readonly counts: ReadonlyMap<string, number>;
  /** The domain with the fewest; zero while there are fewer domains than wanted. */
  readonly least: number;
  /** The pod itself will be one of them. */
  readonly self: 0 | 1;
}

/** The hard spread constraints of a pod against the pods there are; undefined where it has none. */
export function spreadFilter(
  pod: PodProfile,
  snapshot: Snapshot,
): ((node: NodeView) => Refusal | undefined) | undefined {
  const hard = pod.spread.filter(({ isHard }) => isHard);
  if (hard.length === 0) return undefined;
  const counted = hard.map((constraint) => count(pod, constraint, { nodes: snapshot.nodes, all: hard }));
  return (node) => {
    for (const { topologyKey, maxSkew, counts, least, self } of counted) {
      const domain = labelOf(node.facts, topologyKey);
      if (domain === undefined) return { filter: "spread", reasons: [reasons.spreadLabel], isResolvable: false };
      if ((counts.get(domain) ?? 0) + self - least > maxSkew) {
        return { filter: "spread", reasons: [reasons.spread], isResolvable: true };
      }
    }
    return undefined;
  };
}

interface Among {
  readonly nodes: readonly NodeView[];
  /** A node counts for one constraint only if it has the labels of all. */
  readonly all: readonly Spread[];
}

function count(pod: PodProfile, constraint: Spread, { nodes, all }: Among): Counted {
  const counts = new Map<string, number>();
  for (const node of nodes) {
    if (!all.every(({ topologyKey }) => labelOf(node.facts, topologyKey) !== undefined)) continue;
    if (!isEligible(pod, constraint, node)) continue;
    const domain = labelOf(node.facts, constraint.topologyKey) ?? "";
    counts.set(domain, (counts.get(domain) ?? 0) + matchingPods(pod, constraint, node));
  }
  const least = counts.size < constraint.minDomains ? 0 : Math.min(...counts.values());
  const self = constraint.selector.matches(pod.labels) ? 1 : 0;
  return { ...constraint, counts, least, self };
}

/** Only nodes the pod could be on are counted, as far as the constraint honours that. */
export function isEligible(pod: PodProfile, { honoursAffinity, honoursTaints }: Spread, { facts }: NodeView): boolean {
  if (honoursAffinity && pod.nodes !== undefined && !pod.nodes(facts)) return false;
  return !honoursTaints || untolerated(pod.tolerations, facts.taints.filter(bars)) === undefined;
}

export function matchingPods({ namespace, key }: PodProfile, { selector }: Spread, node: NodeView): number {
  let matching = 0;
  for (const other of node.pods.values()) {
    if (other.namespace !== namespace || other.isTerminating || other.key === key) continue;
    if (selector.matches(other.labels)) matching++;
  }
  return matching;
}

export function bars({ effect }: { readonly effect: string }): boolean {
  return effect === "NoSchedule" || effect === "NoExecute";
}
