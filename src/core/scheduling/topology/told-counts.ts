import type { Pass } from "../pass-state.ts";
import type { TopologyGroup } from "./group.ts";

/** Domains and how many pods are in each, and the same in the words of a refusal. */
export interface Told {
  readonly counts: Readonly<Record<string, number>>;
  readonly text: string;
}

/** Longer lists of counts are cut. */
const countsShown = 25;

/** What topology has counted, for those who ask why: worked out once for all who ask at the same point of a pass. */
export class ToldCounts {
  readonly #byGroup = new Map<TopologyGroup, Told>();
  #hosts: readonly string[] = [];
  #nobody: Told | undefined;
  #asOf = -1;

  of(pass: Pass, group: TopologyGroup): Told {
    if (this.#asOf !== pass.commits) this.#begin(pass);
    const known = this.#byGroup.get(group) ?? this.#make(group);
    this.#byGroup.set(group, known);
    return known;
  }

  #begin(pass: Pass): void {
    this.#asOf = pass.commits;
    this.#byGroup.clear();
    this.#nobody = undefined;
    const names = [...pass.seats.map(({ node }) => node.hostname), ...pass.claims.map(({ hostname }) => hostname)];
    this.#hosts = [...new Set(names)].sort();
  }

  /** Every host there is or will be is a domain. (02:X-2) */
  #make(group: TopologyGroup): Told {
    if (!group.isHostname) return told(group.domains.map((domain, index) => [domain, group.counts[index] ?? 0]));
    const { hostnames } = group;
    if (hostnames.size > 0) {
      const all = [...new Set([...this.#hosts, ...hostnames.keys()])];
      return told(all.map((hostname) => [hostname, hostnames.get(hostname) ?? 0]));
    }
    // Thousands of hosts, and groups that count nobody have the same to say of them.
    this.#nobody ??= told(this.#hosts.map((hostname) => [hostname, 0]));
    return this.#nobody;
  }
}

function told(found: (readonly [string, number])[]): Told {
  const counts = Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
  const listed = Object.entries(counts);
  const others = listed.length > countsShown ? ` and ${listed.length - countsShown} other(s)` : "";
  const shown = listed.slice(0, countsShown).map(([domain, count]) => `${domain}: ${count}`);
  return { counts, text: shown.join(", ") + others };
}
