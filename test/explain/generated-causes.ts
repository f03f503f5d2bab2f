import type { KubeObject } from "../../src/api/object.ts";
import type { Random } from "../../src/util/random.ts";

/** Objects of a small cluster in which one workload has no place, for one cause. */
export interface GeneratedCase {
  readonly cause: string;
  /** Without the workload. */
  readonly objects: readonly KubeObject[];
  readonly workload: KubeObject;
}

type Spec = Readonly<Record<string, unknown>>;
type Maker = (random: Random) => CaseDraft;

/** What is wrong, beside what would be right. */
interface CaseDraft {
  /** More of the pool's requirements. */
  readonly requirements?: readonly object[];
  readonly poolLabels?: Readonly<Record<string, string>>;
  /** More of the pool's spec, and of its template's. */
  readonly pool?: Spec;
  readonly template?: Spec;
  /** More of the pod's spec. */
  readonly pod?: Spec;
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
  readonly objects?: readonly object[];
  /** Only these make the pod; all, unless given. */
  readonly kinds?: readonly WorkloadKind[];
}

const workloadKinds = ["Deployment", "StatefulSet", "ReplicaSet", "Job", "Pod"] as const;
type WorkloadKind = (typeof workloadKinds)[number];

const zoneKey = "topology.kubernetes.io/zone";
const selector = (nodeSelector: Readonly<Record<string, string>>): CaseDraft => ({ pod: { nodeSelector } });
const affinity = (...matchExpressions: readonly object[]): Spec => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
  },
});
const isIn = (key: string, ...values: readonly string[]) => ({ key, operator: "In", values });
const taint = (key: string, value?: string, effect = "NoSchedule") => ({ key, ...(value && { value }), effect });
const inZones = (...zones: readonly string[]) => [isIn(zoneKey, ...zones.map((zone) => `test-zone-${zone}`))];
const claimVolume = (claimName: string): Spec => ({
  volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
});
const own = { matchLabels: { app: "stuck" } };
const podTerm = (kind: string, app: string, topologyKey: string): Spec => ({
  affinity: {
    [kind]: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { app } } }],
    },
  },
});

function claim(name: string, spec: object, isBound = false) {
  const annotations = isBound ? { annotations: { "pv.kubernetes.io/bind-completed": "yes" } } : {};
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "default", ...annotations },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  };
}

function volume(name: string, zone: string) {
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      csi: { driver: "disk.sim.karpenter.sh", volumeHandle: name },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: inZones(zone) }] } },
    },
  };
}

function storageClass(name: string, more: object = {}) {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name },
    provisioner: "disk.sim.karpenter.sh",
    volumeBindingMode: "WaitForFirstConsumer",
    ...more,
  };
}

const withClaims: readonly WorkloadKind[] = ["Deployment", "ReplicaSet", "Job", "Pod"];

