import type { KubeObject } from "../../../api/object.ts";
import type { ResourceType } from "../../../kube/client.ts";
import { builtInTypes } from "../../../kube/resources.ts";

export interface CustomResourceDefinitionObject extends KubeObject {
  readonly spec?: {
    readonly group?: string;
    readonly scope?: string;
    readonly names?: { readonly plural?: string; readonly kind?: string };
    readonly versions?: readonly { readonly name?: string; readonly storage?: boolean; readonly served?: boolean }[];
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

function namespacedKinds(group: string, plurals: Readonly<Record<string, string>>, version = "v1"): ResourceType[] {
  return Object.entries(plurals).map(([kind, plural]) => ({ group, version, kind, plural, namespaced: true }));
}

function clusterKinds(group: string, plurals: Readonly<Record<string, string>>): ResourceType[] {
  return namespacedKinds(group, plurals).map((type) => ({ ...type, namespaced: false }));
}

/** Kinds without a controller here that can still have owners or a namespace. (05 §5) */
const storedKinds: readonly ResourceType[] = [
  ...namespacedKinds("autoscaling", { HorizontalPodAutoscaler: "horizontalpodautoscalers" }, "v2"),
  ...namespacedKinds("networking.k8s.io", { Ingress: "ingresses", NetworkPolicy: "networkpolicies" }),
  ...clusterKinds("networking.k8s.io", { IngressClass: "ingressclasses" }),
  ...namespacedKinds("rbac.authorization.k8s.io", { Role: "roles", RoleBinding: "rolebindings" }),
  ...clusterKinds("rbac.authorization.k8s.io", {
    ClusterRole: "clusterroles",
    ClusterRoleBinding: "clusterrolebindings",
  }),
  ...namespacedKinds("discovery.k8s.io", { EndpointSlice: "endpointslices" }),
  ...namespacedKinds("storage.k8s.io", { CSIStorageCapacity: "csistoragecapacities" }),
  ...namespacedKinds("resource.k8s.io", {
    ResourceClaim: "resourceclaims",
    ResourceClaimTemplate: "resourceclaimtemplates",
  }),
  ...clusterKinds("resource.k8s.io", { ResourceSlice: "resourceslices", DeviceClass: "deviceclasses" }),
  ...clusterKinds("admissionregistration.k8s.io", {
    ValidatingWebhookConfiguration: "validatingwebhookconfigurations",
    MutatingWebhookConfiguration: "mutatingwebhookconfigurations",
    ValidatingAdmissionPolicy: "validatingadmissionpolicies",
    ValidatingAdmissionPolicyBinding: "validatingadmissionpolicybindings",
  }),
];

/**
 * Kinds the garbage collector does not watch: Events have no owners and are many, and a watched Lease must be written
 * every ten seconds. They are listed on demand. (05:CP-L10)
 */
export const unwatchedKinds: readonly ResourceType[] = [builtInTypes.Event, builtInTypes.Lease];

/** The built-in kinds that are watched. */
export const watchedKinds: readonly ResourceType[] = [
  ...Object.values(builtInTypes).filter((type) => !unwatchedKinds.includes(type)),
  ...storedKinds,
];

/** The kind a definition serves, in its storage version. */
export function customResourceType({ spec = {} }: CustomResourceDefinitionObject): ResourceType | undefined {
  const { group = "", scope, names, versions = [] } = spec;
  const stored = versions.find(({ storage, served }) => storage === true && served === true);
  const version = (stored ?? versions.find(({ served }) => served === true))?.name;
  if (version === undefined || names?.plural === undefined || names.kind === undefined) return undefined;
  return { group, version, kind: names.kind, plural: names.plural, namespaced: scope === "Namespaced" };
}

/** Before a definition is established its kind cannot be listed. */
export function isEstablished({ status }: CustomResourceDefinitionObject): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Established" && is === "True") ?? false;
}

/** The name of a kind, regardless of its version. */
export function groupKindName({ group, kind }: Pick<ResourceType, "group" | "kind">): string {
  return `${kind}.${group}`;
}

export function ownerGroupKindName({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">): string {
  const slash = apiVersion.indexOf("/");
  return groupKindName({ group: slash < 0 ? "" : apiVersion.slice(0, slash), kind });
}
