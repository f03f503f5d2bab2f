import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import { awsLabels, awsZoneId, labels } from "../../../api/labels.ts";
import type { Offering } from "../../../core/instance-type.ts";
import { Requirements } from "../../../core/requirements.ts";
import type { Zone } from "../regions.ts";
import type { RequirementInterner } from "../type-requirements.ts";

export type StatusReservation = NonNullable<NonNullable<Ec2NodeClass["status"]>["capacityReservations"]>[number];

/** A reserved instance is paid for: nearly free, but still in the order of prices on demand. (04 §2.5) */
const reservedPriceDivisor = 10_000_000;

export interface ReservedOfferingContext {
  readonly reservations: readonly StatusReservation[];
  readonly left: (reservationId: string) => number;
  readonly onDemandPrice: number | undefined;
  readonly zones: readonly Zone[];
  readonly isCompatible: boolean;
  readonly isShifted: (zone: Zone) => boolean;
  readonly interner: RequirementInterner;
}

/** One offering for each reservation of the type. */
export function reservedOfferings(context: ReservedOfferingContext): readonly Offering[] {
  const { reservations, left, onDemandPrice, zones, isCompatible, isShifted, interner } = context;
  return reservations.map((reservation) => {
    const zone = zones.find(({ name }) => name === reservation.availabilityZone);
    const reservationCapacity = left(reservation.id);
    const isUsable = zone !== undefined && !isShifted(zone) && reservation.state !== "expiring";
    return {
      requirements: Requirements.of(
        interner.in(labels.capacityType, ["reserved"]),
        interner.in(labels.zone, [reservation.availabilityZone]),
        ...(zone?.id === undefined ? [] : [interner.in(awsZoneId, [zone.id])]),
        interner.in(awsLabels.capacityReservationId, [reservation.id]),
        interner.in(awsLabels.capacityReservationType, [reservation.reservationType]),
        interner.in(awsLabels.capacityReservationInterruptible, [String(reservation.interruptible ?? false)]),
      ),
      price: (onDemandPrice ?? 0) / reservedPriceDivisor,
      available: isCompatible && isUsable && reservationCapacity > 0,
      reservationCapacity,
    };
  });
}
