import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import { awsLabels, type CapacityType, labels } from "../../../api/labels.ts";
import { CloudError } from "../../../cloud/cloud-error.ts";
import {
  type ClaimLaunchRequest,
  type LaunchableOffering,
  launchableOfferings,
  noCompatibleOffering,
} from "../../../cloud/launchable-offerings.ts";
import { type InstanceType, offeringCapacityType } from "../../../core/instance-type.ts";
import type { Logger } from "../../../util/logger.ts";
import { chooseLaunchOffers } from "../choose-launch-offers.ts";
import { partitionNumbers } from "../instance-types/ec2-instance-types.ts";
import { amiFor } from "../node-class/ami-requirements.ts";
import type { Ec2NodeClassObject } from "../node-class/node-class-object.ts";
import type { ChosenSubnet, SubnetAddresses } from "../node-class/subnet-addresses.ts";
import type { TypePlacementGroup } from "../type-requirements.ts";
import { launchTags, type Tags } from "./launch-tags.ts";
import type { LaunchTemplateRequest, LaunchTemplateSpec, TargetPlacementGroup } from "./launch-template-spec.ts";
import { type LaunchTarget, launchTemplateSpecs } from "./launch-template-specs.ts";

/** What decisions about a launch are made with. */
export interface LaunchPlanning {
  readonly log: Logger;
  readonly clusterName: string;
  readonly subnetAddresses: SubnetAddresses;
  /** Where nodes join; with the CIDR of Services if the class needs it. */
  readonly targetFor: (nodeClass: Ec2NodeClassObject) => Promise<LaunchTarget>;
  readonly placementGroupOf: (nodeClass: Ec2NodeClassObject) => TypePlacementGroup | undefined;
  /** The gate ReservedCapacity. */
  readonly usesReservations: boolean;
}

export interface LaunchSource {
  readonly nodeClass: Ec2NodeClassObject;
  readonly launchRequest: ClaimLaunchRequest;
  readonly instanceTypes: readonly InstanceType[];
}

/** Everything that is decided before EC2 is asked. */
export interface LaunchPlan {
  readonly claim: NodeClaim;
  readonly source: LaunchSource;
  readonly offers: readonly LaunchableOffering[];
  readonly capacityType: CapacityType;
  readonly tenancy: "default" | "dedicated";
  readonly tags: Tags;
  readonly specs: readonly LaunchTemplateSpec[];
  readonly chosenSubnets: readonly ChosenSubnet[];
  readonly placementGroup: (TargetPlacementGroup & { readonly hasPartitions: boolean }) | undefined;
  readonly placementGroupId: string | undefined;
  readonly zoneIdOf: (zone: string) => string | undefined;
}

/** Filters, launch templates and subnets of a launch; addresses of the subnets are promised to it. (04 §3.1) */
export async function planLaunch(
  claim: NodeClaim,
  source: LaunchSource,
  dependencies: LaunchPlanning,
): Promise<LaunchPlan> {
  const { nodeClass, launchRequest } = source;
  const tags = launchTags({
    clusterName: dependencies.clusterName,
    nodeClassName: nodeClass.metadata.name ?? "",
    nodePoolName: claim.metadata.labels?.[labels.nodePool] ?? "",
    specTags: nodeClass.spec?.tags,
  });
  const group = dependencies.placementGroupOf(nodeClass);
  const placementGroup = targetGroup(group, launchRequest);
  const offers = chosenOffers(claim, source, placementGroup);
  const [first] = offers;
  if (first === undefined) throw new CloudError("insufficient-capacity", noCompatibleOffering);
  const capacityType = offeringCapacityType(first.offering) as CapacityType;
  warnIfInflexible(offers, { capacityType, launchRequest }, dependencies.log);
  const instanceTypes = typesWithOffers(offers);
  const request: LaunchTemplateRequest = {
    nodeClass,
    claim,
    instanceTypes,
    capacityType,
    tenancy: launchRequest.requirements.get(awsLabels.instanceTenancy).has("default") ? "default" : "dedicated",
    tags,
    placementGroup,
    usesReservations: dependencies.usesReservations,
  };
  const specs = launchTemplateSpecs(request, await dependencies.targetFor(nodeClass));
  const subnets = nodeClass.status?.subnets ?? [];
  const chosenSubnets = dependencies.subnetAddresses.choose({ subnets, instanceTypes, capacityType });
  if (chosenSubnets.length === 0) {
    throw new CloudError("create-failed", "no subnet of the node class can be launched into", {
      reason: "SubnetResolutionFailed",
    });
  }
  const zoneIds = new Map(subnets.map(({ zone, zoneID }) => [zone, zoneID]));
  return {
    ...{ claim, source, offers, capacityType, tenancy: request.tenancy, tags, specs, chosenSubnets, placementGroup },
    placementGroupId: group?.id,
    zoneIdOf: (zone) => zoneIds.get(zone),
  };
}

/** A launch targets a partition only if the claim asks for some; else EC2 picks one. (04 §2.8) */
function targetGroup(
  group: TypePlacementGroup | undefined,
  { requirements }: ClaimLaunchRequest,
): LaunchPlan["placementGroup"] {
  if (group === undefined) return undefined;
  const partitions = partitionNumbers(group);
  const asked = requirements.get(awsLabels.placementGroupPartition);
  const allowed = partitions.filter((partition) => asked.has(partition));
  const isAsked = allowed.length < partitions.length;
  const [smallest] = [...allowed].sort();
  const partition = isAsked && smallest !== undefined ? Number(smallest) : undefined;
  return { id: group.id, partition, hasPartitions: partitions.length > 0 };
}

/** Types no image is for cannot boot; of equal offerings in several partitions one is enough. */
function chosenOffers(
  claim: NodeClaim,
  { nodeClass, launchRequest, instanceTypes }: LaunchSource,
  group: LaunchPlan["placementGroup"],
): readonly LaunchableOffering[] {
  const amis = nodeClass.status?.amis ?? [];
  const partition = group?.hasPartitions ? String(group.partition ?? 1) : undefined;
  const isInPartition = ({ offering }: LaunchableOffering): boolean =>
    partition === undefined || offering.requirements.get(awsLabels.placementGroupPartition).singleValue === partition;
  const bootable = launchableOfferings(launchRequest, instanceTypes)
    .filter(isInPartition)
    .filter(({ type }) => amiFor(type, amis) !== undefined);
  return chooseLaunchOffers(bootable, { claim, launchRequest });
}

/** The types of the offers, each with the offers alone. */
function typesWithOffers(offers: readonly LaunchableOffering[]): readonly InstanceType[] {
  const byType = new Map<InstanceType, LaunchableOffering[]>();
  for (const offer of offers) byType.set(offer.type, [...(byType.get(offer.type) ?? []), offer]);
  return [...byType].map(([type, own]) => ({ ...type, offerings: own.map(({ offering }) => offering) }));
}

/** With fewer types a launch on demand that might have been spot deserves a line in the log. */
const flexibleTypes = 5;
function warnIfInflexible(
  offers: readonly LaunchableOffering[],
  { capacityType, launchRequest }: { readonly capacityType: CapacityType; readonly launchRequest: ClaimLaunchRequest },
  log: Logger,
): void {
  const allowsSpot = launchRequest.requirements.get(labels.capacityType).has("spot");
  const types = new Set(offers.map(({ type }) => type.name));
  if (capacityType !== "on-demand" || !allowsSpot || types.size >= flexibleTypes) return;
  log.debug("few instance types are left for a launch that allows spot: allow more types", { types: [...types] });
}
