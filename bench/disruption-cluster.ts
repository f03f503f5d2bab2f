import { annotations, labels } from "../src/api/labels.ts";
import type { KubeObject } from "../src/api/object.ts";
import { Random } from "../src/util/random.ts";

/** Running clusters to consolidate, from a fixed seed: nodes of mixed types in three pools and four zones. */

const pools = ["general", "batch", "web"] as const;
const zones = ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"] as const;
const typeSizes = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256] as const;
/** GiB of memory for each vCPU, by family. */
const families = { c: 2, s: 4, m: 8 } as const;
const podCpusMilli = [50, 100, 200, 250, 500, 1000] as const;
const deploymentCount = 40;

export interface DisruptionClusterOptions {
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly seed?: number;
}

interface DeploymentShape {
  readonly name: string;
  readonly cpuMilli: number;
  readonly memoryMi: number;
  /** At most one pod a node. */
  readonly isApart: boolean;
  readonly isProtected: boolean;
  readonly spec: object;
}

/** Node fills are drawn between 20 % and 95 %, so that about a third of the nodes can go. */
export function disruptionCluster({ nodes, podsPerNode, seed = 7 }: DisruptionClusterOptions): readonly KubeObject[] {
  const random = new Random(seed);
  const deployments = Array.from({ length: deploymentCount }, (_, index) => deploymentShape(index, random));
  return [
    ...pools.map(nodePool),
    ...deployments.filter((_, index) => index % 10 === 3).map(disruptionBudget),
    ...Array.from({ length: nodes }, (_, index) =>
      nodeWithPods(`node-${String(index).padStart(5, "0")}`, { deployments, podsPerNode, random }),
    ).flat(),
  ];
}

function nodePool(name: string): KubeObject {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: {
      disruption: {
        consolidationPolicy: "WhenEmptyOrUnderutilized",
        consolidateAfter: "0s",
        budgets: [{ nodes: "100%" }],
      },
      template: {
        spec: {
          nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
          requirements: [
            { key: labels.os, operator: "In", values: ["linux"] },
            { key: labels.arch, operator: "In", values: ["amd64"] },
            { key: labels.capacityType, operator: "In", values: ["on-demand"] },
          ],
        },
      },
    },
  };
}

/** A third spread over zones, a tenth kept apart by host, a tenth behind a budget, a twentieth not to be disrupted. */
function deploymentShape(index: number, random: Random): DeploymentShape {
  const name = `app-${String(index).padStart(2, "0")}`;
  const labelSelector = { matchLabels: { app: name } };
  const cpuMilli = random.pick(podCpusMilli);
  const memoryMi = Math.round((cpuMilli / 1000) * (1 + random.int(6)) * 1024);
  const isApart = index % 10 === 7;
  const spread = { topologyKey: labels.zone, maxSkew: 5, whenUnsatisfiable: "DoNotSchedule", labelSelector };
  const apart = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: labels.hostname, labelSelector }] };
  const requests = { cpu: `${cpuMilli}m`, memory: `${memoryMi}Mi` };
  return {
    name,
    cpuMilli,
    memoryMi,
    isApart,
    isProtected: index % 20 === 11,
    spec: {
      containers: [{ name: "main", image: "app", resources: { requests } }],
      ...(index % 3 === 0 && { topologySpreadConstraints: [spread] }),
      ...(isApart && { affinity: { podAntiAffinity: apart } }),
    },
  };
}

/** Half of its pods may be away at any time. */
function disruptionBudget({ name }: DeploymentShape): KubeObject {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace: "default" },
    spec: { maxUnavailable: "50%", selector: { matchLabels: { app: name } } },
    status: { disruptionsAllowed: 1, expectedPods: 2, currentHealthy: 2, desiredHealthy: 1 },
  };
}

interface NodeDraw {
  readonly deployments: readonly DeploymentShape[];
  readonly podsPerNode: number;
  readonly random: Random;
}

function nodeWithPods(name: string, { deployments, podsPerNode, random }: NodeDraw): readonly KubeObject[] {
  const fill = 0.2 + random.next() * 0.75;
  const chosen: DeploymentShape[] = [];
  while (chosen.length < podsPerNode) {
    const one = random.pick(deployments);
    // A protected pod on most nodes would hold them all: one node in twenty has some.
    if ((one.isApart && chosen.includes(one)) || (one.isProtected && random.int(podsPerNode) > 0)) continue;
    chosen.push(one);
  }
  const type = smallestType(chosen, fill);
  const nodeLabels = {
    [labels.nodePool]: random.pick(pools),
    [labels.instanceType]: type,
    [labels.zone]: random.pick(zones),
    [labels.capacityType]: "on-demand",
  };
  return [
    { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name, labels: nodeLabels } },
    { apiVersion: "v1", kind: "Node", metadata: { name } },
    ...chosen.map((one, index) => boundPod(`${one.name}-${name}-${index}`, one, name)),
  ];
}

/** The smallest type of which the pods take no more than the given share. */
function smallestType(pods: readonly DeploymentShape[], fill: number): string {
  const cpu = pods.reduce((sum, { cpuMilli }) => sum + cpuMilli, 0) / 1000 / fill;
  const memoryGi = pods.reduce((sum, { memoryMi }) => sum + memoryMi, 0) / 1024 / fill;
  for (const size of typeSizes) {
    for (const [family, ratio] of Object.entries(families)) {
      // The rest is the system's.
      if (size * 0.97 - 0.2 >= cpu && size * ratio * 0.97 - 0.3 >= memoryGi) return `${family}-${size}x-amd64-linux`;
    }
  }
  return "m-256x-amd64-linux";
}

function boundPod(name: string, { name: app, isProtected, spec }: DeploymentShape, nodeName: string): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "default",
      uid: name,
      labels: { app },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: app, uid: app, controller: true }],
      ...(isProtected && { annotations: { [annotations.doNotDisrupt]: "true" } }),
    },
    spec: { ...spec, nodeName },
  };
}
