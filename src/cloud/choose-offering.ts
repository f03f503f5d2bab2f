import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { LabelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import { isCompatible } from "../core/compatibility.ts";
import { type InstanceType, type Offering, offeringGroups } from "../core/instance-type.ts";
import type { RequirementItem } from "../core/requirement.ts";
import { Requirements } from "../core/requirements.ts";
import { fits, type Resources } from "../core/resources.ts";
import { Quantity } from "../util/quantity.ts";
import type { Random } from "../util/random.ts";

/** One way to launch what a claim asks for. */
export interface Offer {
  readonly type: InstanceType;
  readonly offering: Offering;
  /** All of such a machine, and what pods get of it. */
  readonly capacity: Resources;
  readonly allocatable: Resources;
}

/** What a claim insists on. */
export interface Demand {
  readonly requirements: Requirements;
  readonly requests: Resources;
  readonly policy: LabelPolicy;
}

export function demandOf({ spec }: NodeClaim, policy: LabelPolicy): Demand {
  return {
    requirements: Requirements.fromItems(spec.requirements as readonly RequirementItem[], policy),
    requests: quantities(spec.resources?.requests ?? {}),
    policy,
  };
}

/** Everything that would do: compatible, large enough, and not known to be sold out. (02:L-33) */
export function offersFor(demand: Demand, types: readonly InstanceType[]): readonly Offer[] {
  const named = demand.requirements.get(labels.instanceType);
  return types
    .filter(({ name }) => named.has(name))
    .filter(({ requirements }) => suits(demand, requirements))
    .flatMap((type) => offersOf(type, demand));
}

/** A type none of whose offerings suits gives none: it is passed over. (02 §12.2-20) */
function offersOf(type: InstanceType, demand: Demand): readonly Offer[] {
  return offeringGroups(type)
    .filter(({ allocatable }) => fits(demand.requests, allocatable))
    .flatMap(({ offerings, allocatable }) =>
      offerings
        .filter(({ requirements }) => suits(demand, requirements))
        .map((offering) => ({
          type,
          offering,
          capacity: { ...type.capacity, ...offering.capacityOverride },
          allocatable,
        })),
    );
}

/** Cheapest first; the dice decide among equals, so that zones fill evenly. (02:K-7) */
export function cheapestFirst(offers: readonly Offer[], random: Random): readonly Offer[] {
  return random.shuffle(offers).sort((a, b) => a.offering.price - b.offering.price);
}

/** Labels that are certain once an offer is taken: whatever has one value left. The claim's own win. (02:K-8, 02:L-30) */
export function resolvedLabels(
  claim: NodeClaim,
  { requirements }: Pick<Demand, "requirements">,
  { type, offering }: Pick<Offer, "type" | "offering">,
): Readonly<Record<string, string>> {
  return {
    ...singles(type.requirements),
    ...singles(offering.requirements),
    ...singles(requirements),
    [labels.instanceType]: type.name,
    ...claim.metadata.labels,
  };
}

function singles(requirements: Requirements): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { key, only } of requirements) if (only !== undefined) found[key] = only;
  return found;
}

function suits({ requirements, policy }: Demand, offered: Requirements): boolean {
  return isCompatible(requirements, offered, { allowUndefined: policy.wellKnown });
}

function quantities(list: Readonly<Record<string, string | number>>): Resources {
  return Object.fromEntries(Object.entries(list).map(([name, text]) => [name, Quantity.parse(String(text))]));
}

/** As API objects carry it. */
export function written(list: Resources): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(list).map(([name, quantity]) => [name, quantity.canonical()]));
}
