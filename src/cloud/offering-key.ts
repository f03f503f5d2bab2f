import { capacityType, type InstanceType, type Offering, reservationId, zone } from "../core/instance-type.ts";

/** What is bought: a type, where, and how. */
export interface OfferingKey {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  /** The reservation it is taken from. */
  readonly reservationId?: string | undefined;
}

export function offeringKey({ name }: Pick<InstanceType, "name">, offering: Offering): OfferingKey {
  const reservation = reservationId(offering);
  return {
    instanceType: name,
    zone: zone(offering) ?? "",
    capacityType: capacityType(offering) ?? "",
    ...(reservation !== undefined && { reservationId: reservation }),
  };
}

export function offeringText({ instanceType, zone, capacityType, reservationId }: OfferingKey): string {
  const parts = [capacityType, instanceType, zone, ...(reservationId === undefined ? [] : [reservationId])];
  return parts.join(":");
}
