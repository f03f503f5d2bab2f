import type { RequirementItem } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import { labels, resources } from "../../api/labels.ts";
import { resourceListOf } from "../../cloud/launchable-offerings.ts";
import { intersects, isCompatible } from "../../core/compatibility.ts";
import {
  allocatableOf,
  type InstanceType,
  type Offering,
  offeringCapacityType,
  offeringZone,
} from "../../core/instance-type.ts";
import type { PriceSource } from "../../core/price-source.ts";
import { Requirements } from "../../core/requirements.ts";

/** One instance type as it is listed. */
export interface ListedInstanceType {
  readonly name: string;
  readonly arch: string;
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** Zones with an offering that matches. */
  readonly zones: readonly string[];
  /** Dollars an hour: the least of the offerings that match, by capacity type. */
  readonly prices: Readonly<Record<string, number>>;
  /** Where these prices come from. */
  readonly priceSources: Readonly<Record<string, PriceSource>>;
  /** Every label with one value. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface InstanceTypesFilter {
  readonly types: readonly InstanceType[];
  readonly requirements: readonly RequirementItem[];
  readonly policy: LabelPolicy;
  /** Also types that cannot be had now. */
  readonly includesUnavailable: boolean;
}

/** The types that fit the requirements, the cheapest first. Zones and prices are those of offerings that fit them too. */
export function listInstanceTypes(request: InstanceTypesFilter): readonly ListedInstanceType[] {
  const wanted = Requirements.fromItems(request.requirements, request.policy);
  return request.types
    .filter(({ requirements }) => isCompatible(requirements, wanted))
    .flatMap((type) => {
      const listed = listedType(type, wanted);
      return listed.zones.length > 0 || request.includesUnavailable ? [listed] : [];
    })
    .sort((left, right) => leastPrice(left) - leastPrice(right) || (left.name < right.name ? -1 : 1));
}

function listedType(type: InstanceType, wanted: Requirements): ListedInstanceType {
  const offerings = type.offerings.filter(
    ({ available, requirements }) => available && intersects(requirements, wanted),
  );
  const least = new Map<string, Offering>();
  for (const offering of offerings) {
    const capacityType = offeringCapacityType(offering) ?? "";
    if (offering.price < (least.get(capacityType)?.price ?? Number.POSITIVE_INFINITY))
      least.set(capacityType, offering);
  }
  return {
    name: type.name,
    arch: type.requirements.get(labels.arch).singleValue ?? "",
    capacity: resourceListOf(type.capacity),
    allocatable: resourceListOf(allocatableOf(type)),
    zones: [...new Set(offerings.map((offering) => offeringZone(offering) ?? ""))].sort(),
    prices: Object.fromEntries([...least].map(([capacityType, { price }]) => [capacityType, price])),
    priceSources: Object.fromEntries(
      [...least].flatMap(([capacityType, { priceSource }]) => (priceSource ? [[capacityType, priceSource]] : [])),
    ),
    labels: singleLabels(type),
  };
}

function singleLabels({ requirements }: InstanceType): Readonly<Record<string, string>> {
  const single = [...requirements].flatMap(({ key, singleValue }) =>
    singleValue === undefined ? [] : [[key, singleValue] as const],
  );
  return Object.fromEntries(single.sort(([left], [right]) => (left < right ? -1 : 1)));
}

function leastPrice({ prices }: Pick<ListedInstanceType, "prices">): number {
  return Math.min(Number.POSITIVE_INFINITY, ...Object.values(prices));
}

/** Accelerators and the like, which most types have not. */
export function extendedResources({ allocatable }: ListedInstanceType): string {
  const usual: ReadonlySet<string> = new Set([
    resources.cpu,
    resources.memory,
    resources.pods,
    resources.ephemeralStorage,
  ]);
  return Object.entries(allocatable)
    .filter(([name, amount]) => !usual.has(name) && amount !== "0")
    .map(([name, amount]) => `${name}=${amount}`)
    .join(" ");
}
