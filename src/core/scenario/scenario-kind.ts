import { groups } from "../../api/labels.ts";
import { apiGroupOf, type KubeObject } from "../../api/object.ts";

/** The kinds a plan reads, by group; versions of a kind are read alike. */
const kindsByGroup = {
  "": [
    "Pod",
    "PodTemplate",
    "ReplicationController",
    "Node",
    "Namespace",
    "LimitRange",
    "PersistentVolume",
    "PersistentVolumeClaim",
  ],
  apps: ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"],
  batch: ["Job", "CronJob"],
  autoscaling: ["HorizontalPodAutoscaler"],
  "keda.sh": ["ScaledObject"],
  policy: ["PodDisruptionBudget"],
  "scheduling.k8s.io": ["PriorityClass"],
  "node.k8s.io": ["RuntimeClass"],
  "storage.k8s.io": ["StorageClass", "CSINode"],
  [groups.karpenter]: ["NodePool", "NodeClaim", "NodeOverlay"],
  [groups.autoscaling]: ["CapacityBuffer"],
  [groups.kwok]: ["KWOKNodeClass"],
  [groups.aws]: ["EC2NodeClass"],
  [groups.azure]: ["AKSNodeClass"],
} as const;

export type ScenarioKind = (typeof kindsByGroup)[keyof typeof kindsByGroup][number];

/** By group, then by kind: looked up for every object several times, so nothing is concatenated. */
const kindNames: ReadonlyMap<string, ReadonlyMap<string, ScenarioKind>> = new Map(
  Object.entries(kindsByGroup).map(([group, kinds]) => [group, new Map(kinds.map((kind) => [kind, kind]))]),
);

/** The apiVersion of each kind of Kubernetes that a plan reads. */
export const scenarioApiVersions: ReadonlyMap<string, string> = new Map(
  Object.entries(kindsByGroup)
    .filter(([group]) => !group.includes(".") || group.endsWith(".k8s.io"))
    .flatMap(([group, kinds]) => kinds.map((kind) => [kind, group === "" ? "v1" : `${group}/v1`] as const)),
);

/** The kind of an object that a plan reads; undefined for others, such as a Service. */
export function scenarioKind({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">): ScenarioKind | undefined {
  return kindNames.get(apiGroupOf(apiVersion))?.get(kind);
}

const clusterScoped: ReadonlySet<ScenarioKind> = new Set<ScenarioKind>([
  "Node",
  "Namespace",
  "PersistentVolume",
  "PriorityClass",
  "RuntimeClass",
  "StorageClass",
  "CSINode",
  "NodePool",
  "NodeClaim",
  "NodeOverlay",
  "KWOKNodeClass",
  "EC2NodeClass",
  "AKSNodeClass",
]);

export function isNamespaced(kind: ScenarioKind): boolean {
  return !clusterScoped.has(kind);
}

export const nodeClassKinds: ReadonlySet<ScenarioKind> = new Set<ScenarioKind>([
  "KWOKNodeClass",
  "EC2NodeClass",
  "AKSNodeClass",
]);
