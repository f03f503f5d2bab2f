import type { Toleration } from "../../src/api/kubernetes/pod.ts";
import type { Taint } from "../../src/api/labels.ts";
import type { Requirement } from "../../src/core/requirement.ts";
import { Requirements } from "../../src/core/requirements.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { firstUntoleratedTaint } from "../../src/core/tolerations.ts";

/** Key → domain → the taint sets of the pools that can make a node in it. (02:X-1) */
export type Universe = Map<string, Map<string, (readonly Taint[])[]>>;

/** The domains pools and their types could have, available or not. (02:X-1) */
export function domainUniverse({ pools, labelPolicy }: SchedulingProblem): Universe {
  const universe: Universe = new Map();
  for (const { nodePool, instanceTypes } of pools) {
    if (instanceTypes.length === 0) continue;
    const { metadata, spec } = nodePool.spec.template;
    const own = Requirements.fromItems(spec.requirements, labelPolicy).add(
      ...Requirements.fromLabels(metadata?.labels ?? {}, labelPolicy),
    );
    const taints = spec.taints ?? [];
    for (const requirement of own) addDomains(universe, requirement, taints);
    for (const type of instanceTypes) {
      for (const requirement of own.add(...type.requirements)) addDomains(universe, requirement, taints);
    }
  }
  return universe;
}

/** Only finite sets have domains: what is excluded is none. (02 §12.2-8) */
function addDomains(universe: Universe, requirement: Requirement, taints: readonly Taint[]): void {
  if (requirement.complement) return;
  const domains = universe.get(requirement.key) ?? new Map<string, (readonly Taint[])[]>();
  universe.set(requirement.key, domains);
  for (const value of requirement.values) domains.set(value, [...(domains.get(value) ?? []), taints]);
}

/** 02:X-10: all of them, or those in which some pool makes nodes that the pod tolerates. */
export function domainsOf(
  universe: Universe,
  key: string,
  tolerations: readonly Toleration[] | "any",
): readonly string[] {
  const domains = [...(universe.get(key) ?? [])];
  if (tolerations === "any") return domains.map(([domain]) => domain);
  const isOpen = (taintSets: readonly (readonly Taint[])[]): boolean =>
    taintSets.some((taints) => firstUntoleratedTaint(tolerations, taints) === undefined);
  return domains.filter(([, taintSets]) => isOpen(taintSets)).map(([domain]) => domain);
}
