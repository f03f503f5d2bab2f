import type { Pod, PodAffinityTerm, PodSpec } from "../../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../../api/label-policy.ts";
import { namespacedName, namespaceOf } from "../../../api/object.ts";
import { each, type Steps } from "../../../util/steps.ts";
import { compileSelector, termNamespaces } from "../../label-selector.ts";
import { isActive, isTerminal } from "../../provisionable.ts";
import type { LabelReader } from "../label-reader.ts";
import type { SchedulingProblem } from "../problem.ts";
import type { RequirementTable } from "../requirement-table.ts";
import { DomainUniverse } from "./domain-universe.ts";
import { type GroupSpec, groupIdentity, TopologyGroup } from "./group.ts";
import { NodeFilter } from "./node-filter.ts";
import { Site } from "./site.ts";
import { tieOrder } from "./tie-order.ts";

/** Whose constraints: a pod, or all pods of a class. */
export interface Wishes {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

const unlimitedSkew = 2 ** 31 - 1;

export interface TopologyTools {
  readonly table: RequirementTable;
  readonly labelReader: LabelReader;
  /** Numbers of the nodes that exist, by hostname. */
  readonly hosts: ReadonlyMap<string, number>;
  /** Label keys that some selector reads: pods are looked up by these. */
  readonly selectedKeys: ReadonlySet<string>;
}

/** Topology constraints of a pass: groups shared between pods that say the same, counting where pods are. (02 §5.10) */
export class Topology {
  /** Every group that counts the pods it selects, in order of creation. Grows when relaxation meets a new filter. */
  readonly groups: TopologyGroup[] = [];
  /** Groups that count the owners of required anti-affinity and keep away the pods they select. (02:X-41) */
  readonly inverse: TopologyGroup[] = [];
  readonly #byIdentity = new Map<string, TopologyGroup>();
  readonly #inverseByIdentity = new Map<string, TopologyGroup>();
  readonly #problem: SchedulingProblem;
  readonly #table: RequirementTable;
  readonly #universe: DomainUniverse;
  readonly #policy: LabelPolicy;
  readonly #sites = new Map<string, Site>();
  /** Of groups that count every node. */
  readonly #nodeDomainsBy = new Map<string, ReadonlySet<string>>();
  readonly #labelReader: LabelReader;
  readonly #hosts: ReadonlyMap<string, number>;
  readonly #selectedKeys: ReadonlySet<string>;
  readonly #countedBy = new Map<string, Pod[]>();

  private constructor(problem: SchedulingProblem, { table, labelReader, hosts, selectedKeys }: TopologyTools) {
    this.#problem = problem;
    this.#table = table;
    this.#labelReader = labelReader;
    this.#hosts = hosts;
    this.#selectedKeys = selectedKeys;
    this.#policy = problem.labelPolicy;
    this.#universe = new DomainUniverse(problem.pools, problem.labelPolicy);
  }

  /** Begins with the pods that sit somewhere already, those of the round aside. (02) */
  static *opening(problem: SchedulingProblem, tools: TopologyTools): Steps<Topology> {
    const topology = new Topology(problem, tools);
    if (problem.boundPods.length === 0) return topology;
    const round = new Set<string>();
    yield* each(problem.pods, ({ metadata }) => {
      round.add(namespacedName(metadata));
    });
    yield* each(problem.boundPods, (pod) => {
      if (round.has(namespacedName(pod.metadata))) return;
      if (isCounted(pod)) topology.#indexCounted(pod);
      if (!isTerminal(pod)) topology.#recordOwner(pod);
    });
    return topology;
  }

