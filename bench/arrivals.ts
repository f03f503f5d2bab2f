import type { Pod, PodSpec } from "../src/api/kubernetes/pod.ts";
import { groups, labels } from "../src/api/labels.ts";
import type { KubeObject } from "../src/api/object.ts";
import { Random } from "../src/util/random.ts";
import { diverse } from "./mixes.ts";
import { onEc2, onFake, onKwok, type Workload } from "./workloads.ts";

/** Many pods that arrive at once: what the controller has to plan between other things. */
export const arrivals: ReadonlyMap<string, () => Workload> = new Map<string, () => Workload>([
  ["diverse", () => onFake("diverse", apart(diverse(count)))],
  ["diverse-kwok", () => onKwok("diverse-kwok", apart(diverse(count)))],
  ["identical", () => onKwok("identical", apart(ofOwners(1)))],
  ["owners", () => onKwok("owners", apart(ofOwners(500)))],
  ["refused", () => onKwok("refused", apart(ofOwners(500).map(elsewhere)))],
  ["refused-by-spread", () => onKwok("refused-by-spread", apart(ofOwners(500).map(spreadOverTooFew)))],
  ["limited", () => onKwok("limited", apart(diverse(count)), { cpu: "400" })],
  ["singular", () => onKwok("singular", [standardClass, ...ofOwners(500).flatMap(withVolume)])],
  ["standing", () => onKwok("standing", [...standing(), ...apart(ofOwners(500))])],
  ["standing-few", () => onKwok("standing-few", [...standing(), ...apart(ofOwners(500).slice(0, 20))])],
  ["wishful", () => onKwok("wishful", [...standing(), ...apart(ofOwners(500).map(withWishes))])],
  ["ec2", () => onEc2("ec2", apart(ofOwners(500)))],
]);

const count = 20_000;

/** As they come from an API server: no two share a part. */
function apart(pods: readonly Pod[]): readonly KubeObject[] {
  return pods.map((pod) => structuredClone(pod) as KubeObject);
}

const zones = { topologyKey: labels.zone, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" };

/** Equal shares of so many workloads, some of them spread, some apart from themselves, some with wishes. */
export function ofOwners(owners: number, pods = count): readonly Pod[] {
  const random = new Random(7);
  const specs = Array.from({ length: owners }, (_, owner) => specOf(random, owner));
  return Array.from({ length: pods }, (_, index) => {
    const owner = index % owners;
    const name = `owner-${owner}-${index}`;
    const spec = specs[owner] ?? {};
    const creationTimestamp = new Date(Date.parse("2026-01-01T00:00:00Z") + (index % 60) * 1000).toISOString();
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        namespace: "default",
        uid: `uid-${name}`,
        creationTimestamp,
        labels: { app: `owner-${owner}` },
      },
      spec,
      status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] },
    };
  });
}

function specOf(random: Random, owner: number): PodSpec {
  const own = { matchLabels: { app: `owner-${owner}` } };
  const cpu = `${(1 + random.int(39)) * 100}m`;
  const memory = `${(1 + random.int(63)) * 128}Mi`;
  const spec: PodSpec = { containers: [{ name: "main", resources: { requests: { cpu, memory } } }] };
  if (owner % 4 === 1) return { ...spec, topologySpreadConstraints: [{ ...zones, labelSelector: own }] };
  const away = { topologyKey: labels.hostname, labelSelector: own };
  if (owner % 10 === 2) {
    return { ...spec, affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [away] } } };
  }
  if (owner % 10 !== 3) return spec;
  const preferred = [{ weight: 1, podAffinityTerm: away }];
  return { ...spec, affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } };
}

/** Nowhere at all. */
function elsewhere(pod: Pod): Pod {
  return { ...pod, spec: { ...pod.spec, nodeSelector: { [labels.zone]: "nowhere" } } };
}

/** A few of each are placed, then no zone will do. */
function spreadOverTooFew(pod: Pod): Pod {
  const labelSelector = { matchLabels: pod.metadata.labels ?? {} };
  return { ...pod, spec: { ...pod.spec, topologySpreadConstraints: [{ ...zones, minDomains: 99, labelSelector }] } };
}

/** Five preferences that cannot be had, dropped one after the other, and one that can. */
function withWishes(pod: Pod): Pod {
  const elsewhere = ["v", "w", "x", "y", "z"].map((zone, index) => ({
    weight: 10 + index,
    preference: { matchExpressions: [{ key: labels.zone, operator: "In" as const, values: [zone] }] },
  }));
  const away = {
    weight: 1,
    podAffinityTerm: { topologyKey: labels.hostname, labelSelector: { matchLabels: pod.metadata.labels ?? {} } },
  };
  const affinity = {
    nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: elsewhere },
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [away] },
  };
  return { ...pod, spec: { ...pod.spec, affinity } };
}

const standardClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "standard" },
  provisioner: "ebs.csi.aws.com",
  volumeBindingMode: "WaitForFirstConsumer",
};

/** A volume of its own makes every pod one of a kind. */
function withVolume(pod: Pod): readonly KubeObject[] {
  const claimName = `data-${pod.metadata.name}`;
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName } }];
  const claim: KubeObject = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: claimName, namespace: "default" },
    spec: { storageClassName: "standard", resources: { requests: { storage: "1Gi" } } },
  };
  return [claim, structuredClone({ ...pod, spec: { ...pod.spec, volumes } }) as KubeObject];
}

/** A cluster that is there already: 5,000 nodes, nearly full, with ten pods each. */
function standing(): readonly KubeObject[] {
  return Array.from({ length: 5000 }, (_, index) => machine(index)).flat();
}

const perNode = 10;

function machine(index: number): readonly KubeObject[] {
  const name = `node-${String(index).padStart(5, "0")}`;
  const providerID = `kwok://${name}`;
  const size = { cpu: "16", memory: "64Gi", pods: "110", "ephemeral-storage": "100Gi" };
  const nodeLabels = {
    [labels.nodePool]: "default",
    [labels.zone]: `test-zone-${"abcd"[index % 4]}`,
    [labels.instanceType]: "m-16x-amd64-linux",
    [labels.capacityType]: index % 3 === 0 ? "spot" : "on-demand",
    [labels.arch]: "amd64",
    [labels.os]: "linux",
    [labels.hostname]: name,
    [labels.registered]: "true",
    [labels.initialized]: "true",
    "example.com/rack": `rack-${index % 50}`,
    "example.com/serial": String(index),
  };
  const nodeClassRef = { group: groups.kwok, kind: "KWOKNodeClass", name: "default" };
  return [
    {
      apiVersion: `${groups.karpenter}/v1`,
      kind: "NodeClaim",
      metadata: { name, labels: nodeLabels },
      spec: { nodeClassRef, requirements: [] },
      status: { providerID, nodeName: name, capacity: size, allocatable: size },
    },
    {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: nodeLabels },
      spec: { providerID },
      status: { capacity: size, allocatable: size },
    },
    ...Array.from({ length: perNode }, (_, at) => resident(name, index * perNode + at)),
  ];
}

/** A tenth of the pods keep away from their like. */
function resident(nodeName: string, index: number): KubeObject {
  const app = `resident-${index % 400}`;
  const term = { topologyKey: labels.hostname, labelSelector: { matchLabels: { app } } };
  const requests = { cpu: "1500m", memory: "6Gi" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `${app}-${index}`, namespace: "default", labels: { app, tier: "web", "pod-template-hash": app } },
    spec: {
      nodeName,
      containers: [{ name: "main", resources: { requests } }],
      ...(index % 400 < 40 && {
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
      }),
    },
    status: { phase: "Running" },
  };
}
