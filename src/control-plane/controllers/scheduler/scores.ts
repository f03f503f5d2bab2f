import { resources } from "../../../api/labels.ts";
import type { LabelSet } from "../../../core/label-selector.ts";
import { tolerates } from "../../../core/tolerations.ts";
import { labelOf } from "../node-selector.ts";
import type { NodeInfo } from "./node-info.ts";
import { type PodProfile, termSelects } from "./pod-profile.ts";
import type { SchedulerSnapshot } from "./scheduler-snapshot.ts";
import { countMatchingPods, isCountedForSpread } from "./topology-spread.ts";

/** Whether pods are spread over nodes or packed onto few. */
const packings = ["least-allocated", "most-allocated"] as const;
export type Packing = (typeof packings)[number];

export interface ScoringOptions {
  readonly packing: Packing;
}

const maxNodeScore = 100;
/** kube-scheduler's weights. */
const weights = { taints: 3, nodeAffinity: 2, spread: 2, podAffinity: 2, resources: 1, balance: 1 } as const;
/** The weight of a placed pod's required affinity towards the new pod. */
const hardAffinityWeight = 1;

/** The score of each node for a pod; higher is better. (05:CP-L9) */
export function nodeScores(
  pod: PodProfile,
  nodes: readonly NodeInfo[],
  { snapshot, packing }: ScoringOptions & { readonly snapshot: SchedulerSnapshot },
): Float64Array {
  const total = new Float64Array(nodes.length);
  const add = (weight: number, scores: ArrayLike<number> | undefined): void => {
    if (scores === undefined) return;
    for (let at = 0; at < total.length; at++) total[at] = (total[at] ?? 0) + weight * (scores[at] ?? 0);
  };
  add(weights.taints, taintScores(pod, nodes));
  add(weights.nodeAffinity, nodeAffinityScores(pod, nodes));
  add(weights.spread, spreadScores(pod, nodes, snapshot));
  add(weights.podAffinity, podAffinityScores(pod, nodes, snapshot));
  add(
    weights.resources,
    nodes.map((node) => resourceScore(pod, node, packing)),
  );
  add(
    weights.balance,
    nodes.map((node) => balanceScore(pod, node)),
  );
  return total;
}

/** Fewer untolerated PreferNoSchedule taints score higher. */
function taintScores({ tolerations }: PodProfile, nodes: readonly NodeInfo[]): readonly number[] | undefined {
  const counts = nodes.map(
    ({ facts }) =>
      facts.taints.filter((taint) => taint.effect === "PreferNoSchedule" && !tolerates(tolerations, taint)).length,
  );
  const most = Math.max(0, ...counts);
  return most === 0 ? undefined : counts.map((count) => maxNodeScore - Math.floor((count * maxNodeScore) / most));
}

function nodeAffinityScores({ preferredNodes }: PodProfile, nodes: readonly NodeInfo[]): readonly number[] | undefined {
  if (preferredNodes.length === 0) return undefined;
  const sums = nodes.map(({ facts }) =>
    preferredNodes.reduce((sum, { weight, test }) => sum + (test(facts) ? weight : 0), 0),
  );
  const most = Math.max(0, ...sums);
  return most === 0 ? undefined : sums.map((sum) => Math.floor((sum * maxNodeScore) / most));
}

/** Soft spread constraints: domains with fewer selected pods score higher; small topologies weigh more. */
function spreadScores(
  pod: PodProfile,
  nodes: readonly NodeInfo[],
  snapshot: SchedulerSnapshot,
): readonly number[] | undefined {
  const soft = pod.spread.filter(({ isHard }) => !isHard);
  if (soft.length === 0) return undefined;
  const hasAllLabels = ({ facts }: NodeInfo): boolean =>
    soft.every(({ topologyKey }) => labelOf(facts, topologyKey) !== undefined);
  const sums: (number | undefined)[] = nodes.map((node) => (hasAllLabels(node) ? 0 : undefined));
  for (const constraint of soft) {
    const counts = new Map<string, number>();
    for (const node of nodes) if (hasAllLabels(node)) counts.set(labelOf(node.facts, constraint.topologyKey) ?? "", 0);
    const weight = Math.log(counts.size + 2);
    for (const node of snapshot.nodes) {
      const domain = labelOf(node.facts, constraint.topologyKey);
      const before = domain === undefined ? undefined : counts.get(domain);
      if (
        domain === undefined ||
        before === undefined ||
        !hasAllLabels(node) ||
        !isCountedForSpread(pod, constraint, node)
      )
        continue;
      counts.set(domain, before + countMatchingPods(pod, constraint, node));
    }
    nodes.forEach((node, at) => {
      const sum = sums[at];
      if (sum === undefined) return;
      const count = counts.get(labelOf(node.facts, constraint.topologyKey) ?? "") ?? 0;
      sums[at] = sum + count * weight + constraint.maxSkew - 1;
    });
  }
  const known = sums.filter((sum) => sum !== undefined).map(Math.round);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  return sums.map((sum) => {
    if (sum === undefined) return 0;
    return most === 0 ? maxNodeScore : Math.floor((maxNodeScore * (most + least - Math.round(sum))) / most);
  });
}

