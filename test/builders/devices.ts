import type {
  DeviceClass,
  DeviceConstraint,
  DeviceRequest,
  ExactDeviceRequest,
  ResourceClaim,
  ResourceSlice,
  SliceDevice,
} from "../../src/api/devices/device-objects.ts";
import { namespacedName } from "../../src/api/object.ts";

export const gpuDriver = "gpu.example.com";
const apiVersion = "resource.k8s.io/v1";

type SliceSpec = ResourceSlice["spec"];
export type SliceDraft = Partial<Omit<SliceSpec, "pool" | "devices">> & {
  readonly pool?: string;
  readonly generation?: number;
  readonly count?: number;
  readonly devices?: readonly (string | SliceDevice)[];
  readonly ownerNode?: string;
};

/** A slice of devices that all nodes can use, unless it says otherwise. */
export function resourceSlice(name: string, draft: SliceDraft = {}): ResourceSlice {
  const { pool = "pool", generation = 1, count = 1, devices = [], ownerNode, driver = gpuDriver, ...rest } = draft;
  const isPlaced = rest.nodeName !== undefined || rest.nodeSelector !== undefined || rest.allNodes !== undefined;
  return {
    apiVersion,
    kind: "ResourceSlice",
    metadata: {
      name,
      ...(ownerNode !== undefined && {
        ownerReferences: [{ apiVersion: "v1", kind: "Node", name: ownerNode, uid: ownerNode }],
      }),
    },
    spec: {
      driver,
      pool: { name: pool, generation, resourceSliceCount: count },
      ...(isPlaced || rest.sharedCounters !== undefined ? {} : { allNodes: true }),
      devices: devices.map((device) => (typeof device === "string" ? { name: device } : device)),
      ...rest,
    },
  };
}

export const inZone = (...values: string[]): Pick<SliceSpec, "nodeSelector"> => ({
  nodeSelector: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values }] }],
  },
});

export function deviceClass(name = "gpu", ...expressions: readonly string[]): DeviceClass {
  const selectors = expressions.map((expression) => ({ cel: { expression } }));
  return { apiVersion, kind: "DeviceClass", metadata: { name }, spec: { selectors } };
}

interface ClaimDraft {
  readonly requests?: readonly DeviceRequest[];
  readonly constraints?: readonly DeviceConstraint[];
  readonly status?: ResourceClaim["status"];
}

/** A claim of one device of class `gpu`, unless it says otherwise. */
export function resourceClaim(
  name: string,
  { requests = [exactly()], constraints, status }: ClaimDraft = {},
): ResourceClaim {
  return {
    apiVersion,
    kind: "ResourceClaim",
    metadata: { name, namespace: "default", uid: name },
    spec: { devices: { requests, ...(constraints && { constraints }) } },
    ...(status && { status }),
  };
}

export function exactly(
  name = "request",
  { selector, ...asked }: Partial<ExactDeviceRequest> & { readonly selector?: string } = {},
): DeviceRequest {
  const selectors = selector === undefined ? [] : [{ cel: { expression: selector } }];
  return { name, exactly: { deviceClassName: "gpu", selectors, ...asked } };
}

export const matchAttribute = (name: string, ...requests: readonly string[]): DeviceConstraint => ({
  matchAttribute: name,
  requests,
});

/** Whom a claim is reserved for, and the devices it has. */
export function allocatedTo(
  pods: readonly string[],
  devices: readonly (
    | string
    | { readonly device: string; readonly consumedCapacity: Readonly<Record<string, string>> }
  )[],
  pool = "pool",
): ResourceClaim["status"] {
  return {
    allocation: {
      devices: {
        results: devices.map((one) => ({
          driver: gpuDriver,
          pool,
          ...(typeof one === "string" ? { device: one } : one),
        })),
      },
    },
    reservedFor: pods.map((uid) => ({ resource: "pods", name: uid, uid })),
  };
}

export function byKey(...claims: readonly ResourceClaim[]): ReadonlyMap<string, ResourceClaim> {
  return new Map(claims.map((claim) => [namespacedName(claim.metadata), claim]));
}
