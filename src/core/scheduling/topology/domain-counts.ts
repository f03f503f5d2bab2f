import type { TopologyGroup } from "./topology-group.ts";

/** Pod counts by domain, and the same as text for a refusal. */
interface DomainCounts {
  readonly counts: Readonly<Record<string, number>>;
  readonly text: string;
}

/** The hosts of a pass at one point. */
interface PassHosts {
  readonly placementCount: number;
  readonly existingNodes: readonly { readonly node: { readonly hostname: string }; readonly isRemoved: boolean }[];
  readonly plannedNodes: readonly { readonly hostname: string }[];
}

/** Longer lists are truncated. */
const maxDomainsShown = 25;

/** Domain counts for refusals, computed once for each placement count. */
export class DomainCountCache {
  readonly #byGroup = new Map<TopologyGroup, DomainCounts>();
  #hostnames: readonly string[] = [];
  #emptyHosts: DomainCounts | undefined;
  #placementCount = -1;

  of(pass: PassHosts, group: TopologyGroup): DomainCounts {
    if (this.#placementCount !== pass.placementCount) this.#refresh(pass);
    const known = this.#byGroup.get(group) ?? this.#countDomains(group);
    this.#byGroup.set(group, known);
    return known;
  }

  #refresh(pass: PassHosts): void {
    this.#placementCount = pass.placementCount;
    this.#byGroup.clear();
    this.#emptyHosts = undefined;
    const names = [
      ...pass.existingNodes.filter(({ isRemoved }) => !isRemoved).map(({ node }) => node.hostname),
      ...pass.plannedNodes.map(({ hostname }) => hostname),
    ];
    this.#hostnames = [...new Set(names)].sort();
  }

  /** Every existing or planned host is a domain. (02:X-2) */
  #countDomains(group: TopologyGroup): DomainCounts {
    if (!group.isHostname)
      return domainCountsOf(group.domains.map((domain, index) => [domain, group.counts[index] ?? 0]));
    const { hostnames } = group;
    if (hostnames.size > 0) {
      const all = [...new Set([...this.#hostnames, ...hostnames.keys()])];
      return domainCountsOf(all.map((hostname) => [hostname, hostnames.get(hostname) ?? 0]));
    }
    // There are thousands of hosts; groups that count no pod share one text.
    this.#emptyHosts ??= domainCountsOf(this.#hostnames.map((hostname) => [hostname, 0]));
    return this.#emptyHosts;
  }
}

function domainCountsOf(found: (readonly [string, number])[]): DomainCounts {
  const counts = Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
  const listed = Object.entries(counts);
  const others = listed.length > maxDomainsShown ? ` and ${listed.length - maxDomainsShown} other(s)` : "";
  const shown = listed.slice(0, maxDomainsShown).map(([domain, count]) => `${domain}: ${count}`);
  return { counts, text: shown.join(", ") + others };
}