  /** Groups a pod's constraints belong to, in the order they are honoured. (02:X-6) */
  owned({ namespace, labels: podLabels, spec }: Wishes): readonly TopologyGroup[] {
    const respects = this.#problem.policy.preferences === "Respect";
    const groups: TopologyGroup[] = [];
    for (const constraint of spec.topologySpreadConstraints ?? []) {
      if (!respects && constraint.whenUnsatisfiable !== "DoNotSchedule") continue;
      const { matchLabelKeys, topologyKey: key, maxSkew, minDomains } = constraint;
      const selector = compileSelector(constraint.labelSelector, { labels: podLabels, matchLabelKeys });
      const filter = NodeFilter.of(spec, constraint, this.#policy);
      groups.push(
        this.#group(
          { kind: "spread", key, namespaces: new Set([namespace]), selector, maxSkew, minDomains, filter },
          spec,
        ),
      );
    }
    for (const [kind, term] of affinityTerms(spec, respects)) {
      groups.push(this.#group(this.#termSpec(kind, term, { namespace, labels: podLabels }), spec));
    }
    return groups;
  }

  /** Groups that count the pod itself as one to keep away from. */
  inverseOwned({ namespace, labels: podLabels, spec }: Wishes): readonly TopologyGroup[] {
    const terms = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const own = { namespace, labels: podLabels };
    return [...new Set(terms.map((term) => this.#inverseGroup(this.#termSpec("anti-affinity", term, own), spec)))];
  }

  #termSpec(kind: "affinity" | "anti-affinity", term: PodAffinityTerm, pod: Omit<Wishes, "spec">): GroupSpec {
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
      filter: NodeFilter.none,
    };
  }

  #group(spec: GroupSpec, owner: PodSpec): TopologyGroup {
    const identity = groupIdentity(spec);
    const known = this.#byIdentity.get(identity);
    if (known !== undefined) return known;
    const group = new TopologyGroup(spec, this.#table);
    this.#byIdentity.set(identity, group);
    this.groups.push(group);
    const inhabited = this.#boundDomains(group);
    if (!group.isHostname) {
      const anyTaints = spec.kind === "spread" && !spec.filter.honoursTaints;
      const offered = this.#universe.domains(spec.key, anyTaints ? undefined : (owner.tolerations ?? []));
      this.#registerAll(group, [...offered, ...this.#nodeDomains(spec), ...inhabited]);
    }
    for (const domain of inhabited) this.#record(group, domain);
    return group;
  }

  #inverseGroup(spec: GroupSpec, owner: PodSpec): TopologyGroup {
    const identity = groupIdentity(spec);
    const known = this.#inverseByIdentity.get(identity);
    if (known !== undefined) return known;
    const group = new TopologyGroup(spec, this.#table);
    this.#inverseByIdentity.set(identity, group);
    this.inverse.push(group);
    if (!group.isHostname) this.#registerAll(group, this.#universe.domains(spec.key, owner.tolerations ?? []));
    return group;
  }

  #registerAll(group: TopologyGroup, domains: readonly string[]): void {
    for (const domain of tieOrder(group.spec.key, domains, this.#problem.seed)) group.register(domain);
  }

  /** Values on Node objects that stay; a claim without a Node has none yet. (02:X-10) */
  #nodeDomains({ key, filter }: GroupSpec): Iterable<string> {
    const known = filter === NodeFilter.none ? this.#nodeDomainsBy.get(key) : undefined;
    if (known !== undefined) return known;
    const domains = new Set<string>();
    for (const { name } of this.#problem.nodes) {
      const site = this.#site(name);
      const domain = site?.labelOf(key);
      if (site !== undefined && domain !== undefined && filter.matches(site)) domains.add(domain);
    }
    if (filter === NodeFilter.none) this.#nodeDomainsBy.set(key, domains);
    return domains;
  }

  /** Where the pods are that the group counts, one entry a pod. (02:X-10) */
  #boundDomains(group: TopologyGroup): readonly string[] {
    const { namespaces, selector, key, filter } = group.spec;
    const found: string[] = [];
    for (const namespace of namespaces) {
      for (const pod of this.#candidates(namespace, selector.indexPair)) {
        if (!selector.matches(pod.metadata.labels ?? {})) continue;
        const nodeName = pod.spec.nodeName ?? "";
        const site = this.#site(nodeName);
        if (site === undefined) continue;
        const domain = group.isHostname ? (site.hostname ?? nodeName) : site.labelOf(key);
        if (domain !== undefined && filter.matches(site)) found.push(domain);
      }
    }
    return found;
  }

  #record(group: TopologyGroup, domain: string): void {
    if (group.isHostname) group.recordHost(domain, this.#hosts.get(domain));
    else group.record(domain);
  }

  #recordOwner(pod: Pod): void {
    const terms = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    if (terms.length === 0) return;
    const nodeName = pod.spec.nodeName ?? "";
    const site = this.#site(nodeName);
    if (site === undefined) return;
    const wishes = { namespace: namespaceOf(pod.metadata), labels: pod.metadata.labels ?? {}, spec: pod.spec };
    for (const group of this.inverseOwned(wishes)) {
      const domain = site.labelOf(group.spec.key); // no fallback to the node's name here, unlike in counting (02:X-41)
      if (domain !== undefined) this.#record(group, domain);
    }
  }

  #site(nodeName: string): Site | undefined {
    const known = this.#sites.get(nodeName);
    const node = this.#problem.nodesByName.get(nodeName);
    if (known !== undefined || node === undefined) return known;
    const site = new Site(node, this.#labelReader);
    this.#sites.set(nodeName, site);
    return site;
  }

  #indexCounted(pod: Pod): void {
    const namespace = namespaceOf(pod.metadata);
    this.#put(namespace, pod);
    for (const [key, value] of Object.entries(pod.metadata.labels ?? {})) {
      if (this.#selectedKeys.has(key)) this.#put(`${namespace}/${key}=${value}`, pod);
    }
  }

  #put(index: string, pod: Pod): void {
    const pods = this.#countedBy.get(index);
    if (pods === undefined) this.#countedBy.set(index, [pod]);
    else pods.push(pod);
  }

  #candidates(namespace: string, pair: { readonly key: string; readonly value: string } | undefined): readonly Pod[] {
    return this.#countedBy.get(pair === undefined ? namespace : `${namespace}/${pair.key}=${pair.value}`) ?? [];
  }
}

/** Required before preferred; under Ignore preferences are invisible. */
function* affinityTerms(spec: PodSpec, respects: boolean): Iterable<["affinity" | "anti-affinity", PodAffinityTerm]> {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  for (const term of podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) yield ["affinity", term];
  for (const term of podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [])
    yield ["anti-affinity", term];
  if (!respects) return;
  for (const { podAffinityTerm } of podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    yield ["affinity", podAffinityTerm];
  }
  for (const { podAffinityTerm } of podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    yield ["anti-affinity", podAffinityTerm];
  }
}

/** Pods that sit somewhere and mean to stay. (02:X-10) */
function isCounted(pod: Pod): boolean {
  return pod.spec.nodeName !== undefined && isActive(pod);
}
