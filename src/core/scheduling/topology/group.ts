import { labels } from "../../../api/labels.ts";
import type { Selector } from "../../label-selector.ts";
import { Requirement } from "../../requirement.ts";
import type { RequirementId, RequirementTable } from "../requirement-table.ts";
import type { NodeFilter } from "./node-filter.ts";

export type GroupKind = "spread" | "affinity" | "anti-affinity";

/** What makes two constraints the same group. (02:X-5) */
export interface GroupSpec {
  readonly kind: GroupKind;
  readonly key: string;
  readonly namespaces: ReadonlySet<string>;
  readonly selector: Selector;
  readonly maxSkew: number;
  readonly minDomains?: number | undefined;
  readonly filter: NodeFilter;
}

export function groupIdentity({ kind, key, namespaces, selector, maxSkew, minDomains, filter }: GroupSpec): string {
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

/** A place a pod may go as far as one group is concerned: any of these domains, by requirement number. */
export type Allowed = RequirementId;

/**
 * One topology constraint and what it has counted. Domains are numbered; hosts are counted apart, because every node is
 * one. (02 §5.10)
 */
export class TopologyGroup {
  readonly spec: GroupSpec;
  readonly isHostname: boolean;
  /** Domains other than hosts, in the order in which ties are broken. (02 §12.1-3) */
  readonly domains: string[] = [];
  readonly counts: number[] = [];
  readonly #index = new Map<string, number>();
  #hostCounts = new Int32Array(16);
  /** Hosts somebody is on, and how many are. */
  readonly hostnames = new Map<string, number>();
  #nonEmpty = 0;
  #version = 0;
  readonly #table: RequirementTable;
  #answers = new Map<number, readonly Allowed[]>();
  #answersVersion = 0;

  constructor(spec: GroupSpec, table: RequirementTable) {
    this.spec = spec;
    this.isHostname = spec.key === labels.hostname;
    this.#table = table;
  }

  selects(namespace: string, podLabels: Readonly<Record<string, string>>): boolean {
    return this.spec.namespaces.has(namespace) && this.spec.selector.matches(podLabels);
  }

  /** Makes a domain known, counting nothing. */
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

  record(domain: string): void {
    const index = this.register(domain);
    if (this.counts[index] === 0) this.#nonEmpty++;
    this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.#version++;
  }

  /** Hosts are known by number, existing nodes first; one that is no candidate any more has a name alone. */
  recordHost(hostname: string, host: number | undefined): void {
    this.hostnames.set(hostname, (this.hostnames.get(hostname) ?? 0) + 1);
    if (host === undefined) return;
    if (host >= this.#hostCounts.length) this.#grow(host);
    (this.#hostCounts[host] as number) += 1;
  }

  hostCount(host: number): number {
    return host < this.#hostCounts.length ? (this.#hostCounts[host] as number) : 0;
  }

  get isEmpty(): boolean {
    return this.#nonEmpty === 0 && this.hostnames.size === 0;
  }

  /** Whether a pod that must keep to some hosts finds nobody on any of them. */
  #isEmptyFor(pod: RequirementId | undefined): boolean {
    if (this.isEmpty || pod === undefined) return this.isEmpty;
    const requirement = this.#table.get(pod);
    for (const hostname of this.hostnames.keys()) if (requirement.has(hostname)) return false;
    return true;
  }

  /** Whether a host that is refused stays refused for the rest of the pass: counts only grow. (02) */
  get refusesForGood(): boolean {
    return this.spec.kind !== "affinity";
  }

  /** Whether a host will do. (02) */
  allowsHost(
    host: number,
    { self, pod }: { readonly self: boolean; readonly pod: RequirementId | undefined },
  ): boolean {
    const count = this.hostCount(host);
    switch (this.spec.kind) {
      case "spread":
        return count + (self ? 1 : 0) <= this.spec.maxSkew;
      case "anti-affinity":
        return count === 0;
      case "affinity":
        return count > 0 || (self && this.#isEmptyFor(pod));
    }
  }

  /**
   * The alternatives for a candidate, best first; none: it will not do. `pod` and `node` are the requirements on the
   * key, undefined where nobody speaks of it.
   */
  options(pod: RequirementId | undefined, node: RequirementId | undefined, self: boolean): readonly Allowed[] {
    if (this.#answersVersion !== this.#version) {
      this.#answers = new Map();
      this.#answersVersion = this.#version;
    }
    const question = ((pod ?? -1) + 1) * 4194304 + ((node ?? -1) + 1) * 2 + (self ? 1 : 0);
    const known = this.#answers.get(question);
    if (known !== undefined) return known;
    const answer = this.#choose(this.#test(pod), this.#test(node), self);
    this.#answers.set(question, answer);
    return answer;
  }

  /** Every domain a pod of these requirements could go to as far as the group is concerned, whatever the node. (02:Q-53) */
  validDomains(pod: RequirementId | undefined, self: boolean): readonly string[] {
    if (this.spec.kind !== "spread") {
      return this.options(pod, undefined, self).flatMap((id) => [...this.#table.get(id).values]);
    }
    const most = this.#least(this.#test(pod)) + this.spec.maxSkew - (self ? 1 : 0);
    return this.domains.filter((_, index) => (this.counts[index] ?? 0) <= most);
  }

  #choose(podAllows: Test, nodeAllows: Test, self: boolean): readonly Allowed[] {
    switch (this.spec.kind) {
      case "spread":
        return this.#spread(podAllows, nodeAllows, self ? 1 : 0);
      case "affinity":
        return this.#together(podAllows, nodeAllows, self);
      case "anti-affinity":
        return this.#any(
          this.domains.filter((domain, index) => this.counts[index] === 0 && podAllows(domain) && nodeAllows(domain)),
        );
    }
  }

  /** 02:X-25. Each of the emptiest valid domains is an alternative of its own. */
  #spread(podAllows: Test, nodeAllows: Test, self: 0 | 1): readonly Allowed[] {
    const least = this.#least(podAllows);
    let best = Number.POSITIVE_INFINITY;
    let tied: string[] = [];
    for (const [index, domain] of this.domains.entries()) {
      const count = (this.counts[index] ?? 0) + self;
      if (count - least > this.spec.maxSkew || count > best || !nodeAllows(domain)) continue;
      if (count < best) tied = [];
      best = count;
      tied.push(domain);
    }
    return tied.map((domain) => this.#table.idOf(Requirement.in(this.spec.key, [domain])));
  }

  #least(podAllows: Test): number {
    let least = Number.POSITIVE_INFINITY;
    let domains = 0;
    for (const [index, domain] of this.domains.entries()) {
      if (!podAllows(domain)) continue;
      domains++;
      least = Math.min(least, this.counts[index] ?? 0);
    }
    return this.spec.minDomains !== undefined && domains < this.spec.minDomains ? 0 : least;
  }

  /** 02:X-30, with one draw for the first pod: its node keeps one domain, and is counted in it. (02 §12.2-25) */
  #together(podAllows: Test, nodeAllows: Test, self: boolean): readonly Allowed[] {
    const inhabited = this.domains.filter((domain, index) => (this.counts[index] ?? 0) > 0 && podAllows(domain));
    const reachable = inhabited.filter(nodeAllows);
    if (reachable.length > 0) return this.#any(reachable);
    if (!self || !(this.isEmpty || inhabited.length === 0)) return [];
    return this.domains
      .filter((domain) => podAllows(domain) && nodeAllows(domain))
      .map((domain) => this.#table.idOf(Requirement.in(this.spec.key, [domain])));
  }

  #any(domains: readonly string[]): readonly Allowed[] {
    return domains.length === 0 ? [] : [this.#table.idOf(Requirement.in(this.spec.key, domains))];
  }

  #test(id: RequirementId | undefined): Test {
    if (id === undefined) return () => true;
    const requirement = this.#table.get(id);
    return (domain) => requirement.has(domain);
  }

  #grow(host: number): void {
    const larger = new Int32Array(Math.max(host + 1, this.#hostCounts.length * 2));
    larger.set(this.#hostCounts);
    this.#hostCounts = larger;
  }
}

type Test = (domain: string) => boolean;