/** Every cause we know, each with its variations. */
export const causeMakers: Readonly<Record<string, Maker>> = {
  "a taint": (r) => ({
    template: {
      taints: [taint("dedicated", r.pick(["gpu", "batch", undefined]), r.pick(["NoSchedule", "NoExecute"]))],
    },
  }),
  "two taints": () => ({ template: { taints: [taint("dedicated", "batch"), taint("slow", "yes", "NoExecute")] } }),
  "a toleration of another value": () => ({
    template: { taints: [taint("team", "red")] },
    pod: { tolerations: [{ key: "team", operator: "Equal", value: "blue", effect: "NoSchedule" }] },
  }),
  "a label's value is misspelled": (r) => ({
    poolLabels: { team: "blue" },
    ...selector({ team: r.pick(["bleu", "bluee"]) }),
  }),
  "a label's value is misspelled in affinity": () => ({
    poolLabels: { team: "payments" },
    pod: affinity(isIn("team", "paymnets")),
  }),
  "a label's name is misspelled": (r) => ({
    poolLabels: { team: "blue" },
    ...selector({ [r.pick(["taem", "teams"])]: "blue" }),
  }),
  "a well-known label's name is misspelled": () => selector({ "topology.kubernetes.io/zoen": "test-zone-a" }),
  "a label of another value": (r) => ({
    poolLabels: { team: r.pick(["blue", "red"]) },
    ...selector({ team: "green" }),
  }),
  "a label nobody has": (r) => selector({ [r.pick(["tier", "example.com/tier"])]: "gold" }),
  "a label must exist": () => ({ pod: affinity({ key: "tier", operator: "Exists" }) }),
  "a label must not be what it is": () => ({
    poolLabels: { team: "blue" },
    pod: affinity({ key: "team", operator: "NotIn", values: ["blue"] }),
  }),
  "a label of a pool's requirement": () => ({
    requirements: [isIn("team", "red", "green")],
    ...selector({ team: "blue" }),
  }),
  "an architecture the pool leaves out": () => selector({ "kubernetes.io/arch": "arm64" }),
  "another name of an architecture": (r) => selector({ "kubernetes.io/arch": r.pick(["x86_64", "x64"]) }),
  "an operating system the pool leaves out": () => selector({ "kubernetes.io/os": "windows" }),
  "a zone the pool leaves out": (r) => ({
    requirements: inZones("a", "b"),
    ...selector({ [zoneKey]: `test-zone-${r.pick(["c", "d"])}` }),
  }),
  "a zone the pool excludes": () => ({
    requirements: [{ key: zoneKey, operator: "NotIn", values: ["test-zone-c"] }],
    pod: affinity(...inZones("c")),
  }),
  "a zone that does not exist": () => selector({ [zoneKey]: "mars-1a" }),
  "no zone is left": () => ({
    requirements: inZones("a"),
    pod: affinity({ key: zoneKey, operator: "NotIn", values: ["test-zone-a"] }),
  }),
  "a pool of another name": () => selector({ "karpenter.sh/nodepool": "mian" }),
  "a capacity type that is misspelled": () => selector({ "karpenter.sh/capacity-type": "on-demnd" }),
  "a capacity type the pool leaves out": () => ({
    requirements: [isIn("karpenter.sh/capacity-type", "on-demand")],
    ...selector({ "karpenter.sh/capacity-type": "spot" }),
  }),
  "an instance type that is misspelled": () => selector({ "node.kubernetes.io/instance-type": "c-4x-amd64-linxu" }),
  "instance types the pool leaves out": () => ({
    requirements: [isIn("node.kubernetes.io/instance-type", "c-2x-amd64-linux")],
    requests: { cpu: "3" },
  }),
  "a number of CPUs that no type has": () => ({
    pod: affinity({ key: "karpenter.kwok.sh/instance-cpu", operator: "Gt", values: ["512"] }),
  }),
  "a host name": () => selector({ "kubernetes.io/hostname": "node-1" }),
  "too much CPU": (r) => ({ requests: { cpu: r.pick(["300", "999", "256"]) } }),
  "too much memory": (r) => ({ requests: { memory: r.pick(["3Ti", "9Ti"]) } }),
  "too much ephemeral storage": () => ({ requests: { "ephemeral-storage": "50Gi" } }),
  "too much for types of the pool": () => ({
    requirements: [{ key: "karpenter.kwok.sh/instance-cpu", operator: "Lt", values: ["5"] }],
    requests: { cpu: "6" },
  }),
  "too much of an init container": () => ({
    pod: { initContainers: [{ name: "init", image: "nginx", resources: { requests: { cpu: "300" } } }] },
  }),
  "too much of two containers": () => ({
    requests: { cpu: "200" },
    pod: {
      initContainers: [
        { name: "side", image: "nginx", restartPolicy: "Always", resources: { requests: { cpu: "100" } } },
      ],
    },
  }),
  "a GPU that no type has": () => ({ limits: { "nvidia.com/gpu": "1" } }),
  "a CPU limit": (r) => ({ pool: { limits: { cpu: r.pick(["0", "1", "2"]) } }, requests: { cpu: "3" } }),
  "a memory limit": () => ({ pool: { limits: { memory: "1Gi" } } }),
  "a limit of nodes": () => ({ pool: { limits: { nodes: "0" } } }),
  "a limit that hides larger types": () => ({ pool: { limits: { cpu: "8" } }, requests: { cpu: "12" } }),
  minValues: () => ({ requirements: [{ key: "karpenter.kwok.sh/instance-family", operator: "Exists", minValues: 9 }] }),
  "minValues of a list": () => ({
    requirements: [
      { ...isIn("node.kubernetes.io/instance-type", "c-2x-amd64-linux", "c-4x-amd64-linux"), minValues: 2 },
    ],
    requests: { cpu: "3" },
  }),
  "pod affinity to nobody": (r) => ({
    pod: podTerm("podAffinity", "nobody", r.pick([zoneKey, "kubernetes.io/hostname"])),
  }),
  "spread over a label nobody has": () => ({
    pod: {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: "rack", whenUnsatisfiable: "DoNotSchedule", labelSelector: own },
      ],
    },
  }),
  "a volume in a zone the pool leaves out": () => ({
    requirements: inZones("a", "b"),
    objects: [volume("disk-1", "c"), claim("data", { storageClassName: "", volumeName: "disk-1" }, true)],
    pod: claimVolume("data"),
    kinds: withClaims,
  }),
  "a claim of a misspelled name": () => ({
    objects: [storageClass("quick"), claim("data", { storageClassName: "quick" })],
    pod: claimVolume("dta"),
    kinds: withClaims,
  }),
  "a claim that does not exist": () => ({
    objects: [storageClass("quick")],
    pod: claimVolume("archive"),
    kinds: withClaims,
  }),
  "a storage class that is misspelled": () => ({
    objects: [storageClass("quick"), claim("data", { storageClassName: "qiuck" })],
    pod: claimVolume("data"),
    kinds: withClaims,
  }),
  "a storage class of zones the pool leaves out": () => ({
    requirements: inZones("a"),
    objects: [
      storageClass("zonal", {
        allowedTopologies: [{ matchLabelExpressions: [{ key: zoneKey, values: ["test-zone-c"] }] }],
      }),
      claim("data", { storageClassName: "zonal" }),
    ],
    pod: claimVolume("data"),
    kinds: withClaims,
  }),
  "a database's volume in a zone the pool leaves out": () => ({
    requirements: inZones("a", "b"),
    objects: [volume("disk-1", "c"), claim("data-stuck-0", { storageClassName: "", volumeName: "disk-1" }, true)],
    kinds: ["StatefulSet"],
  }),
  "a database's volume in a zone that is gone": () => ({
    objects: [volume("disk-1", "z"), claim("data-stuck-0", { storageClassName: "", volumeName: "disk-1" }, true)],
    kinds: ["StatefulSet"],
  }),
  "a taint and a zone": () => ({
    template: { taints: [taint("dedicated", "batch")] },
    requirements: inZones("a"),
    ...selector({ [zoneKey]: "test-zone-b" }),
  }),
  "a limit and a taint": () => ({
    template: { taints: [taint("dedicated", "batch")] },
    pool: { limits: { cpu: "1" } },
    requests: { cpu: "3" },
  }),
  "only a static pool": () => ({ pool: { replicas: 0 } }),
};

