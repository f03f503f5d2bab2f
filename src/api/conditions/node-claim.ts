import type { Conditioned, ConditionObservation, ConditionSet } from "./condition.ts";
import { getCondition } from "./set-condition.ts";

/** Conditions of a NodeClaim, in the order they become True. (01 §2.3) */
export const nodeClaimConditions = {
  root: "Ready",
  dependents: ["Launched", "Registered", "Initialized"],
  independents: [
    "Consolidatable",
    "Drifted",
    "ConsistentStateFound",
    "DisruptionReason",
    "Drained",
    "VolumesDetached",
    "InstanceTerminating",
  ],
} as const satisfies ConditionSet;
export type NodeClaimDependent = (typeof nodeClaimConditions.dependents)[number];

/** Why a node is not initialized yet: the first unmet check, in this order, is the one reported. */
export const initializationReasons = [
  "NodeNotFound",
  "NodeNotReady",
  "StartupTaintsExist",
  "KnownEphemeralTaintsExist",
  "ResourceNotRegistered",
  "DRADriverPoolsNotPublished",
] as const;
export type InitializationReason = (typeof initializationReasons)[number];

/** Other reasons of a claim's conditions. */
export const nodeClaimReasons = {
  launchFailed: "LaunchFailed",
  nodeNotFound: "NodeNotFound",
  nodeNotReady: "NodeNotReady",
  registrationHookPending: "RegistrationHookPending",
  multipleNodesFound: "MultipleNodesFound",
  consistencyCheckFailed: "ConsistencyCheckFailed",
  draining: "Draining",
  awaitingVolumeDetachment: "AwaitingVolumeDetachment",
  terminationGracePeriodElapsed: "TerminationGracePeriodElapsed",
} as const;

/** Reasons of `Launched` when a create call fails; copied to the pool when it keeps failing. (01 §2.5) */
export const launchReasons = [
  nodeClaimReasons.launchFailed,
  "NodeClassReadinessUnknown",
  "InstanceTypeResolutionFailed",
  "SubnetResolutionFailed",
  "SpotSLRCreationFailed",
  "Unauthorized",
  "AMIAuthorizationFailure",
  "SecurityGroupSubnetVPCMismatch",
  "InstanceProfileNameInvalid",
  "LaunchTemplateNotFound",
  "UserDataSizeLimitExceeded",
  "InvalidAMIID",
  "AMINotFound",
  "RequestLimitExceeded",
  "InternalError",
  "FreeTierIneligible",
  "FleetQuotaExceeded",
  "AccountPendingVerification",
  "SpotQuotaExceeded",
  "VCPULimitExceeded",
  "InsufficientFreeAddressesInSubnet",
] as const;
export type LaunchReason = (typeof launchReasons)[number];

/** A claim that has not launched or registered this long after the condition last changed is deleted. */
export const launchTimeoutMs = 5 * 60_000;
export const registrationTimeoutMs = 15 * 60_000;

const maxLaunchMessageLength = 300;

/** `Launched` after a failed create call that will be retried: Unknown, because a later call may succeed. */
export function launchFailureObservation({
  reason,
  message,
}: {
  readonly reason?: LaunchReason;
  readonly message: string;
}): ConditionObservation {
  const short = message.length <= maxLaunchMessageLength ? message : `${message.slice(0, maxLaunchMessageLength)}...`;
  return { status: "Unknown", reason: reason ?? nodeClaimReasons.launchFailed, message: short };
}

/** Launched, Registered and Initialized are decided once: True and False are final. */
export function isConditionSettled(claim: Conditioned, type: NodeClaimDependent): boolean {
  const status = getCondition(claim, type)?.status;
  return status === "True" || status === "False";
}
