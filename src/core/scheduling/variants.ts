import type { PodSpec, Toleration } from "../../api/kubernetes/pod.ts";
import type { Requirement } from "../requirement.ts";
import { Requirements } from "../requirements.ts";
import { GrowingBits } from "./growing-bits.ts";
import { type PodClass, splitHostname, type TopologyRule } from "./pod-class.ts";
import type { SchedulingProblem } from "./problem.ts";
import { relaxed } from "./relaxation.ts";
import type { RequirementSet, RequirementTable } from "./requirement-table.ts";
import type { TopologyGroup } from "./topology/group.ts";
import type { Topology } from "./topology/topology.ts";

/** A class with some of its preferences dropped, ready to be tried. */
export interface Variant {
  readonly spec: PodSpec;
  readonly tolerations: readonly Toleration[];
  /** What must hold of a node, hostname aside. */
  readonly incoming: RequirementSet;
  readonly hostname: Requirement | undefined;
  /** What the pod insists on, preferences aside: what topology reads. */
  readonly strict: Requirements;
  /** Every topology rule in the order it is honoured, and the same by whether it is about hosts. */
  readonly rules: readonly TopologyRule[];
  readonly hostRules: readonly TopologyRule[];
  readonly domainRules: readonly TopologyRule[];
  /** Candidates that can never take it: what refused them cannot heal within a pass. (02 §10.3-2) */
  readonly deadNodes: GrowingBits;
  readonly deadClaims: GrowingBits;
  /** By template: whether its taints are tolerated. */
  readonly tolerated: Map<number, boolean>;
}

export interface VariantTools {
  readonly problem: SchedulingProblem;
  readonly table: RequirementTable;
  readonly topology: Topology;
  readonly toleratePreferNoSchedule: boolean;
  readonly variants: Map<PodClass, Variant[]>;
}

/** The class at a level of relaxation, 0 being full preferences; undefined when nothing more can be dropped. */
export function variantAt(podClass: PodClass, level: number, tools: VariantTools): Variant | undefined {
  const known = tools.variants.get(podClass) ?? [];
  tools.variants.set(podClass, known);
  while (known.length <= level) {
    const last = known.at(-1);
    const spec = last === undefined ? podClass.spec : relaxed(last.spec, tools);
    if (spec === undefined) return undefined;
    known.push(variantOf(podClass, spec, tools));
  }
  return known[level];
}

function variantOf(podClass: PodClass, spec: PodSpec, { problem, table, topology }: VariantTools): Variant {
  const { labelPolicy, policy } = problem;
  const strict = Requirements.fromPodStrictly(spec as never, labelPolicy);
  const wished = policy.preferences === "Respect" ? Requirements.fromPod(spec as never, labelPolicy) : strict;
  const { rest, hostname } = splitHostname(wished);
  const rules = rulesFor(podClass, { spec, strict, topology, table });
  return {
    spec,
    tolerations: spec.tolerations ?? [],
    incoming: table.setOf(rest),
    hostname,
    strict,
    rules,
    hostRules: rules.filter(({ group }) => group.isHostname),
    domainRules: rules.filter(({ group }) => !group.isHostname),
    deadNodes: new GrowingBits(),
    deadClaims: new GrowingBits(),
    tolerated: new Map(),
  };
}

interface RuleInput {
  readonly spec: PodSpec;
  readonly strict: Requirements;
  readonly topology: Topology;
  readonly table: RequirementTable;
}

/** Own constraints first, then those of pods that keep away from it. (02:X-20) */
function rulesFor(
  { namespace, labels: podLabels }: PodClass,
  { spec, strict, topology, table }: RuleInput,
): readonly TopologyRule[] {
  const own = topology.owned({ namespace, labels: podLabels, spec });
  const others = topology.inverse.filter((group) => group.selects(namespace, podLabels));
  return [...new Set<TopologyGroup>([...own, ...others])].map((group) => ({
    group,
    self: group.selects(namespace, podLabels),
    podDomains: strict.has(group.spec.key) ? table.idOf(strict.get(group.spec.key)) : undefined,
  }));
}
