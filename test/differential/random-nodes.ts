import type { Draw } from "./draw.ts";
import { apps, keys, poolNames, teams } from "./names.ts";
import type { PlainObject } from "./problem.ts";
import type { RandomCatalogue } from "./random-catalogue.ts";
import { deleted, randomNodeAffinity, randomNodeSelector, randomTerm, randomToleration } from "./random-pods.ts";
import { nodeClassRef, randomTaints } from "./random-pools.ts";

/** Nodes in every state between launched and going away, with what runs on them. */
export function randomNodes(draw: Draw, catalogue: RandomCatalogue): readonly PlainObject[] {
  const count = draw.pick([0, 0, 1, 1, 2, 3, 4]);
  return draw.times(count, (index) => randomNode(draw, `n${index}`, catalogue)).flat();
}

const states = [
  "initialized",
  "initialized",
  "initialized",
  "registered",
  "unregistered",
  "in-flight",
  "unmanaged",
  "deleting",
] as const;

function randomNode(draw: Draw, name: string, catalogue: RandomCatalogue): readonly PlainObject[] {
  const state = draw.pick(states);
  const labels = nodeLabels(draw, catalogue);
  const taints = draw.maybe(0.2, () => ({ taints: nodeTaints(draw) }));
  if (state === "unmanaged") return [unmanagedNode(draw, { name, labels, taints }), ...runningPods(draw, name)];
  const claim: PlainObject = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: {
      name,
      labels: { ...labels, [keys.nodePool]: draw.pick([...poolNames, "pool-a", "pool-a"]) },
      ...(state === "deleting" && deleted),
    },
    spec: {
      nodeClassRef,
      requirements: [],
      ...draw.maybe(0.15, () => ({ startupTaints: [{ key: "example.com/boot", effect: "NoSchedule" }] })),
      ...(state === "in-flight" ? taints : {}),
    },
    ...claimStatus(state),
  };
  if (state === "in-flight") return [claim];
  const node: PlainObject = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, ...draw.maybe(0.1, () => ({ labels: { [keys.team]: draw.pick(teams) } })) },
    spec: taints,
    ...draw.maybe(0.08, () => ({ status: nodeSize(draw) })),
  };
  return [claim, node, ...runningPods(draw, name), ...csiNode(draw, name)];
}

function claimStatus(state: (typeof states)[number]): object {
  const unknown = { registered: ["Initialized"], unregistered: ["Registered", "Initialized"] }[state as string];
  return unknown === undefined ? {} : { status: { conditions: unknown.map((type) => ({ type, status: "Unknown" })) } };
}

function nodeLabels(draw: Draw, { typeNames, zones }: RandomCatalogue): Readonly<Record<string, string>> {
  return {
    [keys.instanceType]: draw.pick(typeNames),
    ...draw.maybe(0.85, () => ({ [keys.zone]: draw.pick([...zones, ...zones, "test-zone-y"]) })),
    ...draw.maybe(0.85, () => ({ [keys.capacityType]: draw.pick(["spot", "on-demand"]) })),
    ...draw.maybe(0.3, () => ({ [keys.team]: draw.pick(teams) })),
    ...draw.maybe(0.1, () => ({ [keys.rack]: draw.pick(["r1", "r2"]) })),
  };
}

function unmanagedNode(
  draw: Draw,
  { name, labels, taints }: { name: string; labels: Readonly<Record<string, string>>; taints: object },
): PlainObject {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { ...labels, ...draw.maybe(0.5, () => ({ [keys.hostname]: `host-${name}` })) } },
    spec: { ...taints, ...draw.maybe(0.5, () => ({ providerID: `other://${name}` })) },
    status: nodeSize(draw),
  };
}

