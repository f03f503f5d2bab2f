import type { Pod, PodAffinityTerm, PodSpec } from "../../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../../api/label-policy.ts";
import { namespacedName, namespaceOf } from "../../../api/object.ts";
import { forEachInSteps, type Steps } from "../../../util/steps.ts";
import { compileSelector, termNamespaces } from "../../label-selector.ts";
import { isActivePod, isTerminalPod } from "../../pod-predicates.ts";
import type { LabelReader } from "../label-reader.ts";
import type { SchedulingProblem } from "../problem.ts";
import type { RequirementTable } from "../requirement-table.ts";
import type { UndoLog } from "../undo-log.ts";
import { CountedPods } from "./counted-pods.ts";
import { PossibleDomains } from "./possible-domains.ts";
import { tieBreakOrder } from "./tie-break-order.ts";
import { TopologyGroup, type TopologyGroupSpec, topologyGroupIdentity } from "./topology-group.ts";
import { TopologyNode } from "./topology-node.ts";
import { TopologyNodeFilter } from "./topology-node-filter.ts";

/** A pod, or a pod class, with topology constraints. */
interface TopologyOwner {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

/** The groups that count a pod. */
interface PodGroups {
  readonly groups: readonly TopologyGroup[];
  readonly inverseGroups: readonly TopologyGroup[];
}

const unlimitedSkew = 2 ** 31 - 1;

interface TopologyInput {
  readonly table: RequirementTable;
  readonly labelReader: LabelReader;
  /** Host indexes of existing nodes, by hostname. */
  readonly hosts: ReadonlyMap<string, number>;
  /** Label keys that some selector reads: bound pods are indexed by these. */
  readonly selectedKeys: ReadonlySet<string>;
}

/** The topology constraints of a pass. Pods with equal constraints share a group. (02 §5.10) */
export class Topology {
  /** Groups that count the pods they select, in order of creation. Relaxation can add some. */
  readonly groups: TopologyGroup[] = [];
  /** Groups that count the owners of required anti-affinity and keep away the pods they select. (02:X-41) */
  readonly inverseGroups: TopologyGroup[] = [];
  readonly #byIdentity = new Map<string, TopologyGroup>();
  readonly #inverseByIdentity = new Map<string, TopologyGroup>();
  readonly #problem: SchedulingProblem;
  readonly #table: RequirementTable;
  readonly #possibleDomains: PossibleDomains;
  readonly #policy: LabelPolicy;
  readonly #topologyNodes = new Map<string, TopologyNode>();
  /** Node domains by key, of groups without a node filter. */
  readonly #nodeDomainsBy = new Map<string, ReadonlySet<string>>();
  readonly #labelReader: LabelReader;
  readonly #hosts: ReadonlyMap<string, number>;
  readonly #selectedKeys: ReadonlySet<string>;
  /** Thousands of bound pods have the same few constraints: what these mean is found out once. */
  readonly #inverseGroupsBy = new Map<string, readonly TopologyGroup[]>();
  /** Bound pods that are counted, by namespace. */
  readonly #countedIn = new Map<string, CountedPods>();
  /** How many of an inverse group's domains pools offer; later ones are known only because an owner is there. */
  readonly #offeredDomains = new Map<TopologyGroup, number>();
  /** Inverse groups with a bound owner. */
  readonly #withBoundOwner = new Set<TopologyGroup>();
  /** Domains of a group that no pool offers: they are known only as long as a node has them. */
  readonly #domainsOnlyOnNodes = new Map<TopologyGroup, readonly string[]>();

  private constructor(problem: SchedulingProblem, { table, labelReader, hosts, selectedKeys }: TopologyInput) {
    this.#problem = problem;
    this.#table = table;
    this.#labelReader = labelReader;
    this.#hosts = hosts;
    this.#selectedKeys = selectedKeys;
    this.#policy = problem.labelPolicy;
    this.#possibleDomains = new PossibleDomains(problem.pools, problem.labelPolicy);
  }

