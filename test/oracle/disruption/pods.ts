import type { PodSpec } from "../../../src/api/kubernetes/pod.ts";
import type { Draw } from "../../differential/draw.ts";
import { apps, keys } from "../../differential/names.ts";
import type { PlainObject } from "../../differential/problem.ts";
import { randomTemplate } from "../../differential/random-pods.ts";
import { cpuMilliOf, type NodeCatalogue } from "./catalogue.ts";
import type { NodeDraft } from "./nodes.ts";
import type { Has } from "./problem.ts";
import { beganBefore, secondsBefore } from "./times.ts";

export interface PodSources {
  readonly catalogue: NodeCatalogue;
  readonly nodes: readonly NodeDraft[];
  readonly has: Has;
  readonly now: string;
}

/** Pods that run, in groups of equal ones, where there is room for them. */
export function runningPods(draw: Draw, sources: PodSources): readonly PlainObject[] {
  const { has } = sources;
  const nodes = sources.nodes.filter(({ cpuMilli }) => cpuMilli > 0);
  const room = new Map(nodes.map(({ name, cpuMilli }) => [name, cpuMilli]));
  const groups = draw.times(draw.count(1, Math.max(2, nodes.length)), (index) => podGroup(draw, `r${index}`, sources));
  return groups.flatMap((group) =>
    draw
      .times(draw.pick(has("large") ? [1, 3, 5, 8] : [1, 1, 2, 3, 5]), (index) => {
        const spacious = nodes.filter(({ name }) => (room.get(name) ?? 0) >= group.cpuMilli);
        if (spacious.length === 0) return [];
        const { name } = draw.pick(spacious);
        room.set(name, (room.get(name) ?? 0) - group.cpuMilli);
        return [runningPod(draw, { group, node: name, index }, sources)];
      })
      .flat(),
  );
}

/** Pods of one workload. */
interface PodGroup {
  readonly name: string;
  readonly namespace: object;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
  readonly cpuMilli: number;
  readonly owner: string | undefined;
}

function podGroup(draw: Draw, name: string, { catalogue, has }: PodSources): PodGroup {
  const isPlain = !has("constraints") || draw.chance(0.4);
  const { namespace, labels, spec } = isPlain ? plainTemplate(draw) : randomTemplate(draw, catalogue);
  return {
    name,
    namespace,
    labels,
    spec: { ...spec, ...extraFields(draw, has) } as PodSpec,
    cpuMilli: cpuMilliRequested(spec as PodSpec),
    owner: draw.pick(["ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet", undefined]),
  };
}

function plainTemplate(draw: Draw) {
  const requests = {
    cpu: draw.pick(["100m", "250m", "500m", "900m", "1", "1900m", "3500m"]),
    ...draw.maybe(0.5, () => ({ memory: draw.pick(["128Mi", "1Gi", "2Gi", "6Gi"]) })),
  };
  return {
    namespace: {},
    labels: { app: draw.pick(apps) },
    spec: { containers: [{ name: "app", image: "app", resources: { requests } }] },
  };
}

function extraFields(draw: Draw, has: Has): object {
  return {
    ...draw.maybe(has("costs") ? 0.4 : 0.02, () => ({
      priority: draw.pick([1_000_000, 100_000_000, -100_000_000, -1e9]),
    })),
    ...draw.maybe(has("taints") ? 0.4 : 0, () => ({ tolerations: [draw.pick(tolerations)] })),
    ...draw.maybe(has("volumes") ? 0.4 : 0, () => ({
      volumes: [
        { name: "data", persistentVolumeClaim: { claimName: draw.pick(["v0", "v1", "v2", "local-n0", "local-n1"]) } },
      ],
    })),
  };
}

/** Volumes of single machines, which pods that run there leave behind when they move. */
export function localVolumes(draw: Draw): readonly PlainObject[] {
  return ["n0", "n1"].flatMap((node): readonly PlainObject[] => [
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: `local-${node}`, annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        volumeName: `local-${node}`,
      },
    },
    {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: `local-${node}` },
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        ...draw.pick<object>([{ local: { path: "/data" } }, { hostPath: { path: "/data" } }, { csi: localDriver }]),
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [isOneOf(keys.hostname, [node])] }] } },
      },
    },
  ]);
}

const localDriver = { driver: "local.example.com", volumeHandle: "local" };

function isOneOf(key: string, values: readonly string[]): object {
  return { key, operator: "In", values };
}

