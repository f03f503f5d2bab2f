import { labels } from "../../src/api/labels.ts";
import { describeRequirementConflicts, requirementConflicts } from "../../src/core/compatibility.ts";
import { Requirement } from "../../src/core/requirement.ts";
import type { Requirements } from "../../src/core/requirements.ts";
import type { PodView } from "./pod-view.ts";
import { type Group, selects, type Topology } from "./topology.ts";
import { type Refused, refused } from "./world.ts";

/** What topology leaves of a candidate: each entry is one way, best first. */
export type Tightened = { readonly kind: "ways"; readonly ways: readonly (readonly Requirement[])[] } | Refused;

/** 02:X-20: every group that matters is asked, and each sees the candidate as it is without the others. */
export function tighten(topology: Topology, view: PodView, requirements: Requirements): Tightened {
  const owned = topology.owned.get(view.uid) ?? [];
  const repelling = topology.inverse.filter((group) => selects(group, view.pod));
  let ways: readonly (readonly Requirement[])[] = [[]];
  for (const group of [...owned, ...repelling]) {
    const podDomains = view.strict.get(group.key);
    const nodeDomains = requirements.get(group.key);
    const choices = choicesOf(group, { view, podDomains, nodeDomains });
    if (choices.length === 0) return refused(unsatisfiable(group, podDomains, nodeDomains));
    // Depth first: the first group's choice changes last. (02 §12.1-3)
    ways = ways.flatMap((way) => choices.map((choice) => [...way, choice]));
  }
  return { kind: "ways", ways };
}

/**
 * One way, merged into the candidate. Groups that contradict each other leave nothing of a label: where the candidate
 * has it that is a conflict, where types define it no type is left. A label the candidate may not lack is asked for all
 * the same. (02:X-20, N-3c)
 */
export function mergeWay(
  requirements: Requirements,
  way: readonly Requirement[],
  { allowUndefined = new Set() }: { readonly allowUndefined?: ReadonlySet<string> },
): { readonly kind: "merged"; readonly requirements: Requirements } | Refused {
  const isLacking = ({ key }: Requirement): boolean => !requirements.has(key) && !allowUndefined.has(key);
  const tightened = requirements.add(...way);
  const asked = way.filter(isLacking).reduce((all, choice) => all.replace(choice), tightened);
  const found = requirementConflicts(requirements, asked, { allowUndefined });
  return found.length > 0 ? refused(describeRequirementConflicts(found)) : { kind: "merged", requirements: tightened };
}

interface Domains {
  readonly view: PodView;
  readonly podDomains: Requirement;
  readonly nodeDomains: Requirement;
}

/** Several choices only where several domains are equally good. */
function choicesOf(group: Group, domains: Domains): readonly Requirement[] {
  if (group.type === "topology spread") return spreadChoices(group, domains).map((one) => only(group, one));
  const found = group.type === "pod affinity" ? affinityChoices(group, domains) : antiAffinityChoices(group, domains);
  return found.filter((choice) => choice.length > 0).map((choice) => Requirement.in(group.key, choice));
}

function only({ key }: Group, domain: string): Requirement {
  return Requirement.in(key, [domain]);
}

/** The host of a candidate, which always has exactly one. */
function hostOf({ key }: Group, nodeDomains: Requirement): string | undefined {
  return key === labels.hostname ? nodeDomains.singleValue : undefined;
}

/** 02. */
function spreadChoices(group: Group, { view, podDomains, nodeDomains }: Domains): readonly string[] {
  const self = selects(group, view.pod) ? 1 : 0;
  const host = hostOf(group, nodeDomains);
  if (host !== undefined) return (group.counts.get(host) ?? 0) + self <= group.maxSkew ? [host] : [];

  const least = group.key === labels.hostname ? 0 : globalMinimum(group, podDomains);
  const valid = [...group.counts].filter(
    ([domain, count]) => nodeDomains.has(domain) && count + self - least <= group.maxSkew,
  );
  const lowest = Math.min(...valid.map(([, count]) => count));
  return valid.filter(([, count]) => count === lowest).map(([domain]) => domain);
}

/** Over the domains the pod itself could use; too few of them count as an empty one. (02:X-25) */
function globalMinimum({ counts, minDomains }: Group, podDomains: Requirement): number {
  const usable = [...counts].filter(([domain]) => podDomains.has(domain));
  if (minDomains !== undefined && usable.length < minDomains) return 0;
  return Math.min(2 ** 31 - 1, ...usable.map(([, count]) => count));
}

/** 02. One draw decides where a group that attracts itself begins. (02 §12.2-25) */
function affinityChoices(group: Group, { view, podDomains, nodeDomains }: Domains): readonly (readonly string[])[] {
  const known = [...group.counts];
  const isFirst =
    known.every(([, count]) => count === 0) || !known.some(([domain, count]) => podDomains.has(domain) && count > 0);
  const mayBootstrap = selects(group, view.pod) && isFirst;

  const host = hostOf(group, nodeDomains);
  if (host !== undefined) {
    const isOpen = podDomains.has(host) && ((group.counts.get(host) ?? 0) > 0 || mayBootstrap);
    return isOpen ? [[host]] : [];
  }
  const common = known.filter(([domain]) => podDomains.has(domain) && nodeDomains.has(domain));
  const inhabited = common.filter(([, count]) => count > 0).map(([domain]) => domain);
  if (inhabited.length > 0) return [inhabited];
  return mayBootstrap ? common.map(([domain]) => [domain]) : [];
}

/** 02:X-35. */
function antiAffinityChoices(group: Group, { podDomains, nodeDomains }: Domains): readonly (readonly string[])[] {
  const host = hostOf(group, nodeDomains);
  if (host !== undefined) return (group.counts.get(host) ?? 0) === 0 ? [[host]] : [];
  const empty = [...group.counts].filter(([, count]) => count === 0).map(([domain]) => domain);
  return [empty.filter((domain) => podDomains.has(domain) && nodeDomains.has(domain))];
}

/** Longer lists of counts are cut. */
const countsShown = 25;

/** 02:N-3c; the closing parenthesis is missing upstream too. */
function unsatisfiable({ type, key, counts }: Group, podDomains: Requirement, nodeDomains: Requirement): string {
  const domains = [...counts.keys()].sort();
  const shown = domains.slice(0, countsShown).map((domain) => `${domain}: ${counts.get(domain)}`);
  const more = domains.length > countsShown ? ` and ${domains.length - countsShown} other(s)` : "";
  const where = `podDomains = ${podDomains}, nodeDomains = ${nodeDomains}`;
  return `unsatisfiable topology constraint for ${type}, key=${key} (counts = ${shown.join(", ")}${more}, ${where}`;
}
