import type { LabelPolicy } from "../../api/label-policy.ts";
import { labels } from "../../api/labels.ts";
import { isCompatible } from "../compatibility.ts";
import { type InstanceType, type Offering, offeringCapacityType } from "../instance-type.ts";
import { checkMinValues } from "../min-values.ts";
import { Requirement } from "../requirement.ts";
import { Requirements } from "../requirements.ts";
import type { PlannedNode } from "../scheduling/decision.ts";
import type { DisruptionCandidate } from "./candidate.ts";

/** In the order a provider tries them. (02:L-34) */
const capacityTypesInOrder = ["reserved", "spot", "on-demand"] as const;

function launchableOfferings(
  { offerings }: InstanceType,
  requirements: Requirements,
  policy: LabelPolicy,
): readonly Offering[] {
  return offerings.filter(
    (one) => one.available && isCompatible(requirements, one.requirements, { allowUndefined: policy.wellKnown }),
  );
}

/** The most a launch can cost: the dearest offering of the capacity type that is tried first. (02:L-34) */
export function worstLaunchPrice(type: InstanceType, requirements: Requirements, policy: LabelPolicy): number {
  const offerings = launchableOfferings(type, requirements, policy);
  for (const capacityType of capacityTypesInOrder) {
    const alike = offerings.filter((one) => offeringCapacityType(one) === capacityType);
    if (alike.length > 0) return Math.max(...alike.map(({ price }) => price));
  }
  return Number.POSITIVE_INFINITY;
}

/** The least a launch can cost. */
function bestLaunchPrice(type: InstanceType, requirements: Requirements, policy: LabelPolicy): number {
  return Math.min(...launchableOfferings(type, requirements, policy).map(({ price }) => price));
}

export type PriceFilterOutcome =
  | { readonly kind: "filtered"; readonly node: PlannedNode }
  /** What is left does not meet minValues, or nothing is left. */
  | { readonly kind: "min-values"; readonly achieved: ReadonlyMap<string, number> };

/** Keeps the types that cost less than the limit however a launch goes; minValues must still hold. (03:D-48) */
export function cheaperThan(node: PlannedNode, limit: number, policy: LabelPolicy): PriceFilterOutcome {
  const instanceTypes = node.instanceTypes.filter((type) => worstLaunchPrice(type, node.requirements, policy) < limit);
  const outcome = checkMinValues(instanceTypes, node.requirements);
  if (outcome.kind === "unsatisfied") return { kind: "min-values", achieved: outcome.achieved };
  return { kind: "filtered", node: withTypes(node, instanceTypes, policy) };
}

/** Restricted to spot, so that a shortage of spot fails the launch instead of buying on-demand. (03:D-47, D-48) */
export function pinnedToSpot(node: PlannedNode, policy: LabelPolicy): PlannedNode {
  const requirements = node.requirements.add(Requirement.in(labels.capacityType, ["spot"]));
  return withTypes({ ...node, requirements }, node.instanceTypes, policy);
}

/** Types that can be launched at all. */
export function launchableTypes(node: PlannedNode, policy: LabelPolicy): PlannedNode {
  const { instanceTypes, requirements } = node;
  return withTypes(
    node,
    instanceTypes.filter((type) => launchableOfferings(type, requirements, policy).length > 0),
    policy,
  );
}

/** With these types, cheapest first, then by name. */
export function withTypes(node: PlannedNode, instanceTypes: readonly InstanceType[], policy: LabelPolicy): PlannedNode {
  const priced = instanceTypes
    .map((type) => ({ type, price: bestLaunchPrice(type, node.requirements, policy) }))
    .sort((a, b) => (a.price === b.price ? (a.type.name < b.type.name ? -1 : 1) : a.price - b.price));
  return {
    ...node,
    instanceTypes: priced.map(({ type }) => type),
    price: priced[0]?.price ?? Number.POSITIVE_INFINITY,
  };
}

/**
 * The price below which a replacement of several nodes must stay when it could have the type of one of them. Otherwise
 * {large, large, small} could become one small, which is the same as deleting both large ones. (03:D-53)
 */
export function sameTypeLimit(
  node: PlannedNode,
  candidates: readonly DisruptionCandidate[],
  policy: LabelPolicy,
): number {
  const possible = new Set(node.instanceTypes.map(({ name }) => name));
  const prices = new Map<string, number>();
  for (const { instanceType, stateNode } of candidates) {
    if (instanceType === undefined || !possible.has(instanceType.name)) continue;
    const own = Requirements.fromLabels(stateNode.existing.labels, policy);
    const offerings = instanceType.offerings.filter((one) =>
      isCompatible(own, one.requirements, { allowUndefined: policy.wellKnown }),
    );
    const cheapest = Math.min(
      ...offerings.map(({ price }) => price),
      prices.get(instanceType.name) ?? Number.POSITIVE_INFINITY,
    );
    prices.set(instanceType.name, cheapest);
  }
  // A node whose offering is gone has no price, and nothing is cheaper than that.
  return Math.min(
    Number.POSITIVE_INFINITY,
    ...[...prices.values()].map((price) => (Number.isFinite(price) ? price : 0)),
  );
}
