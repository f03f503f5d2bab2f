import type { DeviceClass, ResourceClaim, ResourceClaimSpec, ResourceSlice } from "../api/devices/device-objects.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import { apiGroupOf, type KubeObject, namespacedName, namespaceOf } from "../api/object.ts";
import type { ClusterDevices } from "../core/round/round-problem.ts";
import { scenarioKind } from "../core/scenario/scenario-kind.ts";

/** Objects about devices, read for a plan that does not ignore them. */
export function isDeviceObject({ apiVersion }: Pick<KubeObject, "apiVersion">): boolean {
  return apiGroupOf(apiVersion) === "resource.k8s.io";
}

interface ScenarioDevices {
  /** With the names of their claims in their status. */
  readonly objects: readonly KubeObject[];
  readonly devices: ClusterDevices;
}

/**
 * The devices of a scenario. Pods whose claims are made from templates get them, as a cluster's controller would make
 * them before the pods are scheduled. (02:D-2)
 */
export function scenarioDevices(objects: readonly KubeObject[], deviceObjects: readonly KubeObject[]): ScenarioDevices {
  const ofKind = <T extends KubeObject>(kind: string): readonly T[] =>
    deviceObjects.filter((object) => object.kind === kind) as unknown as readonly T[];
  const templates = new Map(
    ofKind<ResourceClaimTemplate>("ResourceClaimTemplate").map((one) => [namespacedName(one.metadata), one]),
  );
  const made: ResourceClaim[] = [];
  const completed = objects.map((object) =>
    scenarioKind(object) === "Pod" ? withGeneratedClaims(object as KubeObject & Pod, templates, made) : object,
  );
  const claims = [...ofKind<ResourceClaim>("ResourceClaim"), ...made];
  return {
    objects: completed,
    devices: {
      slices: ofKind<ResourceSlice>("ResourceSlice"),
      claims: new Map(claims.map((claim) => [namespacedName(claim.metadata), claim])),
      classes: new Map(ofKind<DeviceClass>("DeviceClass").map((one) => [one.metadata.name ?? "", one])),
    },
  };
}

interface ResourceClaimTemplate extends KubeObject {
  readonly spec: { readonly spec: ResourceClaimSpec };
}

/** The claim of a template that is not there is named, but not made. */
function withGeneratedClaims(
  pod: KubeObject & Pod,
  templates: ReadonlyMap<string, ResourceClaimTemplate>,
  made: ResourceClaim[],
): KubeObject {
  const known = pod.status?.resourceClaimStatuses ?? [];
  const missing = (pod.spec.resourceClaims ?? []).filter(
    ({ name, resourceClaimTemplateName }) =>
      resourceClaimTemplateName !== undefined && !known.some((status) => status.name === name),
  );
  if (missing.length === 0) return pod;
  const namespace = namespaceOf(pod.metadata);
  const statuses = missing.map(({ name, resourceClaimTemplateName = "" }) => {
    const resourceClaimName = `${pod.metadata.name ?? ""}-${name}`;
    const template = templates.get(namespacedName({ namespace, name: resourceClaimTemplateName }));
    if (template !== undefined) {
      const metadata = { name: resourceClaimName, namespace };
      made.push({ apiVersion: "resource.k8s.io/v1", kind: "ResourceClaim", metadata, spec: template.spec.spec });
    }
    return { name, resourceClaimName };
  });
  return { ...pod, status: { ...pod.status, resourceClaimStatuses: [...known, ...statuses] } };
}
