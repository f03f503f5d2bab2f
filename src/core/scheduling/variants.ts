import type { PodSpec, Toleration } from "../../api/kubernetes/pod.ts";
import type { Requirement } from "../requirement.ts";
import { Requirements } from "../requirements.ts";
import { GrowableBitset } from "./growable-bitset.ts";
import { type PodClass, splitHostname } from "./pod-class.ts";
import type { SchedulingProblem } from "./problem.ts";
import { relaxPodSpec } from "./relaxation.ts";
import type { RequirementSet, RequirementTable } from "./requirement-table.ts";
import type { Topology } from "./topology/topology.ts";
import type { TopologyGroup, TopologyRule } from "./topology/topology-group.ts";

/** A pod class with some of its preferences dropped. */
export interface Variant {
  readonly spec: PodSpec;
  readonly tolerations: readonly Toleration[];
  /** Its requirements on a node, without the hostname. */
  readonly incoming: RequirementSet;
  readonly hostname: Requirement | undefined;
  /** Required constraints only; topology reads these. */
  readonly strictRequirements: Requirements;
  /** Every topology rule in the order of the checks, and the same split by whether it is about hosts. */
  readonly rules: readonly TopologyRule[];
  readonly hostRules: readonly TopologyRule[];
  readonly domainRules: readonly TopologyRule[];
  /** Candidates that refused for a reason that cannot change during the pass. (02 §10.3-2) */
  readonly impossibleExistingNodes: GrowableBitset;
  readonly impossiblePlannedNodes: GrowableBitset;
  /** Whether taints are tolerated, by index of the pool template. */
  readonly toleratedTemplates: Map<number, boolean>;
}

export interface VariantContext {
  readonly problem: SchedulingProblem;
  readonly table: RequirementTable;
  readonly topology: Topology;
  readonly toleratePreferNoSchedule: boolean;
  readonly variants: Map<PodClass, Variant[]>;
}

/** The variant with that many preferences dropped; undefined when there are not as many. */
export function variantAt(podClass: PodClass, level: number, context: VariantContext): Variant | undefined {
  const known = context.variants.get(podClass) ?? [];
  context.variants.set(podClass, known);
  while (known.length <= level) {
    const last = known.at(-1);
    const spec = last === undefined ? podClass.spec : relaxPodSpec(last.spec, context);
    if (spec === undefined) return undefined;
    known.push(makeVariant(podClass, spec, context));
  }
  return known[level];
}

function makeVariant(podClass: PodClass, spec: PodSpec, { problem, table, topology }: VariantContext): Variant {
  const { labelPolicy, policy } = problem;
  const strictRequirements = Requirements.fromPodStrictly(spec, labelPolicy);
  const preferredRequirements =
    policy.preferences === "Respect" ? Requirements.fromPod(spec, labelPolicy) : strictRequirements;
  const { rest, hostname } = splitHostname(preferredRequirements);
  const rules = topologyRulesFor(podClass, { spec, strictRequirements, topology, table });
  return {
    spec,
    tolerations: spec.tolerations ?? [],
    incoming: table.setOf(rest),
    hostname,
    strictRequirements,
    ...splitRules(rules),
    impossibleExistingNodes: new GrowableBitset(),
    impossiblePlannedNodes: new GrowableBitset(),
    toleratedTemplates: new Map(),
  };
}

export function splitRules(rules: readonly TopologyRule[]): Pick<Variant, "rules" | "hostRules" | "domainRules"> {
  return {
    rules,
    hostRules: rules.filter(({ group }) => group.isHostname),
    domainRules: rules.filter(({ group }) => !group.isHostname),
  };
}

interface RuleInput {
  readonly spec: PodSpec;
  readonly strictRequirements: Requirements;
  readonly topology: Topology;
  readonly table: RequirementTable;
}

/** The pod's own topology groups, then anti-affinity of other pods that selects it. (02:X-20) */
function topologyRulesFor(
  { namespace, labels: podLabels }: PodClass,
  { spec, strictRequirements, topology, table }: RuleInput,
): readonly TopologyRule[] {
  const own = topology.groupsOf({ namespace, labels: podLabels, spec });
  const others = topology.inverseGroups.filter((group) => group.selects(namespace, podLabels));
  return [...new Set<TopologyGroup>([...own, ...others])].map((group) => ({
    group,
    selectsSelf: group.selects(namespace, podLabels),
    podDomains: strictRequirements.has(group.spec.key) ? table.idOf(strictRequirements.get(group.spec.key)) : undefined,
  }));
}
