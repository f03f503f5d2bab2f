import type { ConditionSet } from "./condition.ts";

/** A CapacityBuffer has no root: two plain conditions that appear when set. (01 §2.4) */
export const capacityBufferConditions = {
  root: undefined,
  dependents: [],
  independents: ["ReadyForProvisioning", "Provisioning"],
} as const satisfies ConditionSet;

export const readyForProvisioningReasons = {
  resolved: "Resolved",
  resolutionFailed: "ResolutionFailed",
  podTemplateNotFound: "PodTemplateNotFound",
  scalableRefNotFound: "ScalableRefNotFound",
} as const;

export const provisioningReasons = {
  fitsExistingCapacity: "FitsExistingCapacity",
  notReadyForProvisioning: "NotReadyForProvisioning",
  bufferEmpty: "BufferEmpty",
  requiresNewCapacity: "RequiresNewCapacity",
} as const;
