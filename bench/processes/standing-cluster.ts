import { nodePoolHashVersion } from "../../src/api/hash/hash-drift.ts";
import { nodePoolHash } from "../../src/api/hash/node-pool-hash.ts";
import { annotations, finalizers, groups, labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { JournalEntry } from "../../src/control-plane/store/journal.ts";

export const standingSize = { nodes: 5_000, podsPerNode: 10 };
const poolNames = ["default", "batch", "memory"];

const template = {
  spec: {
    requirements: [{ key: labels.os, operator: "In" as const, values: ["linux"] }],
    nodeClassRef: { group: groups.kwok, kind: "KWOKNodeClass", name: "default" },
    expireAfter: "Never",
  },
};

export const pools: readonly KubeObject[] = [
  { apiVersion: `${groups.kwok}/v1alpha1`, kind: "KWOKNodeClass", metadata: { name: "default" }, spec: {} },
  ...poolNames.map((name) => ({
    apiVersion: `${groups.karpenter}/v1`,
    kind: "NodePool",
    metadata: { name },
    spec: { template, disruption: { consolidateAfter: "30s", budgets: [{ nodes: "10%" }] } },
  })),
];

/** A cluster that has stood for a while, as a journal would have kept it: nobody has anything to do in it. */
export function* standingCluster(now: number): Iterable<JournalEntry> {
  let revision = 1;
  const kept = (storage: string, key: string, object: KubeObject): JournalEntry => {
    const metadata = { ...object.metadata, uid: uidOf(revision), resourceVersion: String(revision) };
    return { op: "put", revision: revision++, storage, key, object: { ...object, metadata } };
  };
  for (let index = 0; index < standingSize.nodes; index++) {
    const name = nodeName(index);
    yield kept(`nodeclaims.${groups.karpenter}`, name, claim(index, now));
    yield kept("nodes", name, node(index, now));
    for (let slot = 0; slot < standingSize.podsPerNode; slot++) {
      const one = standingPod({ ordinal: index * standingSize.podsPerNode + slot, node: name, now });
      yield kept("pods", `${one.metadata.namespace}/${one.metadata.name}`, one);
    }
  }
}

export function nodeName(index: number): string {
  return `default-${String(index).padStart(5, "0")}`;
}

const size = { cpu: "16", memory: "64Gi", pods: "110", "ephemeral-storage": "100Gi" };

function machineLabels(index: number): Readonly<Record<string, string>> {
  return {
    [labels.nodePool]: poolOf(index),
    [labels.zone]: `test-zone-${"abcd"[index % 4]}`,
    [labels.instanceType]: "m-16x-amd64-linux",
    [labels.capacityType]: index % 3 === 0 ? "spot" : "on-demand",
    [labels.arch]: "amd64",
    [labels.os]: "linux",
    "karpenter.kwok.sh/instance-cpu": "16",
    "karpenter.kwok.sh/instance-memory": "65536",
    "karpenter.kwok.sh/instance-family": "m",
    "karpenter.kwok.sh/instance-size": "16x",
    "karpenter.kwok.sh/kwoknodeclass": "default",
    "kwok-partition": "a",
  };
}

function poolOf(index: number): string {
  return poolNames[index % poolNames.length] ?? "default";
}

const stamps = {
  [annotations.nodePoolHash]: nodePoolHash(template),
  [annotations.nodePoolHashVersion]: nodePoolHashVersion,
};

function claim(index: number, now: number): KubeObject {
  const name = nodeName(index);
  const types = ["Launched", "Registered", "Initialized", "Ready", "ConsistentStateFound", "Consolidatable"];
  return {
    apiVersion: `${groups.karpenter}/v1`,
    kind: "NodeClaim",
    metadata: {
      name,
      generateName: `${poolOf(index)}-`,
      creationTimestamp: dayBefore(now),
      generation: 1,
      labels: machineLabels(index),
      annotations: stamps,
      finalizers: [finalizers.termination],
    },
    spec: {
      nodeClassRef: template.spec.nodeClassRef,
      expireAfter: "Never",
      requirements: [
        ...template.spec.requirements,
        { key: labels.instanceType, operator: "In", values: ["m-16x-amd64-linux", "c-16x-amd64-linux"] },
        { key: labels.nodePool, operator: "In", values: [poolOf(index)] },
      ],
      resources: { requests: { cpu: "15100m", memory: "60Gi", pods: "12" } },
    },
    status: {
      providerID: `kwok://${name}`,
      nodeName: name,
      imageID: "",
      capacity: size,
      allocatable: size,
      conditions: types.map((type) => condition(type, now)),
    },
  };
}

function condition(type: string, now: number): Readonly<Record<string, unknown>> {
  const lastTransitionTime = dayBefore(now);
  return { type, status: "True", reason: type, message: "", observedGeneration: 1, lastTransitionTime };
}

function node(index: number, now: number): KubeObject {
  const name = nodeName(index);
  const lastHeartbeatTime = isoTime(now);
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      creationTimestamp: dayBefore(now),
      labels: {
        ...machineLabels(index),
        [labels.hostname]: name,
        [labels.registered]: "true",
        [labels.initialized]: "true",
        "kwok.x-k8s.io/node": "fake",
      },
      annotations: { ...stamps, "node.alpha.kubernetes.io/ttl": "0", "kwok.x-k8s.io/node": "fake" },
      finalizers: [finalizers.termination],
      ...managedBy("kubelet", ["f:status", "f:metadata"]),
    },
    spec: { providerID: `kwok://${name}` },
    status: {
      capacity: size,
      allocatable: size,
      conditions: ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => ({
        ...condition(type, now),
        status: type === "Ready" ? "True" : "False",
        reason: `Kubelet${type}`,
        lastHeartbeatTime,
      })),
      addresses: [
        { type: "InternalIP", address: ip(index) },
        { type: "Hostname", address: name },
      ],
      nodeInfo: { architecture: "amd64", operatingSystem: "linux", kubeletVersion: "v1.32.1", osImage: "linux" },
    },
  };
}

