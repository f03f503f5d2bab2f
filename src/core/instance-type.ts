import { awsLabels, kwokLabels, labels, resources } from "../api/labels.ts";
import { Quantity } from "../util/quantity.ts";
import type { Requirements } from "./requirements.ts";
import {
  amountOf,
  equalResources,
  mergeResources,
  noResources,
  type Resources,
  subtractResources,
} from "./resources.ts";

/** A kind of machine the cloud can launch, and where. (02:C-1) */
export interface InstanceType {
  /** Equal to its instance-type label. */
  readonly name: string;
  /** Every label a node of it can have; zone and capacity type list all of them. */
  readonly requirements: Requirements;
  readonly offerings: readonly Offering[];
  readonly capacity: Resources;
  readonly overhead: Overhead;
}

/** What of a machine is not for pods. */
export interface Overhead {
  readonly kubeReserved: Resources;
  readonly systemReserved: Resources;
  readonly evictionThreshold: Resources;
}

/** One way to buy an instance type: a zone, a capacity type, a price. (02:C-2) */
export interface Offering {
  /** Names the zone and the capacity type, and the reservation if there is one. */
  readonly requirements: Requirements;
  /** Dollars an hour; 0 where it is unknown, and then nothing is available. */
  readonly price: number;
  readonly available: boolean;
  /** Machines left in the reservation. */
  readonly reservationCapacity?: number;
  /** Amounts that take the place of the type's own. (02:A-12) */
  readonly capacityOverride?: Resources;
  readonly overheadOverride?: Partial<Overhead>;
}

/** Offerings whose machines are equally large. (02:A-12) */
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

/** What pods can have of a machine of this type, overrides aside. (02:A-11) */
export function allocatableOf(type: Pick<InstanceType, "capacity" | "overhead">): Resources {
  const { capacity, overhead } = type;
  const left = subtractResources(
    capacity,
    mergeResources(overhead.kubeReserved, overhead.systemReserved, overhead.evictionThreshold),
  );
  const pages = Object.keys(capacity).filter((name) => name.startsWith(hugePagesPrefix));
  if (pages.length === 0) return left;
  // Huge pages are set aside in memory, and ordinary memory cannot use them.
  const memory = pages.reduce(
    (rest, name) => atLeastZero(rest.sub(amountOf(capacity, name))),
    amountOf(left, resources.memory),
  );
  return { ...left, [resources.memory]: memory };
}

/** Available offerings by the size of their machines. The first group is the plain one, there even when empty. (02:A-12) */
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
