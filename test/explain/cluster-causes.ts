import type { Random } from "../../src/util/random.ts";
import {
  affinity,
  type CaseDraft,
  deployment,
  inZones,
  isIn,
  type Maker,
  nodePool,
  own,
  podTerm,
  selector,
  taint,
  zoneKey,
} from "./case-draft.ts";

const hostKey = "kubernetes.io/hostname";
const apart = (app: string, topologyKey: string) => podTerm("podAntiAffinity", app, topologyKey);
const port = { ports: [{ containerPort: 8080, hostPort: 8080 }] };
/** The pod's own container with a host port. */
const withPort = { containers: [{ name: "app", image: "nginx", resources: { requests: { cpu: "100m" } }, ...port }] };
const spread = (more: object) => ({
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: zoneKey, whenUnsatisfiable: "DoNotSchedule", labelSelector: own, ...more },
  ],
});

/** Causes that lie in pods that run already, or in other pods of the same workload. */
const runningPodCauses: Readonly<Record<string, Maker>> = {
  "anti-affinity to a pod that runs": () => ({
    requirements: inZones("a"),
    running: [deployment("db")],
    pod: apart("db", zoneKey),
  }),
  "anti-affinity of a pod that runs": () => ({
    requirements: inZones("a"),
    running: [deployment("db", apart("stuck", zoneKey))],
  }),
  "anti-affinity to a pod that runs, and a limit of nodes": () => ({
    pool: { limits: { nodes: "1" } },
    running: [deployment("db")],
    pod: apart("db", hostKey),
    requests: { cpu: "500m" },
  }),
  "anti-affinity among its own pods": () => ({
    requirements: inZones("a", "b"),
    pod: apart("stuck", zoneKey),
    replicas: 3,
    fits: 2,
  }),
  "anti-affinity among more of its own pods than there are zones": () => ({
    pod: apart("stuck", zoneKey),
    replicas: 5,
    fits: 4,
  }),
  "anti-affinity among its own pods, and a limit of nodes": (r) => ({
    pool: { limits: { nodes: "1" } },
    pod: apart("stuck", hostKey),
    requests: { cpu: r.pick(["500m", "1"]) },
    replicas: r.pick([2, 3]),
    fits: 1,
  }),
  "spread over more zones than there are (minDomains)": () => ({
    pod: spread({ minDomains: 5 }),
    replicas: 5,
    fits: 4,
  }),
  "spread with minDomains over the zones of a pool": (r) => ({
    requirements: inZones("a", "b"),
    pod: spread({ minDomains: r.pick([3, 4]) }),
    replicas: 3,
    fits: 2,
  }),
  "spread that another pool's limit stops": () => ({
    requirements: inZones("a"),
    pools: [nodePool("other", { requirements: inZones("b"), pool: { limits: { cpu: "0" } } })],
    pod: spread({}),
    replicas: 2,
    fits: 1,
  }),
  "a host port of a pod that runs, and a limit of nodes": () => ({
    pool: { limits: { nodes: "1" } },
    running: [deployment("proxy", {}, { container: port })],
    pod: withPort,
  }),
  "a host port of its own pods, and a limit of nodes": () => ({
    pool: { limits: { nodes: "1" } },
    pod: withPort,
    replicas: 2,
    fits: 1,
  }),
  "a host port of a DaemonSet": () => ({ objects: [daemonSet(port)], pod: withPort }),
  "no room beside a DaemonSet": (r) => ({
    objects: [daemonSet({ resources: { requests: { cpu: r.pick(["3", "1500m"]) } } })],
    requirements: [{ key: "karpenter.kwok.sh/instance-cpu", operator: "Lt", values: ["5"] }],
    requests: { cpu: "3" },
  }),
  "a limit that running pods use up": (r) => ({
    pool: { limits: { cpu: r.pick(["2", "3"]) } },
    running: [deployment("web")],
  }),
};

function daemonSet(container: object) {
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "agent", namespace: "default" },
    spec: {
      selector: { matchLabels: { app: "agent" } },
      template: {
        metadata: { labels: { app: "agent" } },
        spec: { containers: [{ name: "agent", image: "nginx", ...container }] },
      },
    },
  };
}

