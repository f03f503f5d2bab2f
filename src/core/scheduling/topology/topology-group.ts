import { labels } from "../../../api/labels.ts";
import type { CompiledSelector } from "../../label-selector.ts";
import { Requirement } from "../../requirement.ts";
import type { RequirementId, RequirementTable } from "../requirement-table.ts";
import type { TopologyNodeFilter } from "./topology-node-filter.ts";

type TopologyGroupKind = "spread" | "affinity" | "anti-affinity";

/** Constraints with equal specs share a group. (02:X-5) */
export interface TopologyGroupSpec {
  readonly kind: TopologyGroupKind;
  readonly key: string;
  readonly namespaces: ReadonlySet<string>;
  readonly selector: CompiledSelector;
  readonly maxSkew: number;
  readonly minDomains?: number | undefined;
  readonly filter: TopologyNodeFilter;
}

export function topologyGroupIdentity({
  kind,
  key,
  namespaces,
  selector,
  maxSkew,
  minDomains,
  filter,
}: TopologyGroupSpec): string {
  return JSON.stringify([
    kind,
    key,
    [...namespaces].sort(),
    selector.identity,
    maxSkew,
    minDomains ?? null,
    filter.identity,
  ]);
}

/** The domains a pod may go to as far as one group is concerned, as a requirement id. */
type AllowedDomains = RequirementId;

/** A topology group as it binds one pod class. */
export interface TopologyRule {
  readonly group: TopologyGroup;
  /** Whether the group counts the pod itself. */
  readonly selectsSelf: boolean;
  /** The pod's own requirement on the key. */
  readonly podDomains: RequirementId | undefined;
}

/** What of a rule the group itself does not know. */
type RuleOfPod = Omit<TopologyRule, "group">;

/** One topology constraint and its pod counts by domain. Hosts are counted apart, by index. (02 §5.10) */
export class TopologyGroup {
  readonly spec: TopologyGroupSpec;
  readonly isHostname: boolean;
  /** Domains other than hosts, in the order in which ties are broken. (02 §12.1-3) */
  readonly domains: string[] = [];
  readonly counts: number[] = [];
  readonly #index = new Map<string, number>();
  #hostCounts = new Int32Array(16);
  /** Hosts with counted pods, and how many. */
  readonly hostnames = new Map<string, number>();
  /** No pod of the pass or the cluster has this constraint now; a simulation may bring one. */
  isDormant = false;
  #occupiedDomains = 0;
  #version = 0;
  readonly #table: RequirementTable;
  #answers = new Map<number, readonly AllowedDomains[]>();
  #answersVersion = 0;

  constructor(spec: TopologyGroupSpec, table: RequirementTable) {
    this.spec = spec;
    this.isHostname = spec.key === labels.hostname;
    this.#table = table;
  }

  selects(namespace: string, podLabels: Readonly<Record<string, string>>): boolean {
    return this.spec.namespaces.has(namespace) && this.spec.selector.matches(podLabels);
  }

  /** Makes a domain known without counting a pod in it. */
  register(domain: string): number {
    const known = this.#index.get(domain);
    if (known !== undefined) return known;
    const index = this.domains.length;
    this.#index.set(domain, index);
    this.domains.push(domain);
    this.counts.push(0);
    this.#version++;
    return index;
  }

  record(domain: string, pods = 1): void {
    const index = this.register(domain);
    if (this.counts[index] === 0) this.#occupiedDomains++;
    this.counts[index] = (this.counts[index] ?? 0) + pods;
    this.#version++;
  }

