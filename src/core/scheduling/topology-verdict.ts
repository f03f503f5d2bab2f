import { Requirement } from "../requirement.ts";
import type { Prospect } from "./claims.ts";
import type { Pass } from "./pass-state.ts";
import type { TopologyRule } from "./pod-class.ts";
import type { TopologyGroup } from "./topology/group.ts";
import type { Verdict } from "./verdict.ts";

const kindNames = {
  spread: "topology spread",
  affinity: "pod affinity",
  "anti-affinity": "pod anti-affinity",
} as const;

/** Longer lists of counts are cut. */
const countsShown = 25;

/** 02:N-3c, without a closing parenthesis, as upstream has it. */
export function topologyVerdict(pass: Pass, { group, podDomains }: TopologyRule, prospect: Prospect): Verdict {
  const { key, kind } = group.spec;
  const counts = countsOf(pass, group);
  const pod = podDomains === undefined ? Requirement.exists(key) : pass.table.get(podDomains);
  const id = prospect.outline.get(key);
  const node = group.isHostname
    ? Requirement.in(key, [prospect.hostname])
    : id === undefined
      ? Requirement.exists(key)
      : pass.table.get(id);
  const listed = Object.entries(counts).map(([domain, count]) => `${domain}: ${count}`);
  const shown =
    listed.slice(0, countsShown).join(", ") +
    (listed.length > countsShown ? ` and ${listed.length - countsShown} other(s)` : "");
  return {
    cause: { code: "topology", kind, key, counts, podDomains: String(pod), nodeDomains: String(node) },
    text: `unsatisfiable topology constraint for ${kindNames[kind]}, key=${key} (counts = ${shown}, podDomains = ${pod}, nodeDomains = ${node}`,
  };
}

/** Domains and how many pods are in each; every host there is or will be is one. (02:X-2) */
function countsOf(pass: Pass, group: TopologyGroup): Readonly<Record<string, number>> {
  const hosts = [...pass.seats.map(({ node }) => node.hostname), ...pass.claims.map(({ hostname }) => hostname)];
  const counts: (readonly [string, number])[] = group.isHostname
    ? [...new Set([...hosts, ...group.hostnames.keys()])].map((hostname) => [
        hostname,
        group.hostnames.get(hostname) ?? 0,
      ])
    : group.domains.map((domain, index) => [domain, group.counts[index] ?? 0]);
  return Object.fromEntries(counts.sort(([a], [b]) => (a < b ? -1 : 1)));
}
