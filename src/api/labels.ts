/** Every name Karpenter uses in objects: labels, annotations, taints, finalizers, resources, groups. (01 §3) */

export const groups = {
  karpenter: "karpenter.sh",
  aws: "karpenter.k8s.aws",
  kwok: "karpenter.kwok.sh",
  azure: "karpenter.azure.com",
  autoscaling: "autoscaling.x-k8s.io",
} as const;

export const labels = {
  nodePool: "karpenter.sh/nodepool",
  capacityType: "karpenter.sh/capacity-type",
  registered: "karpenter.sh/registered",
  initialized: "karpenter.sh/initialized",
  doNotSyncTaints: "karpenter.sh/do-not-sync-taints",
  excludeFromLoadBalancers: "node.kubernetes.io/exclude-from-external-load-balancers",
  zone: "topology.kubernetes.io/zone",
  region: "topology.kubernetes.io/region",
  instanceType: "node.kubernetes.io/instance-type",
  arch: "kubernetes.io/arch",
  os: "kubernetes.io/os",
  windowsBuild: "node.kubernetes.io/windows-build",
  hostname: "kubernetes.io/hostname",
} as const;

/** Labels the KWOK provider puts on its types and nodes. */
export const kwokLabels = {
  nodeClass: "karpenter.kwok.sh/kwoknodeclass",
  instanceSize: "karpenter.kwok.sh/instance-size",
  instanceFamily: "karpenter.kwok.sh/instance-family",
  instanceCpu: "karpenter.kwok.sh/instance-cpu",
  instanceMemory: "karpenter.kwok.sh/instance-memory",
  reservationId: "karpenter.kwok.sh/reservation-id",
  fakeNode: "kwok.x-k8s.io/node",
  partition: "kwok-partition",
  instancePrice: "eks-node-viewer/instance-price",
} as const;

/** Labels of the AWS provider. (01 §3.1.4) */
export const awsLabels = {
  nodeClass: "karpenter.k8s.aws/ec2nodeclass",
  instanceCategory: "karpenter.k8s.aws/instance-category",
  instanceGeneration: "karpenter.k8s.aws/instance-generation",
  instanceFamily: "karpenter.k8s.aws/instance-family",
  instanceSize: "karpenter.k8s.aws/instance-size",
  instanceCapabilityFlex: "karpenter.k8s.aws/instance-capability-flex",
  instanceCpu: "karpenter.k8s.aws/instance-cpu",
  instanceCpuManufacturer: "karpenter.k8s.aws/instance-cpu-manufacturer",
  instanceCpuClockMhz: "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz",
  instanceMemory: "karpenter.k8s.aws/instance-memory",
  instanceEbsBandwidth: "karpenter.k8s.aws/instance-ebs-bandwidth",
  instanceNetworkBandwidth: "karpenter.k8s.aws/instance-network-bandwidth",
  instanceHypervisor: "karpenter.k8s.aws/instance-hypervisor",
  instanceEncryptionInTransit: "karpenter.k8s.aws/instance-encryption-in-transit-supported",
  nitroSandbox: "karpenter.k8s.aws/nitro-sandbox",
  instanceLocalNvme: "karpenter.k8s.aws/instance-local-nvme",
  instanceGpuName: "karpenter.k8s.aws/instance-gpu-name",
  instanceGpuManufacturer: "karpenter.k8s.aws/instance-gpu-manufacturer",
  instanceGpuCount: "karpenter.k8s.aws/instance-gpu-count",
  instanceGpuMemory: "karpenter.k8s.aws/instance-gpu-memory",
  instanceAcceleratorName: "karpenter.k8s.aws/instance-accelerator-name",
  instanceAcceleratorManufacturer: "karpenter.k8s.aws/instance-accelerator-manufacturer",
  instanceAcceleratorCount: "karpenter.k8s.aws/instance-accelerator-count",
  instanceTenancy: "karpenter.k8s.aws/instance-tenancy",
  capacityReservationId: "karpenter.k8s.aws/capacity-reservation-id",
  capacityReservationType: "karpenter.k8s.aws/capacity-reservation-type",
  capacityReservationInterruptible: "karpenter.k8s.aws/capacity-reservation-interruptible",
  placementGroupId: "karpenter.k8s.aws/placement-group-id",
  placementGroupPartition: "karpenter.k8s.aws/placement-group-partition",
} as const;

