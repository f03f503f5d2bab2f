/** Why the devices of a pod cannot be had. */
export type DeviceRefusal =
  /** Requests for devices are ignored, and pods that have some are left alone. (02:D-1) */
  | { readonly reason: "ignored" }
  | { readonly reason: "claim-not-found"; readonly claim: string }
  | { readonly reason: "class-not-found"; readonly request: ClaimRequestName; readonly deviceClass: string }
  /** A selector that is no CEL, or a constraint or request of a kind that is not known. */
  | { readonly reason: "unsupported"; readonly claim: string; readonly what: string }
  | {
      readonly reason: "selector";
      readonly request: ClaimRequestName;
      readonly expression: string;
      readonly because: string;
    }
  | { readonly reason: "too-many-devices"; readonly claim: string; readonly wanted: number }
  /** A request for all devices needs to know all of them. */
  | { readonly reason: "invalid-pool" | "incomplete-pool"; readonly request: ClaimRequestName; readonly pool: string }
  /** The devices it has, or got in this pass, are elsewhere. */
  | { readonly reason: "allocated-elsewhere"; readonly claim: string; readonly by: "cluster" | "this-pass" }
  | { readonly reason: "tied-to-other-node"; readonly claim: string }
  | { readonly reason: "no-devices" }
  /** The search took longer than it may. (02:D-9) */
  | { readonly reason: "search-limit" }
  /** The devices are where the pod must not be. (02:N-3b) */
  | { readonly reason: "requirements"; readonly conflicts: string }
  /** No type has both room for the pod and the devices. (02:N-3e) */
  | { readonly reason: "instance-types" };

interface ClaimRequestName {
  readonly claim: string;
  readonly request: string;
}

/** The most devices one claim can have. (02:D-7) */
export const maxDevicesPerClaim = 32;

/** In upstream's words where it has some. */
export function describeDeviceRefusal(refusal: DeviceRefusal): string {
  switch (refusal.reason) {
    case "ignored":
      return "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter";
    case "claim-not-found":
      return `resourceclaim ${JSON.stringify(refusal.claim)} not found`;
    case "requirements":
      return `incompatible dynamic resource requirements, ${refusal.conflicts}`;
    case "instance-types":
      return "no instance type satisfies both scheduling and dynamic resource requirements";
    default:
      return `allocating dynamic resources, ${describeAllocationProblem(refusal)}`;
  }
}

type AllocationProblem = Exclude<
  DeviceRefusal,
  { readonly reason: "ignored" | "claim-not-found" | "requirements" | "instance-types" }
>;

function describeAllocationProblem(refusal: AllocationProblem): string {
  switch (refusal.reason) {
    case "class-not-found":
      return `${requestText(refusal.request)}: DeviceClass ${JSON.stringify(refusal.deviceClass)} not found`;
    case "unsupported":
      return `${claimText(refusal.claim)}: ${refusal.what}`;
    case "selector":
      return `${requestText(refusal.request)}: CEL expression ${JSON.stringify(refusal.expression)} ${refusal.because}`;
    case "too-many-devices":
      return `${claimText(refusal.claim)} requests ${refusal.wanted} total devices, exceeding maximum of ${maxDevicesPerClaim}`;
    case "invalid-pool":
      return `${requestText(refusal.request)}: pool ${refusal.pool} is invalid (duplicate device names)`;
    case "incomplete-pool":
      return `${requestText(refusal.request)}: pool ${refusal.pool} is incomplete (missing slices)`;
    case "allocated-elsewhere":
      return `${refusal.by === "cluster" ? "in-cluster" : "in-memory"} allocation topology is incompatible with NodeClaim requirements (ResourceClaim=${refusal.claim})`;
    case "tied-to-other-node":
      return `claim is bound to a different in-flight NodeClaim (ResourceClaim=${refusal.claim})`;
    case "no-devices":
      return "no instance type can satisfy the allocation";
    case "search-limit":
      return "the search for devices took too long";
  }
}

function claimText(claim: string): string {
  return `validating claim ${JSON.stringify(claim)}`;
}

function requestText({ claim, request }: ClaimRequestName): string {
  return `${claimText(claim)}: request ${JSON.stringify(request)}`;
}
