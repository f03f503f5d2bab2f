import { hashAnnotationKeys } from "../../../api/hash/hash-drift.ts";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import { annotations, awsLabels, awsZoneId, labels } from "../../../api/labels.ts";
import type { Instance } from "../../../cloud/cloud-provider.ts";
import { type LaunchableOffering, resolvedLabels } from "../../../cloud/launchable-offerings.ts";
import { offeringZone } from "../../../core/instance-type.ts";
import { advertisedResources } from "../advertised-resources.ts";
import { ec2ProviderId } from "../instances/instance-details.ts";
import type { FleetAnswer } from "./fleets.ts";
import type { LaunchPlan } from "./launch-plan.ts";

/** The instance of a fleet as the claim will describe it, and the offering it came from. (04 §3.1-9) */
export function launchedInstance(
  fleetInstance: NonNullable<FleetAnswer["instance"]>,
  plan: LaunchPlan,
  nowMs: number,
): { readonly offer: LaunchableOffering; readonly instance: Instance } {
  const overrides = fleetInstance.LaunchTemplateAndOverrides?.Overrides;
  const typeName: string = fleetInstance.InstanceType ?? overrides?.InstanceType ?? "";
  const bySubnet = plan.chosenSubnets.find(({ id }) => id === overrides?.SubnetId)?.zone;
  const zone = bySubnet ?? overrides?.AvailabilityZone ?? "";
  const offer =
    plan.offers.find(({ type, offering }) => type.name === typeName && offeringZone(offering) === zone) ??
    plan.offers.find(({ type }) => type.name === typeName);
  if (offer === undefined) throw new Error(`EC2 launched a ${typeName} in ${zone}, which was not asked for`);
  const spec = plan.specs.find(({ instanceTypes }) => instanceTypes.some(({ name }) => name === typeName));
  const imageId = overrides?.ImageId ?? spec?.imageId;
  const interfaces = spec?.data.NetworkInterfaces;
  return {
    offer,
    instance: {
      providerId: ec2ProviderId(zone, fleetInstance.instanceId),
      ...(imageId !== undefined && { imageId }),
      labels: launchedLabels(offer, plan, zone),
      annotations: launchAnnotations(plan.source.nodeClass),
      capacity: advertisedResources(offer.capacity, interfaces),
      allocatable: advertisedResources(offer.allocatable, interfaces),
      createdAt: nowMs,
      isTerminating: false,
    },
  };
}

const reservationLabels: readonly string[] = [
  awsLabels.capacityReservationId,
  awsLabels.capacityReservationType,
  awsLabels.capacityReservationInterruptible,
];

function launchedLabels(offer: LaunchableOffering, plan: LaunchPlan, zone: string): Readonly<Record<string, string>> {
  const { claim, source, capacityType, tenancy, placementGroup } = plan;
  const resolved = Object.entries(resolvedLabels(claim, source.launchRequest, offer)).filter(
    // A type with one reservation would name it, whatever the instance was launched from.
    ([key]) => capacityType === "reserved" || !reservationLabels.includes(key),
  );
  const zoneId = plan.zoneIdOf(zone);
  return {
    ...Object.fromEntries(resolved),
    [labels.zone]: zone,
    ...(zoneId !== undefined && { [awsZoneId]: zoneId }),
    [labels.capacityType]: capacityType,
    [awsLabels.instanceTenancy]: tenancy,
    [awsLabels.nodeClass]: source.nodeClass.metadata.name ?? "",
    ...(placementGroup && { [awsLabels.placementGroupId]: placementGroup.id }),
    // Empty until the partition EC2 picked is known: registration waits for it. (04 §2.8)
    ...(placementGroup?.hasPartitions && {
      [awsLabels.placementGroupPartition]:
        placementGroup.partition === undefined ? "" : String(placementGroup.partition),
    }),
    ...claim.metadata.labels,
  };
}

function launchAnnotations({ metadata, status }: Ec2NodeClass): Readonly<Record<string, string>> {
  const { hash, version } = hashAnnotationKeys.ec2NodeClass;
  const hashes = [hash, version].flatMap((key) => {
    const value = metadata.annotations?.[key];
    return value === undefined ? [] : [[key, value]];
  });
  return {
    ...Object.fromEntries(hashes),
    ...(status?.instanceProfile && { [annotations.awsInstanceProfileName]: status.instanceProfile }),
  };
}
