import { firstUntoleratedTaint } from "../../../core/tolerations.ts";
import { labelOf } from "../node-selector.ts";
import { type FilterRefusal, filterReasons } from "./filter-refusal.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodProfile, SpreadConstraint } from "./pod-profile.ts";
import type { SchedulerSnapshot } from "./scheduler-snapshot.ts";

interface CountedConstraint extends SpreadConstraint {
  /** How many pods the constraint selects, by domain. */
  readonly counts: ReadonlyMap<string, number>;
  /** The lowest count of any domain; zero while there are fewer than minDomains. */
  readonly least: number;
  /** 1 if the constraint selects the pod itself. */
  readonly selfMatch: 0 | 1;
}

/** The hard spread constraints of a pod; undefined if it has none. */
export function spreadFilter(
  pod: PodProfile,
  snapshot: SchedulerSnapshot,
): ((node: NodeInfo) => FilterRefusal | undefined) | undefined {
  const hard = pod.spread.filter(({ isHard }) => isHard);
  if (hard.length === 0) return undefined;
  const counted = hard.map((constraint) => countByDomain(pod, constraint, { nodes: snapshot.nodes, all: hard }));
  return (node) => {
    for (const { topologyKey, maxSkew, counts, least, selfMatch } of counted) {
      const domain = labelOf(node.facts, topologyKey);
      if (domain === undefined) return { filter: "spread", reasons: [filterReasons.spreadLabel], isResolvable: false };
      if ((counts.get(domain) ?? 0) + selfMatch - least > maxSkew) {
        return { filter: "spread", reasons: [filterReasons.spread], isResolvable: true };
      }
    }
    return undefined;
  };
}

interface CountScope {
  readonly nodes: readonly NodeInfo[];
  /** A node counts for one constraint only if it has the labels of all. */
  readonly all: readonly SpreadConstraint[];
}

function countByDomain(pod: PodProfile, constraint: SpreadConstraint, { nodes, all }: CountScope): CountedConstraint {
  const counts = new Map<string, number>();
  for (const node of nodes) {
    if (!all.every(({ topologyKey }) => labelOf(node.facts, topologyKey) !== undefined)) continue;
    if (!isCountedForSpread(pod, constraint, node)) continue;
    const domain = labelOf(node.facts, constraint.topologyKey) ?? "";
    counts.set(domain, (counts.get(domain) ?? 0) + countMatchingPods(pod, constraint, node));
  }
  const least = counts.size < constraint.minDomains ? 0 : Math.min(...counts.values());
  const selfMatch = constraint.selector.matches(pod.labels) ? 1 : 0;
  return { ...constraint, counts, least, selfMatch };
}

/** Which nodes count, by nodeAffinityPolicy and nodeTaintsPolicy. */
export function isCountedForSpread(
  pod: PodProfile,
  { honoursAffinity, honoursTaints }: SpreadConstraint,
  { facts }: NodeInfo,
): boolean {
  if (honoursAffinity && pod.matchesNode !== undefined && !pod.matchesNode(facts)) return false;
  return (
    !honoursTaints || firstUntoleratedTaint(pod.tolerations, facts.taints.filter(preventsScheduling)) === undefined
  );
}

export function countMatchingPods(
  { namespace, key }: PodProfile,
  { selector }: SpreadConstraint,
  node: NodeInfo,
): number {
  let matching = 0;
  for (const other of node.pods.values()) {
    if (other.namespace !== namespace || other.isTerminating || other.key === key) continue;
    if (selector.matches(other.labels)) matching++;
  }
  return matching;
}

export function preventsScheduling({ effect }: { readonly effect: string }): boolean {
  return effect === "NoSchedule" || effect === "NoExecute";
}