function nodeSize(draw: Draw) {
  const allocatable = {
    cpu: draw.pick(["2", "4", "8", "16"]),
    memory: draw.pick(["4Gi", "16Gi"]),
    pods: draw.pick(["110", "110", "3"]),
    ...draw.maybe(0.2, () => ({ [keys.gpu]: draw.pick(["1", "0"]) })),
  };
  return { capacity: allocatable, allocatable };
}

/** Also taints that an uninitialized node is expected to lose. */
function nodeTaints(draw: Draw): readonly object[] {
  const passing = [
    { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" },
    { key: "example.com/boot", effect: "NoSchedule" },
    { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" },
  ];
  return [...(draw.chance(0.8) ? randomTaints(draw) : []), ...(draw.chance(0.4) ? draw.some(passing, 1, 1) : [])];
}

function runningPods(draw: Draw, nodeName: string): readonly PlainObject[] {
  return draw.times(draw.pick([0, 0, 1, 1, 2, 3]), (index) => runningPod(draw, nodeName, index));
}

function runningPod(draw: Draw, nodeName: string, index: number): PlainObject {
  const app = draw.pick(apps);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${nodeName}-p${index}`,
      ...draw.maybe(0.15, () => ({ namespace: "other" })),
      labels: { app },
      ...draw.maybe(0.08, () => deleted),
      ...draw.maybe(0.8, () => ownedBy("ReplicaSet", `rs-${app}`)),
    },
    spec: {
      nodeName,
      containers: [
        {
          name: "app",
          image: "app",
          ...draw.maybe(0.1, () => ({ ports: [{ containerPort: 80, hostPort: draw.pick([80, 443]) }] })),
          resources: {
            requests: {
              cpu: draw.pick(["100m", "500m", "1"]),
              ...draw.maybe(0.05, () => ({ [keys.gpu]: "1" })),
            },
          },
        },
      ],
      ...draw.maybe(0.2, () => ({
        affinity: {
          podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [randomTerm(draw, app)] },
        },
      })),
      ...draw.maybe(0.08, () => ({
        volumes: [{ name: "v0", persistentVolumeClaim: { claimName: draw.pick(["v0", "v1"]) } }],
      })),
    },
    ...draw.maybe(0.06, () => ({ status: { phase: draw.pick(["Succeeded", "Failed"]) } })),
  };
}

function ownedBy(kind: string, name: string) {
  return { ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid: name, controller: true }] };
}

function csiNode(draw: Draw, name: string): readonly PlainObject[] {
  if (!draw.chance(0.15)) return [];
  const drivers = [
    { name: "disk.example.com", nodeID: name, topologyKeys: null, allocatable: { count: draw.pick([0, 1, 2]) } },
  ];
  return [{ apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata: { name }, spec: { drivers } }];
}

/** DaemonSets without pods of their own: room has to be kept for them everywhere. */
export function randomDaemonSets(draw: Draw, catalogue: RandomCatalogue): readonly PlainObject[] {
  return draw.times(draw.pick([0, 0, 0, 1, 1, 2]), (index) => {
    const amounts = {
      cpu: draw.pick(["100m", "250m", "1"]),
      ...draw.maybe(0.3, () => ({ memory: "100Mi" })),
      ...draw.maybe(0.15, () => ({ [keys.gpu]: "1" })),
    };
    const labels = { app: `daemon-${index}` };
    return {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: `ds${index}`, namespace: "kube-system" },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [
              {
                name: "app",
                image: "app",
                ...draw.maybe(0.1, () => ({ ports: [{ containerPort: 80, hostPort: 80 }] })),
                resources: draw.chance(0.15) ? { limits: amounts } : { requests: amounts },
              },
            ],
            ...draw.maybe(0.4, () => ({ tolerations: [randomToleration(draw)] })),
            ...draw.maybe(0.2, () => ({ nodeSelector: randomNodeSelector(draw, catalogue) })),
            ...draw.maybe(0.15, () => ({ affinity: { nodeAffinity: randomNodeAffinity(draw, catalogue) } })),
          },
        },
      },
    };
  });
}
