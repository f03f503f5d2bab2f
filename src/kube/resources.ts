import { type KarpenterKind, type KarpenterKindName, karpenterKinds } from "../api/kinds/karpenter-kinds.ts";
import type { KubeObject } from "../api/object.ts";
import type { ResourceType } from "./client.ts";

function typesOf<const Plurals extends Readonly<Record<string, string>>>(
  { group, version, namespaced }: Pick<ResourceType, "group" | "version" | "namespaced">,
  plurals: Plurals,
): { readonly [K in keyof Plurals]: ResourceType } {
  const types = Object.entries(plurals).map(([kind, plural]) => [kind, { group, version, kind, plural, namespaced }]);
  return Object.fromEntries(types) as { readonly [K in keyof Plurals]: ResourceType };
}

/** Built-in resource types we use. (05 §5) */
export const builtInTypes = {
  ...typesOf(
    { group: "", version: "v1", namespaced: false },
    { Namespace: "namespaces", Node: "nodes", PersistentVolume: "persistentvolumes" },
  ),
  ...typesOf(
    { group: "", version: "v1", namespaced: true },
    {
      Pod: "pods",
      PodTemplate: "podtemplates",
      Event: "events",
      ConfigMap: "configmaps",
      Secret: "secrets",
      Service: "services",
      ServiceAccount: "serviceaccounts",
      Endpoints: "endpoints",
      PersistentVolumeClaim: "persistentvolumeclaims",
      ReplicationController: "replicationcontrollers",
      ResourceQuota: "resourcequotas",
      LimitRange: "limitranges",
    },
  ),
  ...typesOf(
    { group: "apps", version: "v1", namespaced: true },
    {
      Deployment: "deployments",
      ReplicaSet: "replicasets",
      StatefulSet: "statefulsets",
      DaemonSet: "daemonsets",
      ControllerRevision: "controllerrevisions",
    },
  ),
  ...typesOf({ group: "batch", version: "v1", namespaced: true }, { Job: "jobs", CronJob: "cronjobs" }),
  ...typesOf({ group: "policy", version: "v1", namespaced: true }, { PodDisruptionBudget: "poddisruptionbudgets" }),
  ...typesOf({ group: "coordination.k8s.io", version: "v1", namespaced: true }, { Lease: "leases" }),
  ...typesOf({ group: "scheduling.k8s.io", version: "v1", namespaced: false }, { PriorityClass: "priorityclasses" }),
  ...typesOf(
    { group: "storage.k8s.io", version: "v1", namespaced: false },
    {
      StorageClass: "storageclasses",
      CSINode: "csinodes",
      CSIDriver: "csidrivers",
      VolumeAttachment: "volumeattachments",
    },
  ),
  ...typesOf({ group: "discovery.k8s.io", version: "v1", namespaced: true }, { EndpointSlice: "endpointslices" }),
  ...typesOf(
    { group: "autoscaling", version: "v2", namespaced: true },
    { HorizontalPodAutoscaler: "horizontalpodautoscalers" },
  ),
  ...typesOf({ group: "node.k8s.io", version: "v1", namespaced: false }, { RuntimeClass: "runtimeclasses" }),
  ...typesOf(
    { group: "apiextensions.k8s.io", version: "v1", namespaced: false },
    { CustomResourceDefinition: "customresourcedefinitions" },
  ),
} as const;

/** Questions to the API server: they can be created, and neither read nor watched. */
export const reviewTypes = {
  ...typesOf({ group: "authentication.k8s.io", version: "v1", namespaced: false }, { TokenReview: "tokenreviews" }),
  ...typesOf(
    { group: "authorization.k8s.io", version: "v1", namespaced: false },
    { SubjectAccessReview: "subjectaccessreviews" },
  ),
} as const;

/** Karpenter's own resource types, by kind. (01 §1.1) */
export const karpenterTypes = Object.fromEntries(
  karpenterKinds.map((kind) => [kind.kind, resourceTypeOfKind(kind)]),
) as Readonly<Record<KarpenterKindName, ResourceType>>;

export function resourceTypeOfKind({ group, version, kind, plural, scope }: KarpenterKind): ResourceType {
  return { group, version, kind, plural, namespaced: scope === "Namespaced" };
}

/** The apiVersion of its objects: `v1`, `apps/v1`. */
export function apiVersionOf({ group, version }: Pick<ResourceType, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

/** The resource type of an object; undefined if we do not know it. */
export function resourceTypeOf({
  apiVersion,
  kind,
}: Pick<KubeObject, "apiVersion" | "kind">): ResourceType | undefined {
  const known: readonly ResourceType[] = [...Object.values(builtInTypes), ...Object.values(karpenterTypes)];
  return known.find((type) => type.kind === kind && apiVersionOf(type) === apiVersion);
}
