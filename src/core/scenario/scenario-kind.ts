import { groups } from "../../api/labels.ts";
import { apiGroupOf, type KubeObject } from "../../api/object.ts";

/** The kinds a plan reads, by group; versions of a kind are read alike. */
const kindsByGroup = {
  "": ["Pod", "PodTemplate", "Node", "Namespace", "PersistentVolume", "PersistentVolumeClaim"],
  apps: ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"],
  batch: ["Job", "CronJob"],
  policy: ["PodDisruptionBudget"],
  "scheduling.k8s.io": ["PriorityClass"],
  "storage.k8s.io": ["StorageClass", "CSINode"],
  [groups.karpenter]: ["NodePool", "NodeClaim", "NodeOverlay"],
  [groups.autoscaling]: ["CapacityBuffer"],
  [groups.kwok]: ["KWOKNodeClass"],
  [groups.aws]: ["EC2NodeClass"],
  [groups.azure]: ["AKSNodeClass"],
} as const;

export type ScenarioKind = (typeof kindsByGroup)[keyof typeof kindsByGroup][number];

const kindsByGroupAndName: ReadonlyMap<string, ScenarioKind> = new Map(
  Object.entries(kindsByGroup).flatMap(([group, kinds]) => kinds.map((kind) => [`${group}/${kind}`, kind] as const)),
);

/** The kind of an object that a plan reads; undefined for others, such as a Service. */
export function scenarioKind({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">): ScenarioKind | undefined {
  return kindsByGroupAndName.get(`${apiGroupOf(apiVersion)}/${kind}`);
}

const clusterScoped: ReadonlySet<ScenarioKind> = new Set<ScenarioKind>([
  "Node",
  "Namespace",
  "PersistentVolume",
  "PriorityClass",
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