export interface StandingPod {
  readonly ordinal: number;
  readonly node: string;
  readonly now: number;
}

/** As large as they are in practice: some five kilobytes. One of 400 workloads, a tenth of which keep apart. */
export function standingPod({ ordinal, node, now }: StandingPod): KubeObject {
  const app = `app-${ordinal % 400}`;
  const selector = { matchLabels: { app } };
  const apart = [{ topologyKey: labels.hostname, labelSelector: selector }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${app}-6d4cf56db6-${ordinal}`,
      generateName: `${app}-6d4cf56db6-`,
      namespace: "default",
      creationTimestamp: dayBefore(now),
      generation: 1,
      labels: { app, tier: "web", team: `team-${ordinal % 20}`, "pod-template-hash": "6d4cf56db6" },
      annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "8080" },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: `${app}-6d4cf56db6`,
          uid: `uid-${app}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      ...managedBy("kube-controller-manager", ["f:metadata", "f:spec"]),
    },
    spec: {
      nodeName: node,
      schedulerName: "default-scheduler",
      serviceAccountName: "default",
      restartPolicy: "Always",
      dnsPolicy: "ClusterFirst",
      terminationGracePeriodSeconds: 30,
      priority: 0,
      preemptionPolicy: "PreemptLowerPriority",
      securityContext: {},
      tolerations: ["not-ready", "unreachable"].map((state) => ({
        key: `node.kubernetes.io/${state}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      })),
      ...(ordinal % 400 < 40 && {
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: apart } },
      }),
      ...(ordinal % 4 === 1 && {
        topologySpreadConstraints: [
          { topologyKey: labels.zone, maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway", labelSelector: selector },
        ],
      }),
      containers: [container(app, ordinal)],
      volumes: [{ name: "kube-api-access", projected: { sources: [{ configMap: { name: "kube-root-ca.crt" } }] } }],
    },
    status: podStatus({ ordinal, now, isReady: true }),
  };
}

function container(app: string, ordinal: number): Readonly<Record<string, unknown>> {
  const probe = { httpGet: { path: "/healthz", port: 8080, scheme: "HTTP" }, periodSeconds: 10, timeoutSeconds: 1 };
  return {
    name: "main",
    image: `registry.example/${app}:1.2.3`,
    imagePullPolicy: "IfNotPresent",
    ports: [{ containerPort: 8080, name: "http", protocol: "TCP" }],
    env: ["REGION", "LOG_LEVEL", "ENDPOINT", "FEATURES"].map((name) => ({
      name,
      value: `${name.toLowerCase()}-value`,
    })),
    resources: { requests: { cpu: "1400m", memory: "5Gi" }, limits: { memory: "6Gi" } },
    readinessProbe: probe,
    livenessProbe: { ...probe, initialDelaySeconds: 10 + (ordinal % 400) },
    volumeMounts: [{ name: "kube-api-access", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" }],
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  };
}

export function podStatus({ ordinal, now, isReady }: { ordinal: number; now: number; isReady: boolean }) {
  const types = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
  return {
    phase: "Running",
    startTime: dayBefore(now),
    podIP: ip(ordinal),
    podIPs: [{ ip: ip(ordinal) }],
    qosClass: "Burstable",
    conditions: types.map((type) => ({
      type,
      status: type.endsWith("Ready") && !isReady ? "False" : "True",
      lastProbeTime: null,
      lastTransitionTime: type.endsWith("Ready") ? isoTime(now) : dayBefore(now),
    })),
    containerStatuses: [
      {
        name: "main",
        ready: isReady,
        started: true,
        restartCount: 0,
        image: "registry.example/app:1.2.3",
        imageID: `registry.example/app@sha256:${"0123456789abcdef".repeat(4)}`,
        containerID: `containerd://${"0123456789abcdef".repeat(4)}`,
        state: { running: { startedAt: dayBefore(now) } },
        resources: { requests: { cpu: "1400m", memory: "5Gi" }, limits: { memory: "6Gi" } },
        allocatedResources: { cpu: "1400m", memory: "5Gi" },
      },
    ],
  };
}

/** Of the size that real ones have. */
function managedBy(manager: string, fields: readonly string[]) {
  const leaves = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`f:field${at}`, { ".": {}, "f:name": {} }]));
  const fieldsV1 = Object.fromEntries(fields.map((field) => [field, leaves]));
  return {
    managedFields: [
      {
        manager,
        operation: "Update",
        apiVersion: "v1",
        time: "2026-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1,
      },
    ],
  };
}

function uidOf(ordinal: number): string {
  return `00000000-0000-4000-8000-${ordinal.toString(16).padStart(12, "0")}`;
}

function ip(ordinal: number): string {
  return `10.${(ordinal >> 16) & 255}.${(ordinal >> 8) & 255}.${ordinal & 255}`;
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

function dayBefore(now: number): string {
  return isoTime(now - 24 * 60 * 60_000);
}