/** What a DaemonSet has running on some of the nodes. */
export function daemonPods(
  draw: Draw,
  daemonSets: readonly PlainObject[],
  nodes: readonly NodeDraft[],
): readonly PlainObject[] {
  const places = nodes.filter(({ cpuMilli }) => cpuMilli > 0);
  return daemonSets.flatMap((daemonSet) =>
    places
      .filter(() => draw.chance(0.6))
      .map(({ name: nodeName }): PlainObject => {
        const { name, namespace } = daemonSet.metadata as { readonly name: string; readonly namespace?: string };
        const { template } = daemonSet["spec"] as {
          readonly template: { readonly metadata: object; readonly spec: object };
        };
        return {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { ...template.metadata, name: `${name}-${nodeName}`, namespace, ...ownedBy("DaemonSet", name) },
          spec: { ...template.spec, nodeName },
        };
      }),
  );
}

const tolerations = [
  { operator: "Exists" },
  { key: "dedicated", operator: "Exists" },
  { key: "soft", operator: "Exists" },
  { key: "karpenter.sh/disrupted", operator: "Exists" },
  { key: "example.com/boot", operator: "Exists" },
] as const;

function cpuMilliRequested({ containers = [] }: PodSpec): number {
  return containers.reduce((sum, { resources }) => {
    return sum + cpuMilliOf(String(resources?.requests?.["cpu"] ?? resources?.limits?.["cpu"] ?? "0"));
  }, 0);
}

interface Placement {
  readonly group: PodGroup;
  readonly node: string;
  readonly index: number;
}

function runningPod(draw: Draw, { group, node, index }: Placement, { has, now }: PodSources): PlainObject {
  const { name, namespace, labels, spec, owner } = group;
  const lasts = draw.pick([600, 3_600]);
  const annotations = {
    ...draw.maybe(has("protection") ? 0.15 : 0.01, () => ({
      "karpenter.sh/do-not-disrupt": draw.pick(["true", `${lasts}s`, `${lasts / 60}m`, "false", "0s", "-1h", "soon"]),
    })),
    ...draw.maybe(has("costs") ? 0.3 : 0.01, () => ({
      "controller.kubernetes.io/pod-deletion-cost": draw.pick(["-2147483648", "100", "1000000000", "2147483647", "x"]),
    })),
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${name}-${index}`,
      ...namespace,
      labels,
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(owner !== undefined &&
        ownedBy(draw.chance(has("owners") ? 0.25 : 0.02) ? draw.pick(otherOwners) : owner, name)),
      ...draw.maybe(has("states") ? 0.1 : 0.01, () => ({
        deletionTimestamp: secondsBefore(now, draw.pick([-30, 0, 59, 60, 61])),
      })),
    },
    spec: {
      ...spec,
      ...draw.maybe(has("pinned") ? 0.2 : 0, () => ({ nodeSelector: { [keys.hostname]: node } })),
      nodeName: node,
    },
    status: {
      phase: draw.chance(has("states") ? 0.15 : 0.02) ? draw.pick(["Succeeded", "Failed", "Pending"]) : "Running",
      ...draw.maybe(0.9, () => ({ startTime: beganBefore(draw, now, lasts) })),
      ...draw.maybe(has("pdbs") ? 0.4 : 0.02, () => ({
        conditions: [{ type: "Ready", status: draw.pick(["True", "False", "False", "Unknown"]) }],
      })),
    },
  };
}

const otherOwners = ["DaemonSet", "StatefulSet", "Node", "Job"] as const;

function ownedBy(kind: string, name: string): object {
  const apiVersion = { Node: "v1", Job: "batch/v1" }[kind] ?? "apps/v1";
  return { ownerReferences: [{ apiVersion, kind, name, uid: name, controller: true }] };
}

/** Budgets of every shape; several may select the same pod. */
export function randomPdbs(draw: Draw): readonly PlainObject[] {
  return draw.times(draw.count(1, 3), (index) => {
    const limit = draw.pick<object>([
      { maxUnavailable: 1 },
      { maxUnavailable: 0 },
      { maxUnavailable: "0%" },
      { maxUnavailable: "50%" },
      { minAvailable: "100%" },
      { minAvailable: 2 },
      { minAvailable: 0 },
    ]);
    const selector = draw.pick<object>([
      { selector: { matchLabels: { app: draw.pick(apps) } } },
      { selector: { matchLabels: { app: draw.pick(apps) } } },
      {
        selector: {
          matchExpressions: [{ key: "app", operator: draw.pick(["In", "NotIn"]), values: draw.some(apps, 1, 2) }],
        },
      },
      { selector: {} },
      {},
    ]);
    return {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: `pdb-${index}`, ...draw.maybe(0.15, () => ({ namespace: "other" })) },
      spec: {
        ...selector,
        ...limit,
        ...draw.maybe(0.4, () => ({
          unhealthyPodEvictionPolicy: draw.pick(["AlwaysAllow", "AlwaysAllow", "IfHealthyBudget"]),
        })),
      },
      status: { disruptionsAllowed: draw.pick([0, 0, 1, 2]), currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
    };
  });
}