/** Well-known on AWS, though outside its label domain. */
export const awsZoneId = "topology.k8s.aws/zone-id";

/** EC2 tags Karpenter writes that are not node labels. (01 §3.6) */
export const awsTags = {
  clusterName: "eks:eks-cluster-name",
  nodeClaim: "karpenter.sh/nodeclaim",
  /** Followed by the cluster's name. */
  clusterPrefix: "kubernetes.io/cluster/",
} as const;

/** AWS labels a NodeOverlay may not select on: they describe a launched instance, not a type. (01 §3.1.4: those marked †) */
export const awsLaunchOnlyLabels: readonly string[] = [
  awsLabels.instanceTenancy,
  awsLabels.capacityReservationId,
  awsLabels.capacityReservationType,
  awsLabels.capacityReservationInterruptible,
  awsLabels.placementGroupId,
  awsLabels.placementGroupPartition,
];

export const annotations = {
  doNotDisrupt: "karpenter.sh/do-not-disrupt",
  nodePoolHash: "karpenter.sh/nodepool-hash",
  nodePoolHashVersion: "karpenter.sh/nodepool-hash-version",
  ec2NodeClassHash: "karpenter.k8s.aws/ec2nodeclass-hash",
  ec2NodeClassHashVersion: "karpenter.k8s.aws/ec2nodeclass-hash-version",
  terminationTimestamp: "karpenter.sh/nodeclaim-termination-timestamp",
  minValuesRelaxed: "karpenter.sh/nodeclaim-min-values-relaxed",
  requestedDraDrivers: "karpenter.sh/requested-dra-drivers",
  priceOverlayApplied: "karpenter.sh/price-overlay-applied",
  capacityOverlayApplied: "karpenter.sh/capacity-overlay-applied",
  bufferFakePod: "karpenter.sh/capacity-buffer-fake-pod",
  bufferName: "karpenter.sh/capacity-buffer-name",
  bufferNamespace: "karpenter.sh/capacity-buffer-namespace",
  /** The uid of the ReplicaSet that has yet to create the pod; only in rounds. Ours. (02:P-35) */
  expectedPodOf: "karpenter.sh/expected-pod-of",
  awsTagged: "karpenter.k8s.aws/tagged",
  awsClusterNameTagged: "compatibility.karpenter.k8s.aws/cluster-name-tagged",
  awsInstanceProfileName: "karpenter.k8s.aws/instance-profile-name",
  /** What a consolidation of the pool has to save: dollars an hour, or a share as `10%`. Ours. (03:D-49a) */
  minSaving: "karpenter.sh/consolidation-min-saving",
  podDeletionCost: "controller.kubernetes.io/pod-deletion-cost",
} as const;

/** How a pod behaves on a simulated node, where its image is never run. (05:CP-L10) */
export const simulationAnnotations = {
  /** Time from when the kubelet sees the pod until its containers run. */
  startSeconds: "sim.karpenter.sh/start-seconds",
  /** Time from when its containers run until they are ready. */
  readySeconds: "sim.karpenter.sh/ready-seconds",
  /** How long its containers run before they exit by themselves. */
  runSeconds: "sim.karpenter.sh/run-seconds",
  /** Their exit code then; zero by default. */
  exitCode: "sim.karpenter.sh/exit-code",
  /** How long its containers take to stop when told to, after their pre-stop hooks. */
  stopSeconds: "sim.karpenter.sh/stop-seconds",
  /** On a Deployment, ReplicaSet or StatefulSet: the cpu that its pods use together, as `6`; drawn by chance without it. */
  cpuLoad: "sim.karpenter.sh/cpu-load",
  /** Set on nodes whose instance type only the simulated cloud still offers. */
  retiredType: "sim.karpenter.sh/retired-type",
  /** On a Node: its instance gets this interruption; `true` is a spot interruption. */
  interrupt: "sim.karpenter.sh/interrupt",
  /** On a Node: how its machine behaves from now on: healthy, not-ready, slow, silent or gone. */
  machine: "sim.karpenter.sh/machine",
  /** On a node class: offerings the simulated cloud has no more of, as `TYPE/ZONE/CAPACITY-TYPE`. */
  outOfStock: "sim.karpenter.sh/out-of-stock",
  /** Set on the controller's pod of the sandbox: where the controller answers questions, on this computer. */
  controllerUrl: "sim.karpenter.sh/controller-url",
} as const;

