import { groups } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";

/** What a scenario may hold, by group: the version of a foreign kind does not matter to us. */
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

/** The kind of an object a plan looks at; undefined for what it passes by, such as a Service. */
export function scenarioKind({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">): ScenarioKind | undefined {
  return kindsByGroupAndName.get(`${groupOf(apiVersion)}/${kind}`);
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
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
