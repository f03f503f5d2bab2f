import type { DeviceClass, ResourceClaim, ResourceSlice } from "../api/devices/device-objects.ts";
import { type KubeObject, namespacedName } from "../api/object.ts";
import type { ClusterDevices } from "../core/round/round-problem.ts";
import type { ResourceType } from "../kube/client.ts";
import type { KarpenterContext } from "./karpenter-context.ts";

const resourceGroup = { group: "resource.k8s.io", version: "v1" };

export const resourceSlices: ResourceType = {
  ...resourceGroup,
  kind: "ResourceSlice",
  plural: "resourceslices",
  namespaced: false,
};
const resourceClaims: ResourceType = {
  ...resourceGroup,
  kind: "ResourceClaim",
  plural: "resourceclaims",
  namespaced: true,
};
const deviceClasses: ResourceType = {
  ...resourceGroup,
  kind: "DeviceClass",
  plural: "deviceclasses",
  namespaced: false,
};

/** Kinds that say which devices there are; read only if requests for devices are not ignored. (02:D-3) */
export const deviceKinds: readonly ResourceType[] = [resourceSlices, resourceClaims, deviceClasses];

/**
 * The devices of the cluster. Not every cluster serves these kinds, so they are watched only once somebody asks; until the
 * first list there are none, and pods with claims wait for the next round.
 */
export function clusterDevices({ view }: Pick<KarpenterContext, "view">): ClusterDevices {
  return {
    slices: view<ResourceSlice>(resourceSlices).all(),
    claims: byName(view<ResourceClaim>(resourceClaims).all(), namespacedName),
    classes: byName(view<DeviceClass>(deviceClasses).all(), ({ name = "" }) => name),
  };
}

function byName<T extends KubeObject>(
  objects: readonly T[],
  nameOf: (metadata: KubeObject["metadata"]) => string,
): ReadonlyMap<string, T> {
  return new Map(objects.map((object) => [nameOf(object.metadata), object]));
}
