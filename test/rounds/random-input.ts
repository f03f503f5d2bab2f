import type { KubeObject } from "../../src/api/object.ts";
import { Random } from "../../src/util/random.ts";

const zones = ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"];
const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
const taint = { key: "example.com/team", value: "red", effect: "NoSchedule" };
const toleration = { key: "example.com/team", operator: "Equal", value: "red", effect: "NoSchedule" };
const storageClassName = "disks";

/** Nothing is disrupted: what is played is what provisioning makes. */
const disruption = { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never", budgets: [{ nodes: "0" }] };

/** A cluster and its workloads, drawn from a seed: what a person could write in a file. */
export function randomInput(seed: string): readonly KubeObject[] {
  const random = new Random(seed);
  const pools = drawPools(random.fork("pools"));
  return [
    object("karpenter.kwok.sh/v1alpha1", "KWOKNodeClass", "default", {}),
    ...pools,
    ...drawDaemons(random.fork("daemons")),
    ...drawVolumes(random.fork("volumes")),
    ...drawRunning(random.fork("running")),
    ...drawWorkloads(random.fork("workloads")),
    ...drawBuffers(random.fork("buffers")),
  ];
}

function drawPools(random: Random): readonly KubeObject[] {
  const count = 1 + random.int(3);
  const dynamic = Array.from({ length: count }, (_, index) => drawPool(`pool-${index}`, random.fork(String(index))));
  return isDrawn(random, 0.3) ? [...dynamic, drawStaticPool(random.fork("static"))] : dynamic;
}

function drawPool(name: string, random: Random): KubeObject {
  const limits = isDrawn(random, 0.6) ? drawLimits(random) : undefined;
  return nodePool(name, random, {
    ...(limits && { limits }),
    ...(isDrawn(random, 0.4) && { weight: 1 + random.int(100) }),
  });
}

function drawStaticPool(random: Random): KubeObject {
  const limits = isDrawn(random, 0.3) ? { nodes: String(1 + random.int(3)) } : undefined;
  return nodePool("static", random, { replicas: random.int(4), ...(limits && { limits }) });
}

function nodePool(name: string, random: Random, spec: object): KubeObject {
  return object("karpenter.sh/v1", "NodePool", name, {
    ...spec,
    disruption,
    template: {
      metadata: { labels: { "example.com/pool": name } },
      spec: {
        nodeClassRef,
        expireAfter: "Never",
        requirements: drawRequirements(random),
        ...(name !== "pool-0" && isDrawn(random, 0.25) && { taints: [taint] }),
      },
    },
  });
}

function drawLimits(random: Random): object {
  return random.pick([
    { cpu: String(4 + random.int(60)) },
    { cpu: String(4 + random.int(200)) },
    { memory: `${16 + random.int(128)}Gi` },
    { nodes: String(1 + random.int(5)) },
    { cpu: String(8 + random.int(60)), nodes: String(2 + random.int(6)) },
  ]);
}

function drawRequirements(random: Random): readonly object[] {
  const capacityTypes = random.pick([["on-demand"], ["spot"], ["spot", "on-demand"]]);
  return [
    isIn("kubernetes.io/arch", "amd64"),
    isIn("kubernetes.io/os", "linux"),
    isIn("karpenter.sh/capacity-type", ...capacityTypes),
    ...(isDrawn(random, 0.3) ? [isIn("topology.kubernetes.io/zone", ...zones.slice(0, 2 + random.int(2)))] : []),
    ...(isDrawn(random, 0.4)
      ? [{ key: "karpenter.kwok.sh/instance-cpu", operator: "Lt", values: [random.pick(["5", "9", "17", "33"])] }]
      : []),
    ...(isDrawn(random, 0.2) ? [isIn("karpenter.kwok.sh/instance-family", random.pick(["c", "m", "s"]))] : []),
  ];
}

function drawDaemons(random: Random): readonly KubeObject[] {
  if (!isDrawn(random, 0.4)) return [];
  const selected = isDrawn(random, 0.3) ? { nodeSelector: { "example.com/pool": "pool-0" } } : {};
  // Agents that come with the node, before other pods take their room.
  const joining = { key: "karpenter.sh/unregistered", operator: "Exists" };
  const tolerations = [isDrawn(random, 0.5) ? { operator: "Exists" } : joining];
  return [
    object("apps/v1", "DaemonSet", "agent", {
      selector: { matchLabels: { app: "agent" } },
      template: podTemplate("agent", { cpu: "155m", memory: "205Mi" }, { tolerations, ...selected }),
    }),
  ];
}

function drawVolumes(random: Random): readonly KubeObject[] {
  const storageClass = {
    ...object("storage.k8s.io/v1", "StorageClass", storageClassName, undefined),
    provisioner: "disks.example.com",
    volumeBindingMode: "WaitForFirstConsumer",
  };
  return isDrawn(random, 0.3) ? [storageClass, ...zonalDisk("archive", random.pick(zones))] : [storageClass];
}

/** A claim that is bound to a disk in one zone. */
function zonalDisk(name: string, zone: string): readonly KubeObject[] {
  const size = { storage: "10Gi" };
  const terms = [{ matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: [zone] }] }];
  const accessModes = ["ReadWriteOnce"];
  const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", name, namespace: "default" };
  return [
    object("v1", "PersistentVolume", `pv-${name}`, {
      accessModes,
      capacity: size,
      storageClassName,
      claimRef,
      csi: { driver: "disks.example.com", volumeHandle: name },
      nodeAffinity: { required: { nodeSelectorTerms: terms } },
    }),
    {
      ...object("v1", "PersistentVolumeClaim", name, {
        accessModes,
        storageClassName,
        volumeName: `pv-${name}`,
        resources: { requests: size },
      }),
      metadata: { name, annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
    },
  ];
}

