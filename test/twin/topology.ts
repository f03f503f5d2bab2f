import type { Pod, PodAffinityTerm, TopologySpreadConstraint } from "../../src/api/kubernetes/pod.ts";
import { labels, type Taint } from "../../src/api/labels.ts";
import { namespaceOf } from "../../src/api/object.ts";
import { type CompiledSelector, compileSelector, termNamespaces } from "../../src/core/label-selector.ts";
import { Requirements } from "../../src/core/requirements.ts";
import type { NodeLabelsAndTaints, SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { tieBreakOrder } from "../../src/core/scheduling/topology/tie-break-order.ts";
import { domainsOf, domainUniverse, type Universe } from "./domains.ts";
import { admits, everyNode, type FilteredNode, filterIdentity, type NodeFilter, nodeFilter } from "./node-filter.ts";
import { uidOf } from "./pod-view.ts";
import type { Claim, NodeEntry } from "./world.ts";

type GroupType = "topology spread" | "pod affinity" | "pod anti-affinity";

/** Pods that are counted together, by domain of one key. (02:X-5) */
export interface Group {
  readonly identity: string;
  readonly type: GroupType;
  readonly key: string;
  readonly namespaces: ReadonlySet<string>;
  readonly selector: CompiledSelector;
  readonly maxSkew: number;
  readonly minDomains: number | undefined;
  readonly filter: NodeFilter;
  /** Every known domain, in the order ties are tried. */
  readonly counts: Map<string, number>;
}

/** All groups of a round. (02 §5.10) */
export interface Topology {
  readonly problem: SchedulingProblem;
  readonly universe: Universe;
  readonly groups: Group[];
  /** They count pods that repel, and are asked for pods that are repelled. (02:X-41) */
  readonly inverse: Group[];
  /** By pod; in the order of the pod's spec. (02:X-6) */
  readonly owned: Map<string, readonly Group[]>;
  readonly ownedInverse: Map<string, readonly Group[]>;
  /** Existing nodes, then claims as they were opened: where pods of this round may be. */
  readonly hosts: Host[];
}

interface Host {
  readonly host: Pick<NodeEntry | Claim, "requirements" | "pods">;
  readonly taints: readonly Taint[];
}

/** Bound pods' inverse groups first, then the round's pods in the order of the queue. */
export function openTopology(problem: SchedulingProblem, queue: readonly Pod[]): Topology {
  const topology: Topology = {
    problem,
    universe: domainUniverse(problem),
    groups: [],
    inverse: [],
    owned: new Map(),
    ownedInverse: new Map(),
    hosts: [],
  };
  for (const pod of boundElsewhere(problem)) recordRepelling(topology, pod);
  for (const pod of queue) register(topology, pod);
  return topology;
}

/** Leaves all groups and joins those of the pod as it is now. (02:X-6) */
export function register(topology: Topology, pod: Pod): void {
  const owned = shapesOf(pod, topology.problem).map((shape) => join(topology, topology.groups, { shape, pod }));
  const repelling = requiredAntiAffinity(pod).map((term) =>
    join(topology, topology.inverse, { shape: affinityShape("pod anti-affinity", term, pod, topology.problem), pod }),
  );
  topology.owned.set(uidOf(pod), [...new Set(owned)]);
  topology.ownedInverse.set(uidOf(pod), [...new Set(repelling)]);
}

/** 02:X-2: hosts become known one by one. */
export function registerHostname(topology: Topology, hostname: string): void {
  for (const group of [...topology.groups, ...topology.inverse]) {
    if (group.key === labels.hostname && !group.counts.has(hostname)) group.counts.set(hostname, 0);
  }
}

/** A pod has found its place: everybody who counts it does. (02:X-40) */
export function record(topology: Topology, pod: Pod, place: FilteredNode): void {
  for (const group of topology.groups) {
    if (selects(group, pod)) countPod(group, place);
  }
  for (const group of topology.ownedInverse.get(uidOf(pod)) ?? []) {
    count(group, concreteValues(place.requirements, group.key));
  }
}

/** Where a pod might be repels; it is counted and attracts only where it must be. */
function countPod(group: Group, place: FilteredNode): void {
  if (!admits(group.filter, place)) return;
  const domains = concreteValues(place.requirements, group.key);
  if (group.type === "pod anti-affinity" || domains.length === 1) count(group, domains);
}

export function selects({ namespaces, selector }: Group, { metadata }: Pod): boolean {
  return namespaces.has(namespaceOf(metadata)) && selector.matches(metadata.labels);
}

type Shape = Omit<Group, "identity" | "counts">;

/** The groups a pod's spec asks for, in its order. (02:X-6) */
function shapesOf(pod: Pod, problem: SchedulingProblem): readonly Shape[] {
  const isRespected = problem.policy.preferences === "Respect";
  const { affinity, topologySpreadConstraints = [] } = pod.spec;
  const shape = (type: GroupType) => (term: PodAffinityTerm) => affinityShape(type, term, pod, problem);
  const preferred = (kind: "podAffinity" | "podAntiAffinity"): readonly PodAffinityTerm[] =>
    isRespected
      ? (affinity?.[kind]?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => term.podAffinityTerm)
      : [];
  return [
    ...topologySpreadConstraints
      .filter(({ whenUnsatisfiable }) => isRespected || whenUnsatisfiable === "DoNotSchedule")
      .map((constraint) => spreadShape(constraint, pod, problem)),
    ...(affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(shape("pod affinity")),
    ...requiredAntiAffinity(pod).map(shape("pod anti-affinity")),
    ...preferred("podAffinity").map(shape("pod affinity")),
    ...preferred("podAntiAffinity").map(shape("pod anti-affinity")),
  ];
}

function requiredAntiAffinity({ spec }: Pod): readonly PodAffinityTerm[] {
  return spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

function spreadShape(constraint: TopologySpreadConstraint, pod: Pod, { labelPolicy }: SchedulingProblem): Shape {
  const { matchLabelKeys } = constraint;
  return {
    type: "topology spread",
    key: constraint.topologyKey,
    namespaces: new Set([namespaceOf(pod.metadata)]),
    selector: compileSelector(constraint.labelSelector, { labels: pod.metadata.labels, matchLabelKeys }),
    maxSkew: constraint.maxSkew,
    minDomains: constraint.minDomains,
    filter: nodeFilter(constraint, pod, labelPolicy),
  };
}

function affinityShape(type: GroupType, term: PodAffinityTerm, pod: Pod, { namespaces }: SchedulingProblem): Shape {
  const { matchLabelKeys, mismatchLabelKeys } = term;
  return {
    type,
    key: term.topologyKey,
    namespaces: termNamespaces(term, namespaceOf(pod.metadata), namespaces),
    selector: compileSelector(term.labelSelector, { labels: pod.metadata.labels, matchLabelKeys, mismatchLabelKeys }),
    maxSkew: 2 ** 31 - 1,
    minDomains: undefined,
    filter: everyNode,
  };
}

/** The group of this shape, which is made when it is first asked for. (02:X-5) */
function join(topology: Topology, groups: Group[], { shape, pod }: { shape: Shape; pod: Pod }): Group {
  const identity = identityOf(shape);
  const known = groups.find((group) => group.identity === identity);
  if (known !== undefined) return known;
  const group = { ...shape, identity, counts: new Map<string, number>() };
  const seeded = seededDomains(topology, group, pod);
  const isInverse = groups === topology.inverse;
  const seen = isInverse ? [] : nodeDomains(topology.problem, group);
  const counted = isInverse ? [] : countedDomains(topology.problem, group);
  for (const domain of tieBreakOrder(group.key, [...seeded, ...seen, ...counted], topology.problem.seed)) {
    group.counts.set(domain, 0);
  }
  count(group, counted);
  if (!isInverse) for (const one of topology.hosts) countPlaced(group, one);
  groups.push(group);
  return group;
}

/** A group that relaxation makes knows the pods of this round that have their place. (02:X-10) */
function countPlaced(group: Group, { host, taints }: Host): void {
  const { requirements, pods } = host;
  if (group.key === labels.hostname)
    for (const one of concreteValues(requirements, group.key)) group.counts.set(one, group.counts.get(one) ?? 0);
  for (const pod of pods) if (selects(group, pod)) countPod(group, { requirements, taints });
}

function identityOf({ type, key, namespaces, selector, maxSkew, minDomains, filter }: Shape): string {
  const parts = [type, key, [...namespaces].sort(), maxSkew, minDomains ?? null, filterIdentity(filter)];
  return JSON.stringify([...parts, selector.identity]);
}

/** 02:X-10: a spread that ignores taints knows all domains; all others what their first owner tolerates. */
function seededDomains({ universe }: Topology, { type, key, filter }: Shape, pod: Pod): readonly string[] {
  const ignoresTaints = type === "topology spread" && filter.tolerations === undefined;
  return domainsOf(universe, key, ignoresTaints ? "any" : (pod.spec.tolerations ?? []));
}

/** The domains of nodes that stay, by the labels that count; a NodeClaim without a Node adds none. (02:X-10, S-22) */
function nodeDomains(problem: SchedulingProblem, { key, filter }: Shape): readonly string[] {
  return problem.nodes.flatMap(({ nodeName = "", labels: own }) => {
    const node = problem.nodesByName.get(nodeName);
    const domain = own[key];
    return node !== undefined && domain !== undefined && admits(filter, asFiltered(node, problem)) ? [domain] : [];
  });
}

/** A node as filters see it: by its labels, without the hostname that stands in for a missing one. (02:X-15) */
function asFiltered({ labels: own, taints }: NodeLabelsAndTaints, { labelPolicy }: SchedulingProblem): FilteredNode {
  return { requirements: Requirements.fromLabels(own, labelPolicy), taints };
}

/** 02:X-10: one entry for every pod that is counted where it already runs. */
function countedDomains(problem: SchedulingProblem, group: Group): readonly string[] {
  return boundElsewhere(problem).flatMap((pod) => {
    if (pod.metadata.deletionTimestamp !== undefined || !selects(group, pod)) return [];
    const name = pod.spec.nodeName ?? "";
    const node = problem.nodesByName.get(name);
    if (node === undefined) return [];
    const domain = node.labels[group.key] ?? (group.key === labels.hostname ? name : undefined);
    return domain !== undefined && admits(group.filter, asFiltered(node, problem)) ? [domain] : [];
  });
}

/** Pods that run and are not to be placed in this round. */
function boundElsewhere({ boundPods, pods }: SchedulingProblem): readonly Pod[] {
  const round = new Set(pods.map(uidOf));
  return boundPods.filter((pod) => {
    const { phase } = pod.status ?? {};
    const isTerminal = phase === "Succeeded" || phase === "Failed";
    return pod.spec.nodeName !== undefined && !isTerminal && !round.has(uidOf(pod));
  });
}

/** 02:X-41: a pod that runs keeps those it repels away from its domain. */
function recordRepelling(topology: Topology, pod: Pod): void {
  const node = topology.problem.nodesByName.get(pod.spec.nodeName ?? "");
  if (node === undefined) return;
  for (const term of requiredAntiAffinity(pod)) {
    const shape = affinityShape("pod anti-affinity", term, pod, topology.problem);
    const group = join(topology, topology.inverse, { shape, pod });
    const domain = node.labels[group.key];
    if (domain !== undefined) count(group, [domain]);
  }
}

function count({ counts }: Group, domains: readonly string[]): void {
  for (const domain of domains) counts.set(domain, (counts.get(domain) ?? 0) + 1);
}

function concreteValues(requirements: Requirements, key: string): readonly string[] {
  const requirement = requirements.get(key);
  return requirement.complement ? [] : requirement.sortedValues();
}