const overlay = (name: string, spec: object) => ({
  apiVersion: "karpenter.sh/v1alpha1",
  kind: "NodeOverlay",
  metadata: { name },
  spec,
});
const runtimeClass = (more: object) => ({
  apiVersion: "node.k8s.io/v1",
  kind: "RuntimeClass",
  metadata: { name: "kata" },
  handler: "kata",
  ...more,
});
const familyKey = "karpenter.kwok.sh/instance-family";
const device = "example.com/device";

/** Causes that other objects put into pods or instance types. */
const addedCauses: Readonly<Record<string, Maker>> = {
  "a device that an overlay gives to types the pool leaves out": () => ({
    requirements: [isIn(familyKey, "c")],
    objects: [overlay("devices", { requirements: [isIn(familyKey, "m")], capacity: { [device]: "2" } })],
    limits: { [device]: "1" },
  }),
  "more devices than an overlay gives": () => ({
    objects: [overlay("devices", { requirements: [isIn("kubernetes.io/arch", "amd64")], capacity: { [device]: "2" } })],
    limits: { [device]: "3" },
  }),
  "overhead of a runtime class": () => ({
    objects: [runtimeClass({ overhead: { podFixed: { cpu: "200" } } })],
    pod: { runtimeClassName: "kata" },
    requests: { cpu: "100" },
  }),
  "overhead of a runtime class in a small pool": () => ({
    objects: [runtimeClass({ overhead: { podFixed: { cpu: "4", memory: "1Gi" } } })],
    requirements: [{ key: "karpenter.kwok.sh/instance-cpu", operator: "Lt", values: ["5"] }],
    pod: { runtimeClassName: "kata" },
  }),
  "a label that a runtime class asks for": () => ({
    objects: [runtimeClass({ scheduling: { nodeSelector: { runtime: "kata" } } })],
    pod: { runtimeClassName: "kata" },
  }),
  "another value of a label than a runtime class asks for": () => ({
    poolLabels: { runtime: "runc" },
    objects: [runtimeClass({ scheduling: { nodeSelector: { runtime: "kata" } } })],
    pod: { runtimeClassName: "kata" },
  }),
  "a taint that a runtime class does not tolerate": () => ({
    template: { taints: [taint("kata", "true"), taint("dedicated", "batch")] },
    objects: [runtimeClass({ scheduling: { tolerations: [{ key: "kata", operator: "Exists" }] } })],
    pod: { runtimeClassName: "kata" },
  }),
};

/** What keeps a pod of zone c, that tolerates nothing, from a pool. */
const poolFaults: readonly CaseDraft[] = [
  { template: { taints: [taint("dedicated", "batch")] } },
  { requirements: inZones("a") },
  { pool: { limits: { cpu: "0" } } },
  { pool: { limits: { nodes: "0" } } },
  { requirements: [isIn("karpenter.kwok.sh/instance-cpu", "1")] },
];

/** Several pools, each with a fault of its own. */
function faultyPools(random: Random): CaseDraft {
  const [first = {}, ...others] = Array.from({ length: random.pick([2, 3]) }, () => random.pick(poolFaults));
  const weighted = (fault: CaseDraft): CaseDraft => ({
    ...fault,
    pool: { ...fault.pool, ...random.pick([{}, { weight: 10 }, { weight: 90 }]) },
  });
  return {
    ...weighted(first),
    pools: others.map((fault, at) => nodePool(`pool-${at}`, weighted(fault))),
  };
}

const poolCauses: Readonly<Record<string, Maker>> = {
  "several pools, each with its own cause": (r) => ({
    ...faultyPools(r),
    ...selector({ [zoneKey]: "test-zone-c" }),
    requests: { cpu: "3" },
  }),
  "a heavier pool is full, another has a taint": () => ({
    template: { taints: [taint("dedicated", "batch")] },
    pools: [nodePool("full", { pool: { weight: 100, limits: { cpu: "2" } } })],
    requests: { cpu: "3" },
  }),
  "a label that only a tainted pool has": () => ({
    pools: [
      nodePool("gold", {
        poolLabels: { tier: "gold" },
        template: { taints: [taint("tier", "gold")] },
        pool: { weight: 5 },
      }),
    ],
    pod: affinity(isIn("tier", "gold")),
  }),
};

