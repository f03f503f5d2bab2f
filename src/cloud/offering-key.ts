import { labels } from "../api/labels.ts";
import {
  type InstanceType,
  type Offering,
  offeringCapacityType,
  offeringReservationId,
  offeringZone,
  reservationIdLabels,
} from "../core/instance-type.ts";

/** Identifies an offering of an instance type. */
export interface OfferingKey {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  /** The reservation it uses. */
  readonly reservationId?: string | undefined;
  /** The placement group it is launched into, whose capacity is its own. */
  readonly placementGroupId?: string | undefined;
}

export function offeringKey({ name }: Pick<InstanceType, "name">, offering: Offering): OfferingKey {
  const reservation = offeringReservationId(offering);
  return {
    instanceType: name,
    zone: offeringZone(offering) ?? "",
    capacityType: offeringCapacityType(offering) ?? "",
    ...(reservation !== undefined && { reservationId: reservation }),
  };
}

/** The offering an instance was launched from, by the labels of its NodeClaim or Node. */
export function offeringKeyOfLabels(own: Readonly<Record<string, string>> = {}): OfferingKey {
  const reservationId = reservationIdLabels.map((label) => own[label]).find((id) => id !== undefined);
  return {
    instanceType: own[labels.instanceType] ?? "",
    zone: own[labels.zone] ?? "",
    capacityType: own[labels.capacityType] ?? "",
    ...(reservationId !== undefined && { reservationId }),
  };
}

export function offeringKeyText(key: OfferingKey): string {
  const { instanceType, zone, capacityType, reservationId, placementGroupId } = key;
  const scope = [reservationId, placementGroupId].filter((one) => one !== undefined);
  return [capacityType, instanceType, zone, ...scope].join(":");
}