/** Nodes of the first pool that run already, and pods on them. */
function drawRunning(random: Random): readonly KubeObject[] {
  if (!isDrawn(random, 0.35)) return [];
  return Array.from({ length: 1 + random.int(2) }, (_, index) => runningNode(`kwok-old-${index}`, random)).flat();
}

function runningNode(name: string, random: Random): readonly KubeObject[] {
  const own = {
    "karpenter.sh/nodepool": "pool-0",
    "example.com/pool": "pool-0",
    "node.kubernetes.io/instance-type": "c-4x-amd64-linux",
    "topology.kubernetes.io/zone": random.pick(zones),
    "karpenter.sh/capacity-type": "on-demand",
  };
  const providerID = `kwok://${name}`;
  const claim = object("karpenter.sh/v1", "NodeClaim", name, { nodeClassRef, requirements: [], expireAfter: "Never" });
  const pods = Array.from({ length: random.int(4) }, (_, index) => {
    const app = `${name}-pod-${index}`;
    const { metadata, spec } = podTemplate(app, { cpu: "900m", memory: "400Mi" }, { nodeName: name });
    return { ...object("v1", "Pod", app, spec), metadata: { name: app, ...metadata } };
  });
  return [
    { ...claim, metadata: { name, labels: own }, status: { providerID, nodeName: name } },
    {
      ...object("v1", "Node", name, { providerID }),
      metadata: { name, labels: { ...own, "kubernetes.io/hostname": name } },
    },
    ...pods,
  ];
}

function drawWorkloads(random: Random): readonly KubeObject[] {
  const count = 1 + random.int(5);
  return Array.from({ length: count }, (_, index) => drawWorkload(`app-${index}`, index, random.fork(String(index))));
}

function drawWorkload(app: string, index: number, random: Random): KubeObject {
  // No two apps ask for the same: pods are placed in the order of what they ask for.
  const cpu = `${random.pick([100, 400, 900, 1400, 2900, 6500]) + index * 7}m`;
  const memory = `${random.pick([128, 700, 1900, 4000, 9000]) + index * 11}Mi`;
  const template = podTemplate(app, isDrawn(random, 0.04) ? { cpu: "900" } : { cpu, memory }, drawPodSpec(app, random));
  const selector = { matchLabels: { app } };
  const replicas = 1 + random.int(9);
  if (isDrawn(random, 0.15)) return statefulSet(app, { replicas: 1 + random.int(3), selector, template });
  return object("apps/v1", "Deployment", app, { replicas, selector, template });
}

function statefulSet(app: string, spec: object): KubeObject {
  const claim = {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName, resources: { requests: { storage: "5Gi" } } },
  };
  const more = { serviceName: app, podManagementPolicy: "Parallel", volumeClaimTemplates: [claim] };
  return object("apps/v1", "StatefulSet", app, { ...spec, ...more });
}

function drawPodSpec(app: string, random: Random): object {
  const labelSelector = { matchLabels: { app } };
  const spread = (topologyKey: string, maxSkew: number) => ({
    topologySpreadConstraints: [{ maxSkew, topologyKey, whenUnsatisfiable: "DoNotSchedule", labelSelector }],
  });
  const apart = (topologyKey: string) => ({
    affinity: {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector }] },
    },
  });
  const prefers = {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [isIn("karpenter.sh/capacity-type", "spot")] } },
        ],
      },
    },
  };
  const constraint = random.pick([
    ...[{}, {}, {}],
    spread("topology.kubernetes.io/zone", 1),
    spread("kubernetes.io/hostname", 1 + random.int(3)),
    apart("kubernetes.io/hostname"),
    apart("topology.kubernetes.io/zone"),
    prefers,
    { nodeSelector: { "topology.kubernetes.io/zone": random.pick(zones) } },
    { nodeSelector: { "example.com/pool": random.pick(["pool-0", "pool-1", "static"]) } },
    { nodeSelector: { "karpenter.sh/capacity-type": random.pick(["spot", "on-demand"]) } },
    { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "archive" } }] },
  ]);
  return { ...constraint, ...(isDrawn(random, 0.4) && { tolerations: [toleration] }) };
}

function drawBuffers(random: Random): readonly KubeObject[] {
  if (!isDrawn(random, 0.3)) return [];
  const { metadata, spec } = podTemplate("spare", { cpu: "1113m", memory: "1313Mi" }, {});
  return [
    { ...object("v1", "PodTemplate", "spare", undefined), template: { metadata, spec } } as KubeObject,
    object("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "spare", {
      podTemplateRef: { name: "spare" },
      replicas: 1 + random.int(4),
    }),
  ];
}

function podTemplate(app: string, requests: object, spec: object) {
  const container = { name: "app", image: "example.com/app:1", resources: { requests } };
  return { metadata: { labels: { app } }, spec: { containers: [container], ...spec } };
}

function object(apiVersion: string, kind: string, name: string, spec: object | undefined): KubeObject {
  return { apiVersion, kind, metadata: { name }, ...(spec !== undefined && { spec }) } as KubeObject;
}

function isIn(key: string, ...values: readonly string[]) {
  return { key, operator: "In", values };
}

function isDrawn(random: Random, chance: number): boolean {
  return random.next() < chance;
}