/** Static pools, which have a number of nodes of their own. */
const staticPoolCauses: Readonly<Record<string, Maker>> = {
  "a static pool at its limit of nodes": () => ({ pool: { replicas: 0, limits: { nodes: "0" } } }),
  "a static pool with a taint": () => ({
    pool: { replicas: 0 },
    template: { taints: [taint("dedicated", "batch")] },
  }),
  "a static pool of nodes that are too small": () => ({ pool: { replicas: 0 }, requests: { cpu: "6" } }),
  "a static pool of any zone, for a pod of one": () => ({
    pool: { replicas: 0 },
    ...selector({ [zoneKey]: "test-zone-c" }),
  }),
  "a static pool that is full": () => ({
    pool: { replicas: 1 },
    requirements: [isIn("node.kubernetes.io/instance-type", "c-2x-amd64-linux")],
    running: [deployment("web")],
  }),
  "a static pool beside a pool with a taint": () => ({
    template: { taints: [taint("dedicated", "batch")] },
    pools: [nodePool("fixed", { pool: { replicas: 0 } })],
  }),
};

const ec2Class = (more: object) => ({
  apiVersion: "karpenter.k8s.aws/v1",
  kind: "EC2NodeClass",
  metadata: { name: "default" },
  spec: {
    role: "nodes",
    amiSelectorTerms: [{ alias: "al2023@latest" }],
    subnetSelectorTerms: [{ tags: { "karpenter.sh/discovery": "test" } }],
    securityGroupSelectorTerms: [{ tags: { "karpenter.sh/discovery": "test" } }],
    ...more,
  },
});
const ofEc2 = (more: object): CaseDraft => ({
  nodeClass: ec2Class(more),
  nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
  requirements: [isIn("karpenter.k8s.aws/instance-family", "m5"), isIn("karpenter.sh/capacity-type", "on-demand")],
});
const volumeOf = (deviceName: string, volumeSize: string, more: object = {}) => ({
  deviceName,
  ebs: { volumeSize, volumeType: "gp3" },
  ...more,
});
const storage = (r: Random) => ({ requests: { "ephemeral-storage": r.pick(["30Gi", "60Gi", "200Gi"]) } });

const classNotFound = {
  kind: "NodePool",
  type: "NodeClassReady",
  reason: "NodeClassNotFound",
  message: "NodeClass not found on cluster",
};

/** What lies in node classes. */
const nodeClassCauses: Readonly<Record<string, Maker>> = {
  "a node class of a misspelled name": () => ({
    nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "defualt" },
    found: classNotFound,
  }),
  "a node class that does not exist": () => ({
    nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "batch" },
    found: classNotFound,
  }),
  "an EC2NodeClass without subnets": () => ({
    ...ofEc2({ subnetSelectorTerms: [{ id: "subnet-0123456789abcdef0" }] }),
    found: {
      kind: "EC2NodeClass",
      type: "SubnetsReady",
      reason: "SubnetsNotFound",
      message: "SubnetSelector did not match any Subnets",
    },
  }),
  "ephemeral storage of an EC2NodeClass": (r) => ({ ...ofEc2({}), ...storage(r) }),
  "ephemeral storage of a block device": (r) => ({
    ...ofEc2({ blockDeviceMappings: [volumeOf("/dev/xvda", "20Gi")] }),
    ...storage(r),
  }),
  "ephemeral storage of a root volume": (r) => ({
    ...ofEc2({
      blockDeviceMappings: [volumeOf("/dev/sdf", "500Gi"), volumeOf("/dev/sda1", "8Gi", { rootVolume: true })],
    }),
    ...storage(r),
  }),
  "ephemeral storage of Bottlerocket": (r) => ({
    ...ofEc2({
      amiSelectorTerms: [{ alias: "bottlerocket@latest" }],
      ...r.pick([{}, { blockDeviceMappings: [volumeOf("/dev/xvda", "100Gi")] }]),
    }),
    ...storage(r),
  }),
};

export const clusterCauseMakers: Readonly<Record<string, Maker>> = {
  ...runningPodCauses,
  ...addedCauses,
  ...poolCauses,
  ...staticPoolCauses,
  ...nodeClassCauses,
};