/** Preferred affinity of the pod towards placed pods, and of theirs towards it. */
function podAffinityScores(
  pod: PodProfile,
  nodes: readonly NodeInfo[],
  snapshot: SchedulerSnapshot,
): readonly number[] | undefined {
  if (pod.preferredPods.length === 0 && !snapshot.hasPodPreferences) return undefined;
  const byDomain = preferencesByDomain(pod, snapshot);
  if (byDomain.size === 0) return undefined;
  const sums = nodes.map(({ facts }) => {
    let sum = 0;
    for (const [topologyKey, domains] of byDomain) sum += domains.get(labelOf(facts, topologyKey) ?? "") ?? 0;
    return sum;
  });
  const [least, most] = [Math.min(...sums), Math.max(...sums)];
  return least === most ? undefined : sums.map((sum) => Math.floor((maxNodeScore * (sum - least)) / (most - least)));
}

function preferencesByDomain(
  pod: PodProfile,
  { nodes, namespaceLabels }: SchedulerSnapshot,
): Map<string, Map<string, number>> {
  const byDomain = new Map<string, Map<string, number>>();
  for (const node of nodes) {
    for (const other of node.pods.values()) {
      for (const [topologyKey, weight] of preferencesBetween(pod, other, namespaceLabels)) {
        const domain = labelOf(node.facts, topologyKey);
        if (domain === undefined) continue;
        const domains = byDomain.get(topologyKey) ?? new Map<string, number>();
        byDomain.set(topologyKey, domains);
        domains.set(domain, (domains.get(domain) ?? 0) + weight);
      }
    }
  }
  return byDomain;
}

function* preferencesBetween(
  pod: PodProfile,
  other: PodProfile,
  namespaceLabels: ReadonlyMap<string, LabelSet>,
): Iterable<readonly [topologyKey: string, weight: number]> {
  for (const { weight, term } of pod.preferredPods) {
    if (termSelects(term, other, namespaceLabels)) yield [term.topologyKey, weight];
  }
  for (const { weight, term } of other.preferredPods) {
    if (termSelects(term, pod, namespaceLabels)) yield [term.topologyKey, weight];
  }
  for (const term of other.affinity) {
    if (termSelects(term, pod, namespaceLabels)) yield [term.topologyKey, hardAffinityWeight];
  }
}

function resourceScore({ nonZeroRequests }: PodProfile, node: NodeInfo, packing: Packing): number {
  const { allocatable } = node.facts;
  const cpu = allocationScore(node.nonZeroRequestedCpu + nonZeroRequests.cpu, allocatable.get(resources.cpu), packing);
  const memory = allocationScore(
    node.nonZeroRequestedMemory + nonZeroRequests.memory,
    allocatable.get(resources.memory),
    packing,
  );
  return Math.floor((cpu + memory) / 2);
}

function allocationScore(used: number, total: number | undefined, packing: Packing): number {
  if (total === undefined || total === 0) return 0;
  if (packing === "most-allocated") return Math.floor((Math.min(used, total) * maxNodeScore) / total);
  return used > total ? 0 : Math.floor(((total - used) * maxNodeScore) / total);
}

/** Nodes that use cpu and memory in equal proportion score higher. */
function balanceScore({ requests }: PodProfile, node: NodeInfo): number {
  const fraction = (name: string): number => {
    const total = node.facts.allocatable.get(name) ?? 0;
    return total === 0 ? 0 : Math.min(1, (node.requested(name) + (requests.get(name) ?? 0)) / total);
  };
  return Math.floor((1 - Math.abs(fraction(resources.cpu) - fraction(resources.memory)) / 2) * maxNodeScore);
}
