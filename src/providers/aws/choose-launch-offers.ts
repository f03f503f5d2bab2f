import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { annotations, awsLabels, capacityTypes, resources } from "../../api/labels.ts";
import type { ClaimLaunchRequest, LaunchableOffering } from "../../cloud/launchable-offerings.ts";
import {
  type InstanceType,
  offeringCapacityType,
  offeringReservationId,
  offeringZone,
} from "../../core/instance-type.ts";
import { checkMinValues } from "../../core/min-values.ts";
import { amountOf } from "../../core/resources.ts";

/** The most types one fleet request may name. (02:L-33) */
const maxInstanceTypes = 60;

const exoticResources = [
  resources.nvidiaGpu,
  resources.amdGpu,
  resources.neuron,
  resources.neuronCore,
  resources.gaudi,
];

/**
 * Filters offerings as upstream does before CreateFleet: one kind of reservation, no exotic types, no spot dearer than
 * on-demand, the 60 cheapest types, one capacity type (reserved, spot, on-demand). Empty if that violates the claim's
 * minValues. (02:L-33, 04 §3.2)
 */
export function chooseLaunchOffers(
  offers: readonly LaunchableOffering[],
  { claim, launchRequest }: { readonly claim: NodeClaim; readonly launchRequest: ClaimLaunchRequest },
) {
  const isFlexible = launchRequest.requirements.hasMinValues;
  const reserved = ofOneReservationKind(offers);
  const filtered = isFlexible ? reserved : withoutExpensiveSpot(withoutExotic(reserved));
  const kept = cheapestTypes(filtered);
  const isRelaxed = claim.metadata.annotations?.[annotations.minValuesRelaxed] === "true";
  const types = [...new Set(kept.map(({ type }) => type))];
  if (!isRelaxed && checkMinValues(types, launchRequest.requirements).kind === "unsatisfied") return [];
  return ofPreferredCapacityType(kept);
}

/** In the order they are preferred at the same price. */
const reservationKinds = ["default", "capacity-block", "interruptible"] as const;

/**
 * CreateFleet takes one kind of reservation at a time: that of the cheapest offering. Of a capacity block it takes one,
 * of other kinds the largest in each zone. Without reserved offerings nothing changes. (04 §3.2)
 */
function ofOneReservationKind(offers: readonly LaunchableOffering[]): readonly LaunchableOffering[] {
  const reserved = offers.filter(({ offering }) => offeringCapacityType(offering) === "reserved");
  if (reserved.length === 0) return offers;
  const cheapest = Math.min(...reserved.map(({ offering }) => offering.price));
  const kind = reservationKinds.find((one) =>
    reserved.some((offer) => reservationKindOf(offer) === one && offer.offering.price === cheapest),
  );
  const own = reserved.filter((offer) => reservationKindOf(offer) === kind);
  if (kind === "capacity-block") return own.filter(({ offering }) => offering.price === cheapest).slice(0, 1);
  return own.filter((offer) => own.find((other) => isSamePlace(other, offer) && isLarger(other, offer)) === undefined);
}

function reservationKindOf({ offering }: LaunchableOffering): (typeof reservationKinds)[number] {
  const { requirements } = offering;
  if (requirements.get(awsLabels.capacityReservationType).singleValue === "capacity-block") return "capacity-block";
  const isInterruptible = requirements.get(awsLabels.capacityReservationInterruptible).singleValue === "true";
  return isInterruptible ? "interruptible" : "default";
}

function isSamePlace(a: LaunchableOffering, b: LaunchableOffering): boolean {
  return a.type === b.type && offeringZone(a.offering) === offeringZone(b.offering);
}

/** Of equal ones the first by id is the larger. */
function isLarger(a: LaunchableOffering, b: LaunchableOffering): boolean {
  const difference = (a.offering.reservationCapacity ?? 0) - (b.offering.reservationCapacity ?? 0);
  if (difference !== 0) return difference > 0;
  return (offeringReservationId(a.offering) ?? "") < (offeringReservationId(b.offering) ?? "");
}

/** Metal and accelerated types only if nothing else is left. */
function withoutExotic(offers: readonly LaunchableOffering[]): readonly LaunchableOffering[] {
  const plain = offers.filter(({ type }) => !isExotic(type));
  return plain.length > 0 ? plain : offers;
}

function isExotic({ name, capacity }: InstanceType): boolean {
  return name.includes("metal") || exoticResources.some((resource) => amountOf(capacity, resource).sign() > 0);
}

function withoutExpensiveSpot(offers: readonly LaunchableOffering[]): readonly LaunchableOffering[] {
  const onDemand = offers.filter(({ offering }) => offeringCapacityType(offering) === "on-demand");
  const limit = Math.min(...onDemand.map(({ offering }) => offering.price)); // infinite if there is none
  return offers.filter(({ offering }) => offeringCapacityType(offering) !== "spot" || offering.price <= limit);
}

function cheapestTypes(offers: readonly LaunchableOffering[]): readonly LaunchableOffering[] {
  const cheapest = new Map<InstanceType, number>();
  for (const { type, offering } of offers) {
    cheapest.set(type, Math.min(offering.price, cheapest.get(type) ?? Number.POSITIVE_INFINITY));
  }
  if (cheapest.size <= maxInstanceTypes) return offers;
  const ranked = [...cheapest].sort(([a, aPrice], [b, bPrice]) => aPrice - bPrice || (a.name < b.name ? -1 : 1));
  const kept = new Set(ranked.slice(0, maxInstanceTypes).map(([type]) => type));
  return offers.filter(({ type }) => kept.has(type));
}

function ofPreferredCapacityType(offers: readonly LaunchableOffering[]): readonly LaunchableOffering[] {
  for (const wanted of capacityTypes) {
    const found = offers.filter(({ offering }) => offeringCapacityType(offering) === wanted);
    if (found.length > 0) return found;
  }
  return [];
}
