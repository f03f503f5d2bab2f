import type { Instance as Ec2Instance } from "@aws-sdk/client-ec2";
import { awsLabels, awsTags, awsZoneId, type CapacityType, labels } from "../../../api/labels.ts";
import type { Instance } from "../../../cloud/cloud-provider.ts";
import { allocatableOf, type InstanceType } from "../../../core/instance-type.ts";
import { advertisedResources } from "../advertised-resources.ts";

export interface InstanceDetailsContext {
  /** The gate ReservedCapacity. */
  readonly usesReservations: boolean;
  /** Of the instance's node class, if that is known. */
  readonly instanceType?: InstanceType | undefined;
  /** The id of a zone, by name. */
  readonly zoneIdOf: (zone: string) => string | undefined;
}

export function ec2ProviderId(zone: string, id: string): string {
  return `aws:///${zone}/${id}`;
}

/** Mocks leave out the request's id, so that the life cycle counts too. (04 §3.8, §7.2) */
export function ec2CapacityType(instance: Ec2Instance, usesReservations: boolean): CapacityType {
  if (instance.SpotInstanceRequestId || instance.InstanceLifecycle === "spot") return "spot";
  const preference = instance.CapacityReservationSpecification?.CapacityReservationPreference;
  const isReserved = instance.CapacityReservationId && preference === "capacity-reservations-only";
  return usesReservations && isReserved ? "reserved" : "on-demand";
}

export function ec2Tag({ Tags = [] }: Ec2Instance, key: string): string | undefined {
  return Tags.find(({ Key }) => Key === key)?.Value;
}

/** An instance of EC2 as the controllers see it. */
export function instanceOfEc2(instance: Ec2Instance, context: InstanceDetailsContext): Instance {
  const { instanceType } = context;
  const { NetworkInterfaces } = instance;
  const zone = instance.Placement?.AvailabilityZone ?? "";
  const state = instance.State?.Name;
  return {
    providerId: ec2ProviderId(zone, instance.InstanceId ?? ""),
    ...(instance.ImageId !== undefined && { imageId: instance.ImageId }),
    labels: instanceLabels(instance, context),
    capacity: instanceType === undefined ? {} : advertisedResources(instanceType.capacity, NetworkInterfaces),
    allocatable: instanceType === undefined ? {} : advertisedResources(allocatableOf(instanceType), NetworkInterfaces),
    createdAt: instance.LaunchTime?.getTime() ?? 0,
    isTerminating: state === "shutting-down" || state === "terminated",
    claimName: ec2Tag(instance, awsTags.nodeClaim),
  };
}

function instanceLabels(instance: Ec2Instance, { usesReservations, zoneIdOf }: InstanceDetailsContext) {
  const zone = instance.Placement?.AvailabilityZone ?? "";
  const capacityType = ec2CapacityType(instance, usesReservations);
  const found: Readonly<Record<string, string | undefined>> = {
    [labels.instanceType]: instance.InstanceType,
    [labels.zone]: zone,
    [awsZoneId]: zoneIdOf(zone),
    [labels.capacityType]: capacityType,
    [labels.nodePool]: ec2Tag(instance, labels.nodePool) || undefined,
    [awsLabels.nodeClass]: ec2Tag(instance, awsLabels.nodeClass),
    [awsLabels.instanceTenancy]: instance.Placement?.Tenancy,
    [awsLabels.placementGroupId]: instance.Placement?.GroupId,
    ...(capacityType === "reserved" && { [awsLabels.capacityReservationId]: instance.CapacityReservationId }),
  };
  return Object.fromEntries(
    Object.entries(found).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
