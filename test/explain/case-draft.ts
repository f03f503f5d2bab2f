import type { KubeObject } from "../../src/api/object.ts";
import type { Random } from "../../src/util/random.ts";

/** Objects of a small cluster in which one workload has no place, for one cause. */
export interface GeneratedCase {
  readonly cause: string;
  /** Without the workload. */
  readonly objects: readonly KubeObject[];
  /** Workloads that run before the one of the case is created. */
  readonly running: readonly KubeObject[];
  readonly workload: KubeObject;
  /** How many pods of the workload have a place all the same. */
  readonly fits: number;
  /** What a cluster would find out about an object, which a file has to say. */
  readonly found?: FoundCondition | undefined;
}

/** A condition of the objects of a kind that is not True. */
export interface FoundCondition {
  readonly kind: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

type Spec = Readonly<Record<string, unknown>>;
export type Maker = (random: Random) => CaseDraft;

/** What is wrong, beside what would be right. */
export interface CaseDraft {
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
  /** Of the workload, and how many of its pods have a place. */
  readonly replicas?: number;
  readonly fits?: number;
  /** Pools beside the one. */
  readonly pools?: readonly object[];
  /** Workloads that run before. */
  readonly running?: readonly object[];
  /** In place of the KWOKNodeClass, and the pool's reference to it. */
  readonly nodeClass?: object;
  readonly nodeClassRef?: Readonly<Record<string, string>>;
  readonly found?: FoundCondition;
}

const workloadKinds = ["Deployment", "StatefulSet", "ReplicaSet", "Job", "CronJob", "Pod"] as const;
export type WorkloadKind = (typeof workloadKinds)[number];

export const zoneKey = "topology.kubernetes.io/zone";
export const selector = (nodeSelector: Readonly<Record<string, string>>): CaseDraft => ({ pod: { nodeSelector } });
export const affinity = (...matchExpressions: readonly object[]): Spec => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
  },
});
export const isIn = (key: string, ...values: readonly string[]) => ({ key, operator: "In", values });
export const taint = (key: string, value?: string, effect = "NoSchedule") => ({ key, ...(value && { value }), effect });
export const inZones = (...zones: readonly string[]) => [isIn(zoneKey, ...zones.map((zone) => `test-zone-${zone}`))];
export const claimVolume = (claimName: string): Spec => ({
  volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
});
export const own = { matchLabels: { app: "stuck" } };
export const podTerm = (kind: string, app: string, topologyKey: string): Spec => ({
  affinity: {
    [kind]: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { app } } }],
    },
  },
});

export function claim(name: string, spec: object, isBound = false) {
  const annotations = isBound ? { annotations: { "pv.kubernetes.io/bind-completed": "yes" } } : {};
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "default", ...annotations },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  };
}

export function volume(name: string, zone: string) {
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

export function storageClass(name: string, more: object = {}) {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name },
    provisioner: "disk.sim.karpenter.sh",
    volumeBindingMode: "WaitForFirstConsumer",
    ...more,
  };
}

export const withClaims: readonly WorkloadKind[] = ["Deployment", "ReplicaSet", "Job", "CronJob", "Pod"];
const replicated: readonly WorkloadKind[] = ["Deployment", "StatefulSet", "ReplicaSet"];

/** The case of a draft; its pod is made by a kind that the draft allows. */
export function caseOf(cause: string, draft: CaseDraft, random: Random, wanted?: WorkloadKind): GeneratedCase {
  const { kinds = draft.replicas === undefined ? workloadKinds : replicated, running = [], fits = 0 } = draft;
  const kind = wanted !== undefined && kinds.includes(wanted) ? wanted : random.pick(kinds);
  const objects = [
    draft.nodeClass ?? nodeClass,
    nodePool("main", draft),
    ...(draft.pools ?? []),
    ...(draft.objects ?? []),
  ];
  return {
    cause,
    objects: objects as readonly KubeObject[],
    running: running as readonly KubeObject[],
    workload: workload(kind, draft),
    fits,
    found: draft.found,
  };
}

const nodeClass = {
  apiVersion: "karpenter.kwok.sh/v1alpha1",
  kind: "KWOKNodeClass",
  metadata: { name: "default" },
  spec: {},
};

const kwokRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };

/** A pool of machines for amd64 and Linux. */
export function nodePool(
  name: string,
  { requirements = [], poolLabels, pool = {}, template = {}, nodeClassRef = kwokRef }: CaseDraft,
) {
  const platform = [isIn("kubernetes.io/arch", "amd64"), isIn("kubernetes.io/os", "linux")];
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: {
      ...pool,
      template: {
        ...(poolLabels && { metadata: { labels: poolLabels } }),
        spec: { nodeClassRef, requirements: [...platform, ...requirements], ...template },
      },
    },
  };
}

function workload(kind: WorkloadKind, { pod = {}, requests, limits, kinds = [], replicas }: CaseDraft): KubeObject {
  const resources = { requests: { cpu: "1", ...requests }, ...(limits && { limits }) };
  const spec = { containers: [{ name: "app", image: "nginx", resources }], ...pod };
  const labels = { app: "stuck" };
  const metadata = { name: "stuck", namespace: "default" };
  if (kind === "Pod") return { apiVersion: "v1", kind, metadata: { ...metadata, labels }, spec };
  const template = { metadata: { labels }, spec };
  if (kind === "Job" || kind === "CronJob") {
    const job = { template: { metadata: { labels }, spec: { ...spec, restartPolicy: "Never" } } };
    const jobSpec =
      kind === "Job" ? job : { schedule: "* * * * *", concurrencyPolicy: "Forbid", jobTemplate: { spec: job } };
    return { apiVersion: "batch/v1", kind, metadata, spec: jobSpec };
  }
  const isDatabase = kind === "StatefulSet" && kinds.length === 1;
  const more = {
    ...(kind === "StatefulSet" && { serviceName: "stuck" }),
    ...(replicas !== undefined && { replicas }),
    ...(isDatabase && { volumeClaimTemplates: [{ metadata: { name: "data" }, spec: claim("data", {}).spec }] }),
  };
  return { apiVersion: "apps/v1", kind, metadata, spec: { selector: { matchLabels: labels }, template, ...more } };
}

/** A Deployment of another app. */
export function deployment(
  app: string,
  pod: Spec = {},
  { replicas = 1, container = {} }: { replicas?: number; container?: Spec } = {},
) {
  const containers = [{ name: "app", image: "nginx", resources: { requests: { cpu: "1" } }, ...container }];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: app, namespace: "default" },
    spec: {
      replicas,
      selector: { matchLabels: { app } },
      template: { metadata: { labels: { app } }, spec: { containers, ...pod } },
    },
  };
}
