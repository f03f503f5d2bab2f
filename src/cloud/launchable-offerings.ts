import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { LabelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import { isCompatible } from "../core/compatibility.ts";
import { type InstanceType, type Offering, offeringGroups } from "../core/instance-type.ts";
import { Requirements } from "../core/requirements.ts";
import { type Resources, resourcesFit } from "../core/resources.ts";
import { Quantity } from "../util/quantity.ts";
import type { Random } from "../util/random.ts";

/** An offering a claim can be launched from. */
export interface LaunchableOffering {
  readonly type: InstanceType;
  readonly offering: Offering;
  /** Of the instance, with the offering's overrides. */
  readonly capacity: Resources;
  readonly allocatable: Resources;
}

/** What a launch is decided from. */
export interface ClaimLaunch {
  readonly claim: NodeClaim;
  readonly launchRequest: ClaimLaunchRequest;
}

/** Which of the offerings a claim can be launched from a provider asks its cloud for. */
export type OfferChooser = (
  launch: ClaimLaunch,
  offers: readonly LaunchableOffering[],
) => readonly LaunchableOffering[];

/** The message of a launch for which nothing is left to try. */
export const noCompatibleOffering = "no available offering is compatible with the NodeClaim";

/** What a claim requires of its instance. */
export interface ClaimLaunchRequest {
  readonly requirements: Requirements;
  readonly requests: Resources;
  readonly policy: LabelPolicy;
}

export function claimLaunchRequestOf({ spec }: NodeClaim, policy: LabelPolicy): ClaimLaunchRequest {
  return {
    requirements: Requirements.fromItems(spec.requirements, policy),
    requests: parseQuantities(spec.resources?.requests ?? {}),
    policy,
  };
}

/** Offerings that are compatible, large enough and not known to be unavailable. (02:L-33) */
export function launchableOfferings(
  request: ClaimLaunchRequest,
  types: readonly InstanceType[],
): readonly LaunchableOffering[] {
  const named = request.requirements.get(labels.instanceType);
  return types
    .filter(({ name }) => named.has(name))
    .filter(({ requirements }) => isCompatibleWithRequest(request, requirements))
    .flatMap((type) => launchableOfferingsOf(type, request));
}

/** A type without a compatible offering is skipped. (02 §12.2-20) */
function launchableOfferingsOf(type: InstanceType, request: ClaimLaunchRequest): readonly LaunchableOffering[] {
  return offeringGroups(type)
    .filter(({ allocatable }) => resourcesFit(request.requests, allocatable))
    .flatMap(({ offerings, allocatable }) =>
      offerings
        .filter(({ requirements }) => isCompatibleWithRequest(request, requirements))
        .map((offering) => ({
          type,
          offering,
          capacity: { ...type.capacity, ...offering.capacityOverride },
          allocatable,
        })),
    );
}

/** Cheapest first; equal prices in random order, so that zones fill evenly. (02:K-7) */
export function cheapestFirst(offers: readonly LaunchableOffering[], random: Random): readonly LaunchableOffering[] {
  return random.shuffle(offers).sort((a, b) => a.offering.price - b.offering.price);
}

/**
 * What a provider would launch for a claim if its cloud has everything; none: it finds nothing to ask for. Where several
 * types cost the same any of them may come: these are the offerings of the first one, in its cheapest zones.
 */
export function likelyOffers(
  launch: ClaimLaunch,
  types: readonly InstanceType[],
  chooseOffers: OfferChooser,
): readonly LaunchableOffering[] {
  const offers = chooseOffers(launch, launchableOfferings(launch.launchRequest, types));
  const price = offers.reduce((low, { offering }) => Math.min(low, offering.price), Number.POSITIVE_INFINITY);
  const cheapest = offers.filter(({ offering }) => offering.price === price);
  return cheapest.filter(({ type }) => type === cheapest[0]?.type);
}

/** Labels with a single possible value for this offering. The claim's own labels win. (02:K-8, 02:L-30) */
export function resolvedLabels(
  claim: NodeClaim,
  { requirements }: Pick<ClaimLaunchRequest, "requirements">,
  { type, offering }: Pick<LaunchableOffering, "type" | "offering">,
): Readonly<Record<string, string>> {
  return {
    ...type.requirements.singleValueLabels(),
    ...offering.requirements.singleValueLabels(),
    ...requirements.singleValueLabels(),
    [labels.instanceType]: type.name,
    ...claim.metadata.labels,
  };
}

function isCompatibleWithRequest({ requirements, policy }: ClaimLaunchRequest, offered: Requirements): boolean {
  return isCompatible(requirements, offered, { allowUndefined: policy.wellKnown });
}

function parseQuantities(list: Readonly<Record<string, string | number>>): Resources {
  return Object.fromEntries(Object.entries(list).map(([name, text]) => [name, Quantity.parse(String(text))]));
}

/** As API objects have it. */
export function resourceListOf(list: Resources): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(list).map(([name, quantity]) => [name, quantity.canonical()]));
}
