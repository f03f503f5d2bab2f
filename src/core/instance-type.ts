import { awsLabels, kwokLabels, labels, resources } from "../api/labels.ts";
import { Quantity } from "../util/quantity.ts";
import type { DynamicResources } from "./devices/template-devices.ts";
import type { PriceSource } from "./price-source.ts";
import type { Requirements } from "./requirements.ts";
import {
  amountOf,
  equalResources,
  mergeResources,
  noResources,
  type Resources,
  subtractResources,
} from "./resources.ts";

/** An instance type the cloud provider can launch. (02:C-1) */
export interface InstanceType {
  /** Equal to its instance-type label. */
  readonly name: string;
  /** Every label a node of it can have; zone and capacity type list all of them. */
  readonly requirements: Requirements;
  readonly offerings: readonly Offering[];
  readonly capacity: Resources;
  readonly overhead: Overhead;
  /** The devices its nodes will publish, if its provider knows. (02:D-3) */
  readonly dynamicResources?: DynamicResources;
}

/** Resources that are not available to pods. */
export interface Overhead {
  readonly kubeReserved: Resources;
  readonly systemReserved: Resources;
  readonly evictionThreshold: Resources;
}

/** One zone and capacity type of an instance type, with a price. (02:C-2) */
export interface Offering {
  /** Names the zone and the capacity type, and the reservation if there is one. */
  readonly requirements: Requirements;
  /** Dollars an hour; 0 if unknown, and then it is not available. */
  readonly price: number;
  /** Undefined where nobody shows it, as in a running controller. */
  readonly priceSource?: PriceSource | undefined;
  readonly available: boolean;
  /** Instances left in the reservation. */
  readonly reservationCapacity?: number;
  /** Replaces amounts of the type's capacity. (02:A-12) */
  readonly capacityOverride?: Resources;
  readonly overheadOverride?: Partial<Overhead>;
}

/** Offerings with the same allocatable resources. (02:A-12) */
export interface OfferingGroup {
  readonly allocatable: Resources;
  readonly offerings: readonly Offering[];
}

export const noOverhead: Overhead = {
  kubeReserved: noResources,
  systemReserved: noResources,
  evictionThreshold: noResources,
};

/** Each provider names its reservations by a label of its own. (02:C-3) */
export const reservationIdLabels: readonly string[] = [awsLabels.capacityReservationId, kwokLabels.reservationId];

const hugePagesPrefix = "hugepages-";

export function offeringZone(offering: Offering): string | undefined {
  return offering.requirements.get(labels.zone).singleValue;
}

export function offeringCapacityType(offering: Offering): string | undefined {
  return offering.requirements.get(labels.capacityType).singleValue;
}

export function offeringReservationId(offering: Offering): string | undefined {
  for (const label of reservationIdLabels) {
    const id = offering.requirements.get(label).singleValue;
    if (id !== undefined) return id;
  }
  return undefined;
}

/** Where a node runs, and how it is paid for. */
interface NodePlace {
  readonly zone: string | undefined;
  readonly capacityType: string | undefined;
}

/** The offering of a node that runs already, whether or not it is available; undefined if its price is unknown. */
export function offeringAt({ offerings }: InstanceType, { zone, capacityType }: NodePlace): Offering | undefined {
  const offering = offerings.find((one) => offeringZone(one) === zone && offeringCapacityType(one) === capacityType);
  return offering === undefined || Number.isNaN(offering.price) ? undefined : offering;
}

/** Its price. (03:D-6) */
export function offeringPriceAt(type: InstanceType, place: NodePlace): number | undefined {
  return offeringAt(type, place)?.price;
}

/** The types, with all prices from one source. */
export function withPriceSource(types: readonly InstanceType[], priceSource: PriceSource): readonly InstanceType[] {
  return types.map((type) => ({
    ...type,
    offerings: type.offerings.map((offering) => ({ ...offering, priceSource })),
  }));
}

/** Resources available to pods, without overrides of offerings. (02:A-11) */
export function allocatableOf(type: Pick<InstanceType, "capacity" | "overhead">): Resources {
  const { capacity, overhead } = type;
  const left = subtractResources(
    capacity,
    mergeResources(overhead.kubeReserved, overhead.systemReserved, overhead.evictionThreshold),
  );
  const pages = Object.keys(capacity).filter((name) => name.startsWith(hugePagesPrefix));
  if (pages.length === 0) return left;
  // Huge pages are reserved from memory, which has less left for ordinary pages.
  const memory = pages.reduce(
    (rest, name) => atLeastZero(rest.sub(amountOf(capacity, name))),
    amountOf(left, resources.memory),
  );
  return { ...left, [resources.memory]: memory };
}

/** Available offerings by allocatable resources. The first group is that without overrides, and may be empty. (02:A-12) */
export function offeringGroups(type: InstanceType): readonly OfferingGroup[] {
  const plain: Offering[] = [];
  const overridden: Offering[][] = [];
  for (const offering of type.offerings) {
    if (!offering.available) continue;
    const group = hasNoOverrides(offering)
      ? plain
      : overridden.find(([first]) => first && areEquallyLarge(first, offering));
    if (group === undefined) overridden.push([offering]);
    else group.push(offering);
  }
  return [
    { allocatable: allocatableOf(type), offerings: plain },
    ...overridden.map((offerings) => ({ allocatable: overriddenAllocatable(type, offerings), offerings })),
  ];
}

function overriddenAllocatable(type: InstanceType, [first]: readonly Offering[]): Resources {
  const over = first?.overheadOverride;
  const part = (name: keyof Overhead): Resources => ({ ...type.overhead[name], ...over?.[name] });
  return allocatableOf({
    capacity: { ...type.capacity, ...first?.capacityOverride },
    overhead: {
      kubeReserved: part("kubeReserved"),
      systemReserved: part("systemReserved"),
      evictionThreshold: part("evictionThreshold"),
    },
  });
}

function hasNoOverrides({ capacityOverride = noResources, overheadOverride }: Offering): boolean {
  return Object.keys(capacityOverride).length === 0 && overheadOverride === undefined;
}

function areEquallyLarge(a: Offering, b: Offering): boolean {
  const equal = (name: keyof Overhead): boolean =>
    equalResources(a.overheadOverride?.[name] ?? noResources, b.overheadOverride?.[name] ?? noResources);
  return (
    equalResources(a.capacityOverride ?? noResources, b.capacityOverride ?? noResources) &&
    equal("kubeReserved") &&
    equal("systemReserved") &&
    equal("evictionThreshold")
  );
}

function atLeastZero(quantity: Quantity): Quantity {
  return quantity.sign() < 0 ? Quantity.zero : quantity;
}