/** Annotations that hold what an older API version could express and v1 cannot. (01 §7) */
export const compatibilityAnnotations = {
  nodeClassReference: "compatibility.karpenter.sh/v1beta1-nodeclass-reference",
  kubelet: "compatibility.karpenter.sh/v1beta1-kubelet-conversion",
  ubuntu: "compatibility.karpenter.k8s.aws/v1beta1-ubuntu",
  aliasVersion: "compatibility.karpenter.k8s.aws/v1-alias-version",
  storedVersionMigrated: "karpenter.sh/stored-version-migrated",
} as const;

/** Names of API versions before v1beta1: read on import, never written. (01 §7.6) */
export const legacyNames = {
  provisionerName: "karpenter.sh/provisioner-name",
  provisionerHash: "karpenter.sh/provisioner-hash",
  doNotEvict: "karpenter.sh/do-not-evict",
  doNotConsolidate: "karpenter.sh/do-not-consolidate",
  nodeTemplateHash: "karpenter.k8s.aws/nodetemplate-hash",
  emptinessTimestamp: "karpenter.sh/emptiness-timestamp",
  linked: "karpenter.sh/linked",
  managedBy: "karpenter.sh/managed-by",
  instancePods: "karpenter.k8s.aws/instance-pods",
} as const;

/** The tag by which a cluster's subnets and security groups are usually found. */
export const discoveryTag = "karpenter.sh/discovery";

export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: string;
}

export const taints = {
  unregistered: { key: "karpenter.sh/unregistered", effect: "NoExecute" },
  disrupted: { key: "karpenter.sh/disrupted", effect: "NoSchedule" },
} as const satisfies Record<string, Taint>;

/** Taints a new node has until it is initialized; scheduling ignores them until then. (01 §2.3) */
const knownEphemeralTaints: readonly Taint[] = [
  { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" },
  { key: "node.kubernetes.io/not-ready", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", effect: "NoSchedule" },
  { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" },
  taints.unregistered,
];
const ephemeralTaintPrefix = "readiness.k8s.io/";

/** Values of taints do not tell them apart. */
export function isSameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}

export function isEphemeralTaint(taint: Taint): boolean {
  return taint.key.startsWith(ephemeralTaintPrefix) || knownEphemeralTaints.some((one) => isSameTaint(one, taint));
}

export const finalizers = {
  termination: "karpenter.sh/termination",
  ec2NodeClass: "karpenter.k8s.aws/termination",
} as const;

export const resources = {
  cpu: "cpu",
  memory: "memory",
  pods: "pods",
  ephemeralStorage: "ephemeral-storage",
  /** Pseudo resource: only in NodePool limits and status. */
  nodes: "nodes",
  nvidiaGpu: "nvidia.com/gpu",
  amdGpu: "amd.com/gpu",
  gaudi: "habana.ai/gaudi",
  neuron: "aws.amazon.com/neuron",
  neuronCore: "aws.amazon.com/neuroncore",
  efa: "vpc.amazonaws.com/efa",
  podEni: "vpc.amazonaws.com/pod-eni",
  privateIpv4: "vpc.amazonaws.com/PrivateIPv4Address",
  nitroSandbox: "eks.amazonaws.com/nitro-sandbox",
} as const;

/** In the order we try them. */
export const capacityTypes = ["reserved", "spot", "on-demand"] as const;
export type CapacityType = (typeof capacityTypes)[number];

/** Old spellings of keys, rewritten wherever a requirement is built. (01 §3.1.2) */
export const coreLabelAliases: Readonly<Record<string, string>> = {
  "failure-domain.beta.kubernetes.io/zone": labels.zone,
  "failure-domain.beta.kubernetes.io/region": labels.region,
  "beta.kubernetes.io/arch": labels.arch,
  "beta.kubernetes.io/os": labels.os,
  "beta.kubernetes.io/instance-type": labels.instanceType,
};

/** A pool that does not define these still matches pods that require them. (01 §3.1.1) */
export const coreWellKnownLabels: readonly string[] = [
  labels.nodePool,
  labels.zone,
  labels.region,
  labels.instanceType,
  labels.arch,
  labels.os,
  labels.capacityType,
  labels.windowsBuild,
];
