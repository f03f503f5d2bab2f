import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { annotations, capacityTypes, resources } from "../../api/labels.ts";
import type { Demand, Offer } from "../../cloud/choose-offering.ts";
import { capacityType, type InstanceType } from "../../core/instance-type.ts";
import { checkMinValues } from "../../core/min-values.ts";
import { amount } from "../../core/resources.ts";

/** As many types as one fleet request takes. (02:L-33) */
const mostTypes = 60;

const exoticResources = [
  resources.nvidiaGpu,
  resources.amdGpu,
  resources.neuron,
  resources.neuronCore,
  resources.gaudi,
];

/**
 * What EC2 is asked for, of what would do: nothing exotic, no spot dearer than on demand, the 60 cheapest types, and one
 * capacity type: reserved before spot before on demand. None where that breaks what the claim wants of flexibility.
 * (02:L-33, 04 §3.2)
 */
export function launchChoice(offers: readonly Offer[], { claim, demand }: { claim: NodeClaim; demand: Demand }) {
  const isFlexible = demand.requirements.hasMinValues;
  const sensible = isFlexible ? offers : withoutDearSpot(withoutExotic(offers));
  const kept = cheapestTypes(sensible);
  const isRelaxed = claim.metadata.annotations?.[annotations.minValuesRelaxed] === "true";
  const types = [...new Set(kept.map(({ type }) => type))];
  if (!isRelaxed && checkMinValues(types, demand.requirements).kind === "unsatisfied") return [];
  return ofFirstCapacityType(kept);
}

/** Metal and accelerators only where nothing else is left. */
function withoutExotic(offers: readonly Offer[]): readonly Offer[] {
  const plain = offers.filter(({ type }) => !isExotic(type));
  return plain.length > 0 ? plain : offers;
}

function isExotic({ name, capacity }: InstanceType): boolean {
  return name.includes("metal") || exoticResources.some((resource) => amount(capacity, resource).sign() > 0);
}

function withoutDearSpot(offers: readonly Offer[]): readonly Offer[] {
  const onDemand = offers.filter(({ offering }) => capacityType(offering) === "on-demand");
  const limit = Math.min(...onDemand.map(({ offering }) => offering.price)); // infinite where there is none
  return offers.filter(({ offering }) => capacityType(offering) !== "spot" || offering.price <= limit);
}

function cheapestTypes(offers: readonly Offer[]): readonly Offer[] {
  const cheapest = new Map<InstanceType, number>();
  for (const { type, offering } of offers) {
    cheapest.set(type, Math.min(offering.price, cheapest.get(type) ?? Number.POSITIVE_INFINITY));
  }
  if (cheapest.size <= mostTypes) return offers;
  const ranked = [...cheapest].sort(([a, aPrice], [b, bPrice]) => aPrice - bPrice || (a.name < b.name ? -1 : 1));
  const kept = new Set(ranked.slice(0, mostTypes).map(([type]) => type));
  return offers.filter(({ type }) => kept.has(type));
}

function ofFirstCapacityType(offers: readonly Offer[]): readonly Offer[] {
  for (const wanted of capacityTypes) {
    const found = offers.filter(({ offering }) => capacityType(offering) === wanted);
    if (found.length > 0) return found;
  }
  return [];
}