/** A case of a cause, or of any; the same random gives the same. */
export function generatedCase(
  random: Random,
  cause = random.pick(Object.keys(causeMakers)),
  wanted?: WorkloadKind,
): GeneratedCase {
  const make = causeMakers[cause];
  if (make === undefined) throw new Error(`there is no cause ${cause}`);
  const draft = make(random);
  const { kinds = workloadKinds } = draft;
  const kind = wanted !== undefined && kinds.includes(wanted) ? wanted : random.pick(kinds);
  const objects = [nodeClass, nodePool(draft), ...(draft.objects ?? [])];
  return { cause, objects: objects as readonly KubeObject[], workload: workload(kind, draft) };
}

const nodeClass = {
  apiVersion: "karpenter.kwok.sh/v1alpha1",
  kind: "KWOKNodeClass",
  metadata: { name: "default" },
  spec: {},
};

function nodePool({ requirements = [], poolLabels, pool = {}, template = {} }: CaseDraft) {
  const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
  const platform = [isIn("kubernetes.io/arch", "amd64"), isIn("kubernetes.io/os", "linux")];
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: "main" },
    spec: {
      ...pool,
      template: {
        ...(poolLabels && { metadata: { labels: poolLabels } }),
        spec: { nodeClassRef, requirements: [...platform, ...requirements], ...template },
      },
    },
  };
}

function workload(kind: WorkloadKind, { pod = {}, requests, limits, kinds = [] }: CaseDraft): KubeObject {
  const resources = { requests: { cpu: "1", ...requests }, ...(limits && { limits }) };
  const spec = { containers: [{ name: "app", image: "nginx", resources }], ...pod };
  const labels = { app: "stuck" };
  const metadata = { name: "stuck", namespace: "default" };
  if (kind === "Pod") return { apiVersion: "v1", kind, metadata: { ...metadata, labels }, spec };
  const template = { metadata: { labels }, spec };
  if (kind === "Job") {
    return {
      apiVersion: "batch/v1",
      kind,
      metadata,
      spec: { template: { metadata: { labels }, spec: { ...spec, restartPolicy: "Never" } } },
    };
  }
  const isDatabase = kind === "StatefulSet" && kinds.length === 1;
  const more = {
    ...(kind === "StatefulSet" && { serviceName: "stuck" }),
    ...(isDatabase && { volumeClaimTemplates: [{ metadata: { name: "data" }, spec: claim("data", {}).spec }] }),
  };
  return { apiVersion: "apps/v1", kind, metadata, spec: { selector: { matchLabels: labels }, template, ...more } };
}
