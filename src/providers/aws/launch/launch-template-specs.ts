import type { RequestLaunchTemplateData } from "@aws-sdk/client-ec2";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import { resources } from "../../../api/labels.ts";
import { resolvedAmiFamily } from "../../../api/validation/ami-family.ts";
import { CloudError } from "../../../cloud/cloud-error.ts";
import { type Ami, amiFor } from "../node-class/ami-requirements.ts";
import { isIpv6Cluster } from "../user-data/cluster-dns.ts";
import type { ClusterFacts } from "../user-data/user-data-request.ts";
import { blockDeviceRequests } from "./block-devices.ts";
import { type LaunchGroup, launchGroups } from "./launch-groups.ts";
import { tagList } from "./launch-tags.ts";
import type { LaunchTemplateRequest, LaunchTemplateSpec } from "./launch-template-spec.ts";
import { networkInterfaceRequests } from "./network-interfaces.ts";
import { nodeUserData } from "./node-user-data.ts";

/** Where nodes are launched. */
export interface LaunchTarget {
  readonly cluster: ClusterFacts;
  readonly region: string;
}

/** The templates a launch needs: one for each image, number of pods, EFA count, reserved resources and reservation. (04 §3.4) */
export function launchTemplateSpecs(
  request: LaunchTemplateRequest,
  target: LaunchTarget,
): readonly LaunchTemplateSpec[] {
  const { nodeClass, claim, instanceTypes } = request;
  const amis = nodeClass.status?.amis ?? [];
  return amis.flatMap((ami) => {
    const own = instanceTypes.filter((type) => amiFor(type, amis) === ami);
    const groups = launchGroups(own, {
      kubelet: nodeClass.spec?.kubelet,
      dnsIp: target.cluster.dnsIp,
      usesEfa: requests(claim, resources.efa),
      isReserved: request.capacityType === "reserved",
    });
    return groups.map((group) => launchTemplateSpec(request, { ami, group, target }));
  });
}

interface TemplateParts {
  readonly ami: Ami;
  readonly group: LaunchGroup;
  readonly target: LaunchTarget;
}

function launchTemplateSpec(request: LaunchTemplateRequest, parts: TemplateParts): LaunchTemplateSpec {
  const { ami, group, target } = parts;
  const userData = requestUserData(request, parts);
  const data: RequestLaunchTemplateData = {
    ImageId: ami.id,
    ...(userData.text !== "" && { UserData: Buffer.from(userData.text).toString("base64") }),
    ...instanceConfiguration(request, target),
    NetworkInterfaces: networkInterfaceRequests({
      spec: request.nodeClass.spec ?? {},
      securityGroupIds: (request.nodeClass.status?.securityGroups ?? []).map(({ id }) => id),
      efaCount: group.efaCount,
      isIpv6: isIpv6Cluster(target.cluster.dnsIp),
    }),
    TagSpecifications: (request.capacityType === "spot"
      ? (["network-interface", "spot-instances-request"] as const)
      : (["network-interface"] as const)
    ).map((ResourceType) => ({ ResourceType, Tags: tagList(request.tags) })),
    ...reservationConfiguration(request, group),
  };
  return {
    imageId: ami.id,
    instanceTypes: group.instanceTypes,
    reservationId: group.reservation?.id,
    data,
    userDataBytes: Buffer.byteLength(userData.text),
    warnings: userData.warnings,
  };
}

function requestUserData(
  { nodeClass: { spec }, claim, capacityType }: LaunchTemplateRequest,
  { ami, group, target }: TemplateParts,
) {
  if (spec === undefined) throw new CloudError("node-class-not-ready", "the node class has no spec");
  const { cluster } = target;
  const result = nodeUserData({ spec, claim, capacityType, cluster, kubelet: group.kubelet, imageName: ami.name });
  if (result.kind === "ok") return result;
  if (result.code === "no-cluster-cidr") throw new CloudError("node-class-not-ready", result.message);
  throw new CloudError("create-failed", `user data of the node class cannot be used: ${result.message}`, {
    reason: "LaunchFailed",
  });
}

/** What does not depend on image and type. (04 §3.4) */
function instanceConfiguration(request: LaunchTemplateRequest, target: LaunchTarget): RequestLaunchTemplateData {
  const { nodeClass, claim, tenancy, placementGroup } = request;
  const { spec, status } = nodeClass;
  const devices = spec === undefined ? [] : blockDeviceRequests(resolvedAmiFamily(spec), spec.blockDeviceMappings);
  const nestedVirtualization = spec?.cpuOptions?.nestedVirtualization;
  return {
    ...(status?.instanceProfile && { IamInstanceProfile: { Name: status.instanceProfile } }),
    ...(devices.length > 0 && { BlockDeviceMappings: devices }),
    MetadataOptions: metadataOptions(nodeClass, target.region),
    Monitoring: { Enabled: spec?.detailedMonitoring ?? false },
    Placement: {
      Tenancy: tenancy,
      ...(placementGroup && { GroupId: placementGroup.id }),
      ...(placementGroup?.partition !== undefined && { PartitionNumber: placementGroup.partition }),
    },
    ...(requests(claim, resources.nitroSandbox) && { EnclaveOptions: { Enabled: true } }),
    ...(nestedVirtualization && { CpuOptions: { NestedVirtualization: nestedVirtualization } }),
  };
}

/** Isolated regions do not know the protocol of the endpoint. (04 §3.4) */
function metadataOptions({ spec }: Ec2NodeClass, region: string): RequestLaunchTemplateData["MetadataOptions"] {
  const { httpEndpoint, httpProtocolIPv6, httpPutResponseHopLimit, httpTokens } = spec?.metadataOptions ?? {};
  return {
    HttpEndpoint: httpEndpoint ?? "enabled",
    ...(!region.includes("-iso") && { HttpProtocolIpv6: httpProtocolIPv6 ?? "disabled" }),
    HttpPutResponseHopLimit: httpPutResponseHopLimit ?? 1,
    HttpTokens: httpTokens ?? "required",
    InstanceMetadataTags: "disabled",
  };
}

/** Without a reservation of its own an instance opts out of open ones, which others count on. (04 §3.4) */
function reservationConfiguration(
  { usesReservations }: LaunchTemplateRequest,
  { reservation }: LaunchGroup,
): RequestLaunchTemplateData {
  if (!usesReservations) return {};
  if (reservation === undefined) {
    return { CapacityReservationSpecification: { CapacityReservationPreference: "none" } };
  }
  const marketType = reservation.isCapacityBlock
    ? "capacity-block"
    : reservation.isInterruptible
      ? "interruptible-capacity-reservation"
      : undefined;
  return {
    CapacityReservationSpecification: {
      CapacityReservationPreference: "capacity-reservations-only",
      CapacityReservationTarget: { CapacityReservationId: reservation.id },
    },
    ...(marketType && { InstanceMarketOptions: { MarketType: marketType } }),
  };
}

function requests({ spec }: Pick<NodeClaim, "spec">, resource: string): boolean {
  const amount = spec.resources?.requests?.[resource];
  return amount !== undefined && String(amount) !== "0";
}