  /** Starts with the pods that are bound already, except those of this pass. (02) */
  static *create(problem: SchedulingProblem, input: TopologyInput): Steps<Topology> {
    const topology = new Topology(problem, input);
    if (problem.boundPods.length === 0) return topology;
    const podsOfPass = new Set<string>();
    yield* forEachInSteps(problem.pods, ({ metadata }) => {
      podsOfPass.add(namespacedName(metadata));
    });
    yield* forEachInSteps(problem.boundPods, (pod) => {
      if (podsOfPass.size > 0 && podsOfPass.has(namespacedName(pod.metadata))) return;
      if (isTerminalPod(pod)) return;
      if (isCounted(pod)) topology.#indexCounted(pod);
      topology.#recordOwner(pod);
    });
    return topology;
  }

  /** The groups of a pod's constraints, in the order of the checks. (02:X-6) */
  groupsOf({ namespace, labels: podLabels, spec }: TopologyOwner): readonly TopologyGroup[] {
    const respectsPreferences = this.#problem.policy.preferences === "Respect";
    const groups: TopologyGroup[] = [];
    for (const constraint of spec.topologySpreadConstraints ?? []) {
      if (!respectsPreferences && constraint.whenUnsatisfiable !== "DoNotSchedule") continue;
      const { matchLabelKeys, topologyKey: key, maxSkew, minDomains } = constraint;
      const selector = compileSelector(constraint.labelSelector, { labels: podLabels, matchLabelKeys });
      const filter = TopologyNodeFilter.of(spec, constraint, this.#policy);
      groups.push(
        this.#group(
          { kind: "spread", key, namespaces: new Set([namespace]), selector, maxSkew, minDomains, filter },
          spec,
        ),
      );
    }
    for (const [kind, term] of affinityTerms(spec, respectsPreferences)) {
      groups.push(this.#group(this.#termSpec(kind, term, { namespace, labels: podLabels }), spec));
    }
    return groups;
  }

  /** Groups that count the pod as the owner of required anti-affinity. */
  inverseGroupsOf({ namespace, labels: podLabels, spec }: TopologyOwner): readonly TopologyGroup[] {
    const terms = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const own = { namespace, labels: podLabels };
    return [...new Set(terms.map((term) => this.#inverseGroup(this.#termSpec("anti-affinity", term, own), spec)))];
  }

  #termSpec(
    kind: "affinity" | "anti-affinity",
    term: PodAffinityTerm,
    pod: Omit<TopologyOwner, "spec">,
  ): TopologyGroupSpec {
    return {
      kind,
      key: term.topologyKey,
      namespaces: termNamespaces(term, pod.namespace, this.#problem.namespaces),
      selector: compileSelector(term.labelSelector, {
        labels: pod.labels,
        matchLabelKeys: term.matchLabelKeys,
        mismatchLabelKeys: term.mismatchLabelKeys,
      }),
      maxSkew: unlimitedSkew,
      filter: TopologyNodeFilter.none,
    };
  }

  #group(spec: TopologyGroupSpec, owner: PodSpec): TopologyGroup {
    const identity = topologyGroupIdentity(spec);
    const known = this.#byIdentity.get(identity);
    if (known !== undefined) return known;
    const group = new TopologyGroup(spec, this.#table);
    this.#byIdentity.set(identity, group);
    this.groups.push(group);
    const occupied = this.#boundDomains(group);
    if (!group.isHostname) {
      const anyTaints = spec.kind === "spread" && !spec.filter.honoursTaints;
      const offered = this.#possibleDomains.domainsOf(spec.key, anyTaints ? undefined : (owner.tolerations ?? []));
      const onNodes = [...this.#nodeDomains(spec)];
      this.#registerAll(group, [...offered, ...onNodes, ...occupied.keys()]);
      const onlyOnNodes = onNodes.filter((domain) => !offered.includes(domain));
      if (onlyOnNodes.length > 0) this.#domainsOnlyOnNodes.set(group, onlyOnNodes);
    }
    for (const [domain, pods] of occupied) this.#record(group, domain, pods);
    return group;
  }

  #inverseGroup(spec: TopologyGroupSpec, owner: PodSpec): TopologyGroup {
    const identity = topologyGroupIdentity(spec);
    const known = this.#inverseByIdentity.get(identity);
    if (known !== undefined) return known;
    const group = new TopologyGroup(spec, this.#table);
    this.#inverseByIdentity.set(identity, group);
    this.inverseGroups.push(group);
    if (group.isHostname) return group;
    this.#registerAll(group, this.#possibleDomains.domainsOf(spec.key, owner.tolerations ?? []));
    this.#offeredDomains.set(group, group.domains.length);
    return group;
  }

  #registerAll(group: TopologyGroup, domains: readonly string[]): void {
    for (const domain of tieBreakOrder(group.spec.key, domains, this.#problem.seed)) group.register(domain);
  }

  /**
   * Values of nodes that stay; a NodeClaim without a Node has none yet. Until a Node is registered its claim has the
   * labels, but whether it counts is read off the Node. (02:X-10, S-22)
   */
  #nodeDomains({ key, filter }: TopologyGroupSpec, removedNodes?: ReadonlySet<string>): Iterable<string> {
    const isReusable = filter === TopologyNodeFilter.none && removedNodes === undefined;
    const known = isReusable ? this.#nodeDomainsBy.get(key) : undefined;
    if (known !== undefined) return known;
    const domains = new Set<string>();
    for (const { name, nodeName = "", labels: own } of this.#problem.nodes) {
      if (removedNodes?.has(name)) continue;
      const domain = Object.hasOwn(own, key) ? own[key] : undefined;
      const topologyNode = domain === undefined ? undefined : this.#topologyNode(nodeName);
      if (domain !== undefined && topologyNode !== undefined && filter.matches(topologyNode)) domains.add(domain);
    }
    if (isReusable) this.#nodeDomainsBy.set(key, domains);
    return domains;
  }

  /** The domains of the bound pods the group counts, with how many each has. (02:X-10) */
  #boundDomains(group: TopologyGroup): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    for (const [nodeName, pods] of this.#boundPodsByNode(group)) {
      const topologyNode = this.#topologyNode(nodeName);
      const domain = topologyNode && domainOfBoundPod(group, topologyNode, nodeName);
      if (domain !== undefined) found.set(domain, (found.get(domain) ?? 0) + pods);
    }
    return found;
  }

  /** How many of the bound pods that the group selects each node has. */
  #boundPodsByNode({ spec: { namespaces, selector } }: TopologyGroup): ReadonlyMap<string, number> {
    const byNode = new Map<string, number>();
    for (const namespace of namespaces) {
      for (const { metadata, spec } of this.#countedPods(namespace, selector.indexPair)) {
        const { nodeName = "" } = spec;
        if (selector.matches(metadata.labels ?? {})) byNode.set(nodeName, (byNode.get(nodeName) ?? 0) + 1);
      }
    }
    return byNode;
  }

  /** Inverse groups that no bound pod and none of these owns: as long as that is so, they keep nothing away. */
  setDormant(owned: ReadonlySet<TopologyGroup>): void {
    for (const group of this.inverseGroups) group.isDormant = !(this.#withBoundOwner.has(group) || owned.has(group));
  }

  /**
   * Takes a bound pod out of the counts, as if it were one of the pods of the pass. Returns false if a group knows a domain
   * only because of this pod: without it the domain would not be there at all.
   */
  uncount(pod: Pod, { groups, inverseGroups }: PodGroups, undo: UndoLog): boolean {
    const nodeName = pod.spec.nodeName ?? "";
    const topologyNode = this.#topologyNode(nodeName);
    if (topologyNode === undefined) return true;
    if (isCounted(pod)) {
      for (const group of groups) {
        const domain = domainOfBoundPod(group, topologyNode, nodeName);
        if (domain !== undefined) this.#unrecord(group, domain, undo);
      }
    }
    if (isTerminalPod(pod)) return true;
    let keepsDomains = true;
    for (const group of inverseGroups) {
      const domain = topologyNode.labelOf(group.spec.key);
      if (domain === undefined) continue;
      this.#unrecord(group, domain, undo);
      const index = group.isHostname ? -1 : group.domains.indexOf(domain);
      if (index >= (this.#offeredDomains.get(group) ?? 0) && group.counts[index] === 0) keepsDomains = false;
    }
    return keepsDomains;
  }

  #unrecord(group: TopologyGroup, domain: string, undo: UndoLog): void {
    if (group.isHostname) group.unrecordHost(domain, this.#hosts.get(domain));
    else group.unrecord(domain);
    undo.add(() => this.#record(group, domain));
  }

  /** Whether leaving nodes out can make a group forget a domain. */
  get hasDomainsOnlyOnNodes(): boolean {
    return this.#domainsOnlyOnNodes.size > 0;
  }

  /** Whether some group would not know one of its domains if these nodes were not there. */
  losesDomain(removedNodes: ReadonlySet<string>): boolean {
    for (const [{ spec }, domains] of this.#domainsOnlyOnNodes) {
      const left = new Set(this.#nodeDomains(spec, removedNodes));
      if (domains.some((domain) => !left.has(domain))) return true;
    }
    return false;
  }

  #record(group: TopologyGroup, domain: string, pods = 1): void {
    if (group.isHostname) group.recordHost(domain, this.#hosts.get(domain), pods);
    else group.record(domain, pods);
  }

  #recordOwner(pod: Pod): void {
    const terms = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    if (terms.length === 0) return;
    const nodeName = pod.spec.nodeName ?? "";
    const topologyNode = this.#topologyNode(nodeName);
    if (topologyNode === undefined) return;
    for (const group of this.#inverseGroupsOfBound(pod, terms)) {
      this.#withBoundOwner.add(group);
      // Unlike in counting there is no fallback to the node's name. (02:X-41)
      const domain = topologyNode.labelOf(group.spec.key);
      if (domain !== undefined) this.#record(group, domain);
    }
  }

  #inverseGroupsOfBound({ metadata, spec }: Pod, terms: readonly PodAffinityTerm[]): readonly TopologyGroup[] {
    const own = { namespace: namespaceOf(metadata), labels: metadata.labels ?? {}, spec };
    const readsLabels = terms.some((term) => term.matchLabelKeys ?? term.mismatchLabelKeys);
    const text = JSON.stringify([own.namespace, terms, readsLabels ? own.labels : null]);
    const groups = this.#inverseGroupsBy.get(text) ?? this.inverseGroupsOf(own);
    this.#inverseGroupsBy.set(text, groups);
    return groups;
  }

  #topologyNode(nodeName: string): TopologyNode | undefined {
    const known = this.#topologyNodes.get(nodeName);
    if (known !== undefined) return known;
    const node = this.#problem.nodesByName.get(nodeName);
    if (node === undefined) return undefined;
    const topologyNode = new TopologyNode(node, this.#labelReader);
    this.#topologyNodes.set(nodeName, topologyNode);
    return topologyNode;
  }

  #indexCounted(pod: Pod): void {
    const namespace = namespaceOf(pod.metadata);
    let counted = this.#countedIn.get(namespace);
    if (counted === undefined) {
      counted = new CountedPods(this.#selectedKeys);
      this.#countedIn.set(namespace, counted);
    }
    counted.add(pod);
  }

  #countedPods(namespace: string, pair: { readonly key: string; readonly value: string } | undefined): readonly Pod[] {
    const counted = this.#countedIn.get(namespace);
    return (pair === undefined ? counted?.all : counted?.withLabel(pair)) ?? [];
  }
}

/** The domain a group counts a bound pod in; undefined: it does not count it. (02:X-10) */
function domainOfBoundPod(
  { isHostname, spec }: TopologyGroup,
  topologyNode: TopologyNode,
  nodeName: string,
): string | undefined {
  const domain = isHostname ? (topologyNode.hostname ?? nodeName) : topologyNode.labelOf(spec.key);
  return domain !== undefined && spec.filter.matches(topologyNode) ? domain : undefined;
}

/** Required terms before preferred ones, which are left out if preferences are ignored. */
function* affinityTerms(
  spec: PodSpec,
  respectsPreferences: boolean,
): Iterable<["affinity" | "anti-affinity", PodAffinityTerm]> {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  for (const term of podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) yield ["affinity", term];
  for (const term of podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [])
    yield ["anti-affinity", term];
  if (!respectsPreferences) return;
  for (const { podAffinityTerm } of podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    yield ["affinity", podAffinityTerm];
  }
  for (const { podAffinityTerm } of podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    yield ["anti-affinity", podAffinityTerm];
  }
}

/** Bound pods that are not terminating or terminal. (02:X-10) */
function isCounted(pod: Pod): boolean {
  return pod.spec.nodeName !== undefined && isActivePod(pod);
}
