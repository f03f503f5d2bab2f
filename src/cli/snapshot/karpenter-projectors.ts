import { discoveryTag } from "../../api/labels.ts";
import { isRecord } from "../../api/object.ts";
import { projectConditions } from "./pod-projectors.ts";
import {
  keep,
  keepAll,
  omittedWhenHashed,
  type Projector,
  projectFields,
  projectItems,
  projectLabels,
  projectName,
  projectRequirement,
  projectTaint,
  replacedWhenHashed,
} from "./projector.ts";

/** What a snapshot keeps of `spec` and `status` of Karpenter's kinds. */
type SpecAndStatusProjectors = Readonly<Record<string, Projector>>;

const nodeClassRef = projectFields({ group: keep, kind: keep, name: projectName, apiVersion: keep });
const status = projectFields({ conditions: projectConditions });

export const nodePoolProjectors: SpecAndStatusProjectors = {
  spec: projectFields({
    ...keepAll("weight", "replicas", "limits", "disruption"),
    template: projectFields({
      metadata: projectFields({ labels: projectLabels, annotations: omittedWhenHashed(keep) }),
      spec: projectFields({
        nodeClassRef,
        requirements: projectItems(projectRequirement),
        taints: projectItems(projectTaint),
        startupTaints: projectItems(projectTaint),
        ...keepAll("expireAfter", "terminationGracePeriod"),
        kubelet: keep, // of v1beta1
      }),
    }),
  }),
  status: projectFields({ resources: keep, nodes: keep, conditions: projectConditions }),
};

export const nodeClaimProjectors: SpecAndStatusProjectors = {
  spec: projectFields({
    nodeClassRef,
    requirements: projectItems(projectRequirement),
    resources: keep,
    taints: projectItems(projectTaint),
    startupTaints: projectItems(projectTaint),
    ...keepAll("expireAfter", "terminationGracePeriod"),
    kubelet: keep, // of v1beta1
  }),
  status: projectFields({
    ...keepAll("capacity", "allocatable"),
    nodeName: projectName,
    providerID: projectName,
    imageID: omittedWhenHashed(keep),
    lastPodEventTime: keep,
    conditions: projectConditions,
  }),
};

export const nodeOverlayProjectors: SpecAndStatusProjectors = {
  spec: projectFields({
    requirements: projectItems(projectRequirement),
    ...keepAll("weight", "price", "priceAdjustment", "capacity"),
  }),
  status,
};

export const capacityBufferProjectors: SpecAndStatusProjectors = {
  spec: projectFields({
    podTemplateRef: projectFields({ name: projectName }),
    scalableRef: projectFields({ apiGroup: keep, kind: keep, name: projectName }),
    ...keepAll("replicas", "percentage", "limits", "provisioningStrategy"),
  }),
  status,
};

export const kwokNodeClassProjectors: SpecAndStatusProjectors = {
  spec: projectFields({ nodeRegistrationDelay: keep }),
  status,
};

/** Selectors name resources of a cloud account; the schema requires one, so a placeholder is written. */
const projectTagTerms = replacedWhenHashed(keep, () => [{ tags: { [discoveryTag]: "hashed" } }]);

/** An alias is kept because the image family affects capacity; other terms name images and are replaced. */
const projectAmiTerms = replacedWhenHashed(keep, (terms) => {
  const aliases = Array.isArray(terms) ? terms.filter((term) => isRecord(term) && term["alias"] !== undefined) : [];
  return aliases.length > 0 ? aliases : [{ id: "ami-0" }];
});

const projectEbs = projectFields({
  ...keepAll(
    "volumeSize",
    "volumeType",
    "iops",
    "throughput",
    "encrypted",
    "deleteOnTermination",
    "snapshotID",
    "volumeInitializationRate",
  ),
  kmsKeyID: omittedWhenHashed(keep),
});

/** User data may hold secrets and is never kept. */
export const ec2NodeClassProjectors: SpecAndStatusProjectors = {
  spec: projectFields({
    amiFamily: keep,
    amiSelectorTerms: projectAmiTerms,
    subnetSelectorTerms: projectTagTerms,
    securityGroupSelectorTerms: projectTagTerms,
    capacityReservationSelectorTerms: omittedWhenHashed(keep),
    role: projectName,
    instanceProfile: projectName,
    tags: omittedWhenHashed(keep),
    kubelet: keep,
    blockDeviceMappings: projectItems(projectFields({ deviceName: keep, rootVolume: keep, ebs: projectEbs })),
    ...keepAll(
      "instanceStorePolicy",
      "networkInterfaces",
      "connectionTracking",
      "metadataOptions",
      "associatePublicIPAddress",
      "ipPrefixCount",
      "detailedMonitoring",
    ),
    placementGroupSelector: omittedWhenHashed(keep),
    cpuOptions: keep,
  }),
  status: projectFields({
    subnets: projectItems(projectFields({ id: projectName, zone: keep, zoneID: keep })),
    capacityReservations: projectItems(
      projectFields({
        ...keepAll("availabilityZone", "endTime"),
        id: keep, // nodes have it as a label value
        ...keepAll("instanceMatchCriteria", "instanceType"),
        ownerID: replacedWhenHashed(keep, () => "000000000000"),
        ...keepAll("reservationType", "interruptible", "state"),
      }),
    ),
    conditions: projectConditions,
  }),
};

export const aksNodeClassProjectors: SpecAndStatusProjectors = {
  spec: projectFields({
    ...keepAll("imageFamily", "osDiskSizeGB", "maxPods", "kubelet", "fipsMode"),
    vnetSubnetID: omittedWhenHashed(keep),
    tags: omittedWhenHashed(keep),
  }),
  status: projectFields({ kubernetesVersion: keep, conditions: projectConditions }),
};