  /** A host without an index is no candidate any more and is counted by name only. */
  recordHost(hostname: string, hostIndex: number | undefined, pods = 1): void {
    this.hostnames.set(hostname, (this.hostnames.get(hostname) ?? 0) + pods);
    if (hostIndex === undefined) return;
    if (hostIndex >= this.#hostCounts.length) this.#grow(hostIndex);
    (this.#hostCounts[hostIndex] as number) += pods;
  }

  /** Takes one pod out of a domain again. */
  unrecord(domain: string): void {
    const index = this.#index.get(domain);
    if (index === undefined) return;
    const count = (this.counts[index] ?? 0) - 1;
    this.counts[index] = count;
    if (count === 0) this.#occupiedDomains--;
    this.#version++;
  }

  /** Forgets the domains that were registered last, until `count` are left. */
  unregisterFrom(count: number): void {
    if (this.domains.length <= count) return;
    for (const domain of this.domains.splice(count)) this.#index.delete(domain);
    this.counts.length = count;
    this.#version++;
  }

  unrecordHost(hostname: string, hostIndex: number | undefined): void {
    const left = (this.hostnames.get(hostname) ?? 0) - 1;
    if (left > 0) this.hostnames.set(hostname, left);
    else this.hostnames.delete(hostname);
    if (hostIndex !== undefined) (this.#hostCounts[hostIndex] as number) -= 1;
  }

  hostCount(hostIndex: number): number {
    return hostIndex < this.#hostCounts.length ? (this.#hostCounts[hostIndex] as number) : 0;
  }

  get isEmpty(): boolean {
    return this.#occupiedDomains === 0 && this.hostnames.size === 0;
  }

  /** Whether no counted pod is on a host this pod may use. */
  #isEmptyFor(pod: RequirementId | undefined): boolean {
    if (this.isEmpty || pod === undefined) return this.isEmpty;
    const requirement = this.#table.get(pod);
    for (const hostname of this.hostnames.keys()) if (requirement.has(hostname)) return false;
    return true;
  }

  /** Whether a refused host stays refused for the rest of the pass, because counts only grow. (02) */
  get isRefusalFinal(): boolean {
    return this.spec.kind !== "affinity";
  }

  /** Whether the pod may be placed on the host. (02) */
  allowsHost(hostIndex: number, { selectsSelf, podDomains }: RuleOfPod): boolean {
    const count = this.hostCount(hostIndex);
    switch (this.spec.kind) {
      case "spread":
        return count + (selectsSelf ? 1 : 0) <= this.spec.maxSkew;
      case "anti-affinity":
        return count === 0;
      case "affinity":
        return count > 0 || (selectsSelf && this.#isEmptyFor(podDomains));
    }
  }

  /**
   * The alternatives for a candidate, best first; an empty list refuses it. `nodeDomains` is the candidate's requirement on
   * the key, undefined where there is none.
   */
  domainOptions(
    { podDomains, selectsSelf }: RuleOfPod,
    nodeDomains: RequirementId | undefined,
  ): readonly AllowedDomains[] {
    if (this.#answersVersion !== this.#version) {
      this.#answers = new Map();
      this.#answersVersion = this.#version;
    }
    // Unique for up to two million requirements, far more than a pass has.
    const cacheKey = ((podDomains ?? -1) + 1) * 4194304 + ((nodeDomains ?? -1) + 1) * 2 + (selectsSelf ? 1 : 0);
    const known = this.#answers.get(cacheKey);
    if (known !== undefined) return known;
    const answer = this.#choose(this.#domainTest(podDomains), this.#domainTest(nodeDomains), selectsSelf);
    this.#answers.set(cacheKey, answer);
    return answer;
  }

  /** Every domain the group allows for the pod, whatever the node. (02:Q-53) */
  validDomains(rule: RuleOfPod): readonly string[] {
    if (this.spec.kind !== "spread") {
      return this.domainOptions(rule, undefined).flatMap((id) => [...this.#table.get(id).values]);
    }
    const maxCount =
      this.#smallestCount(this.#domainTest(rule.podDomains)) + this.spec.maxSkew - (rule.selectsSelf ? 1 : 0);
    return this.domains.filter((_, index) => (this.counts[index] ?? 0) <= maxCount);
  }

  #choose(podAllows: DomainTest, nodeAllows: DomainTest, selectsSelf: boolean): readonly AllowedDomains[] {
    switch (this.spec.kind) {
      case "spread":
        return this.#spreadDomains(podAllows, nodeAllows, selectsSelf);
      case "affinity":
        return this.#affinityDomains(podAllows, nodeAllows, selectsSelf);
      case "anti-affinity":
        return this.#anyOf(
          this.domains.filter((domain, index) => this.counts[index] === 0 && podAllows(domain) && nodeAllows(domain)),
        );
    }
  }

  /** Each valid domain with the fewest pods is an alternative of its own. (02:X-25) */
  #spreadDomains(podAllows: DomainTest, nodeAllows: DomainTest, selectsSelf: boolean): readonly AllowedDomains[] {
    const least = this.#smallestCount(podAllows);
    let best = Number.POSITIVE_INFINITY;
    let tied: string[] = [];
    for (const [index, domain] of this.domains.entries()) {
      const count = (this.counts[index] ?? 0) + (selectsSelf ? 1 : 0);
      if (count - least > this.spec.maxSkew || count > best || !nodeAllows(domain)) continue;
      if (count < best) tied = [];
      best = count;
      tied.push(domain);
    }
    return tied.map((domain) => this.#table.idOf(Requirement.in(this.spec.key, [domain])));
  }

  #smallestCount(podAllows: DomainTest): number {
    let least = Number.POSITIVE_INFINITY;
    let domains = 0;
    for (const [index, domain] of this.domains.entries()) {
      if (!podAllows(domain)) continue;
      domains++;
      least = Math.min(least, this.counts[index] ?? 0);
    }
    return this.spec.minDomains !== undefined && domains < this.spec.minDomains ? 0 : least;
  }

  /**
   * Domains with matching pods. For the first pod of a group that selects itself every possible domain is an
   * alternative, so that its node gets exactly one. (02:X-30, 02 §12.2-25)
   */
  #affinityDomains(podAllows: DomainTest, nodeAllows: DomainTest, selectsSelf: boolean): readonly AllowedDomains[] {
    const occupied = this.domains.filter((domain, index) => (this.counts[index] ?? 0) > 0 && podAllows(domain));
    const reachable = occupied.filter(nodeAllows);
    if (reachable.length > 0) return this.#anyOf(reachable);
    if (!selectsSelf || !(this.isEmpty || occupied.length === 0)) return [];
    return this.domains
      .filter((domain) => podAllows(domain) && nodeAllows(domain))
      .map((domain) => this.#table.idOf(Requirement.in(this.spec.key, [domain])));
  }

  #anyOf(domains: readonly string[]): readonly AllowedDomains[] {
    return domains.length === 0 ? [] : [this.#table.idOf(Requirement.in(this.spec.key, domains))];
  }

  #domainTest(id: RequirementId | undefined): DomainTest {
    if (id === undefined) return () => true;
    const requirement = this.#table.get(id);
    return (domain) => requirement.has(domain);
  }

  #grow(hostIndex: number): void {
    const larger = new Int32Array(Math.max(hostIndex + 1, this.#hostCounts.length * 2));
    larger.set(this.#hostCounts);
    this.#hostCounts = larger;
  }
}

type DomainTest = (domain: string) => boolean;
