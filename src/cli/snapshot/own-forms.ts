import { discoveryTag } from "../../api/labels.ts";
import { isRecord } from "../../api/object.ts";
import { expression, type Form, instead, keep, labelMap, list, name, plainly, record, taint } from "./form.ts";
import { conditions } from "./pod-forms.ts";

/** What is read of this project's kinds: `spec` and `status` of each. */
type Parts = Readonly<Record<string, Form>>;

const nodeClassRef = record({ group: keep, kind: keep, name, apiVersion: keep });
const status = record({ conditions });

export const nodePool: Parts = {
  spec: record({
    weight: keep,
    replicas: keep,
    limits: keep,
    disruption: keep,
    template: record({
      metadata: record({ labels: labelMap, annotations: plainly(keep) }),
      spec: record({
        nodeClassRef,
        requirements: list(expression),
        taints: list(taint),
        startupTaints: list(taint),
        expireAfter: keep,
        terminationGracePeriod: keep,
        kubelet: keep, // of v1beta1
      }),
    }),
  }),
  status: record({ resources: keep, nodes: keep, conditions }),
};

export const nodeClaim: Parts = {
  spec: record({
    nodeClassRef,
    requirements: list(expression),
    resources: keep,
    taints: list(taint),
    startupTaints: list(taint),
    expireAfter: keep,
    terminationGracePeriod: keep,
    kubelet: keep, // of v1beta1
  }),
  status: record({
    capacity: keep,
    allocatable: keep,
    nodeName: name,
    providerID: name,
    imageID: plainly(keep),
    lastPodEventTime: keep,
    conditions,
  }),
};

export const nodeOverlay: Parts = {
  spec: record({ requirements: list(expression), weight: keep, price: keep, priceAdjustment: keep, capacity: keep }),
  status,
};

export const capacityBuffer: Parts = {
  spec: record({
    podTemplateRef: record({ name }),
    scalableRef: record({ apiGroup: keep, kind: keep, name }),
    replicas: keep,
    percentage: keep,
    limits: keep,
    provisioningStrategy: keep,
  }),
  status,
};

export const kwokNodeClass: Parts = { spec: record({ nodeRegistrationDelay: keep }), status };

/** A selector says what a cloud account calls its things; the schema wants one, and any will do. */
const someTags = instead(keep, () => [{ tags: { [discoveryTag]: "hashed" } }]);

/** An alias names the image family, and so decides sizes; other terms name images. */
const imageTerms = instead(keep, (terms) => {
  const aliases = Array.isArray(terms) ? terms.filter((term) => isRecord(term) && term["alias"] !== undefined) : [];
  return aliases.length > 0 ? aliases : [{ id: "ami-0" }];
});

const disk = record({
  volumeSize: keep,
  volumeType: keep,
  iops: keep,
  throughput: keep,
  encrypted: keep,
  deleteOnTermination: keep,
  snapshotID: keep,
  volumeInitializationRate: keep,
  kmsKeyID: plainly(keep),
});

/** User data may hold secrets and is never kept. */
export const ec2NodeClass: Parts = {
  spec: record({
    amiFamily: keep,
    amiSelectorTerms: imageTerms,
    subnetSelectorTerms: someTags,
    securityGroupSelectorTerms: someTags,
    capacityReservationSelectorTerms: plainly(keep),
    role: name,
    instanceProfile: name,
    tags: plainly(keep),
    kubelet: keep,
    blockDeviceMappings: list(record({ deviceName: keep, rootVolume: keep, ebs: disk })),
    instanceStorePolicy: keep,
    networkInterfaces: keep,
    connectionTracking: keep,
    metadataOptions: keep,
    associatePublicIPAddress: keep,
    ipPrefixCount: keep,
    detailedMonitoring: keep,
    placementGroupSelector: plainly(keep),
    cpuOptions: keep,
  }),
  status: record({
    subnets: list(record({ id: name, zone: keep, zoneID: keep })),
    capacityReservations: list(
      record({
        availabilityZone: keep,
        endTime: keep,
        id: keep, // nodes have it as a label
        instanceMatchCriteria: keep,
        instanceType: keep,
        ownerID: instead(keep, () => "000000000000"),
        reservationType: keep,
        interruptible: keep,
        state: keep,
      }),
    ),
    conditions,
  }),
};

export const aksNodeClass: Parts = {
  spec: record({
    imageFamily: keep,
    osDiskSizeGB: keep,
    maxPods: keep,
    kubelet: keep,
    fipsMode: keep,
    vnetSubnetID: plainly(keep),
    tags: plainly(keep),
  }),
  status: record({ kubernetesVersion: keep, conditions }),
};
