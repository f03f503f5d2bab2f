import type { CreateFleetError } from "@aws-sdk/client-ec2";
import type { CapacityType } from "../../../api/labels.ts";
import { CloudError } from "../../../cloud/cloud-error.ts";
import type { LaunchableOffering } from "../../../cloud/launchable-offerings.ts";
import { offeringReservationId, offeringZone } from "../../../core/instance-type.ts";
import { withoutAccount } from "../api/aws-error.ts";
import type { AwsMetrics } from "../aws-metrics.ts";
import type { ReservationCounts } from "../instance-types/reservation-counts.ts";
import type { UnavailableCapacity } from "../instance-types/unavailable-capacity.ts";
import type { SubnetAddresses } from "../node-class/subnet-addresses.ts";
import {
  classifyLaunchErrorText,
  isInsufficientCapacity,
  isSpreadLimit,
  noAddressesCode,
  spotRoleCode,
} from "./launch-errors.ts";

/** What a launch tried, to attribute its errors. */
export interface FleetAttempt {
  readonly capacityType: CapacityType;
  readonly offers: readonly LaunchableOffering[];
  readonly placementGroupId: string | undefined;
  readonly zoneIdOf: (zone: string) => string | undefined;
}

export interface FleetErrorMemory {
  readonly unavailable: UnavailableCapacity;
  readonly reservations: ReservationCounts;
  readonly subnetAddresses: Pick<SubnetAddresses, "markExhausted">;
  readonly metrics?: Pick<AwsMetrics, "count"> | undefined;
}

/** Remembers what had no capacity, so that the next launch tries something else. (04 §2.7, §3.6) */
export function rememberFleetErrors(
  errors: readonly CreateFleetError[],
  attempt: FleetAttempt,
  memory: FleetErrorMemory,
): void {
  for (const error of errors) {
    const { AvailabilityZone: zone = "" } = error.LaunchTemplateAndOverrides?.Overrides ?? {};
    memory.metrics?.count("cloudprovider_instance_launch_failures_total", {
      zone,
      zone_id: attempt.zoneIdOf(zone) ?? "",
      capacity_type: attempt.capacityType,
      reason: error.ErrorCode ?? "",
    });
    rememberError(error, attempt, memory);
  }
}

function rememberError(error: CreateFleetError, attempt: FleetAttempt, memory: FleetErrorMemory): void {
  const {
    InstanceType = "",
    AvailabilityZone: zone = "",
    SubnetId,
  } = error.LaunchTemplateAndOverrides?.Overrides ?? {};
  const { capacityType, placementGroupId, offers } = attempt;
  const { unavailable, reservations, subnetAddresses } = memory;
  if (error.ErrorCode === noAddressesCode && SubnetId !== undefined) {
    unavailable.markSubnet(SubnetId);
    subnetAddresses.markExhausted(SubnetId);
    return;
  }
  if (error.ErrorCode === spotRoleCode) unavailable.markCapacityType("spot");
  if (isSpreadLimit(error)) {
    for (const { type, offering } of offers.filter((offer) => offeringZone(offer.offering) === zone)) {
      const key = { instanceType: type.name, zone: offeringZone(offering) ?? "", capacityType, placementGroupId };
      unavailable.offerings.markUnavailable(key);
    }
    return;
  }
  if (!isInsufficientCapacity(error)) return;
  if (capacityType !== "reserved") {
    unavailable.offerings.markUnavailable({ instanceType: InstanceType, zone, capacityType, placementGroupId });
    return;
  }
  const tried = offers.filter(({ type, offering }) => type.name === InstanceType && offeringZone(offering) === zone);
  for (const { offering } of tried) {
    const id = offeringReservationId(offering);
    if (id !== undefined) reservations.markExhausted(id);
  }
}

/** The error of a fleet without an instance: no capacity if that is all EC2 complains of, or if it says nothing. (04 §3.6) */
export function fleetFailure(errors: readonly CreateFleetError[]): CloudError {
  const other = errors.find((error) => !isInsufficientCapacity(error) && error.ErrorCode !== spotRoleCode);
  if (other === undefined) {
    const texts = new Set(errors.map(errorTextOf));
    const shown = [...texts].slice(0, shownErrors).join("; ");
    const more = texts.size > shownErrors ? `; and ${texts.size - shownErrors} more` : "";
    return new CloudError(
      "insufficient-capacity",
      shown === "" ? "EC2 launched no instance and gave no reason" : `${shown}${more}`,
    );
  }
  const { reason, message } = classifyLaunchErrorText(errorTextOf(other));
  return new CloudError("create-failed", message, { reason });
}

const shownErrors = 5;

function errorTextOf({ ErrorCode = "", ErrorMessage = "" }: CreateFleetError): string {
  return `${ErrorCode}: ${withoutAccount(ErrorMessage)}`;
}
