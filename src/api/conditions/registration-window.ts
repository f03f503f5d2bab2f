import type { OwnerReference } from "../object.ts";
import { type Condition, type Conditioned, type ConditionObservation, conditionReasons } from "./condition.ts";
import { nodePoolReasons } from "./node-pool.ts";
import { getCondition } from "./set-condition.ts";

/** The last results of a pool's nodes, oldest first: true = registered. At most `windowSize`. (01 §2.2) */
export type RegistrationWindow = readonly boolean[];
export type RegistrationHealthStatus = "unknown" | "healthy" | "unhealthy";

export const registrationWindowSize = 4;
const unhealthyFailures = registrationWindowSize / 2; // of the whole window, however few results are in

export function withRegistrationResult(window: RegistrationWindow, isRegistered: boolean): RegistrationWindow {
  return [...window, isRegistered].slice(-registrationWindowSize);
}

export function registrationHealthStatus(window: RegistrationWindow): RegistrationHealthStatus {
  if (window.length === 0) return "unknown";
  return window.filter((isRegistered) => !isRegistered).length >= unhealthyFailures ? "unhealthy" : "healthy";
}

/** After a restart the results are lost; the stored condition is used to rebuild them. */
export function windowFromCondition(condition: Condition | undefined): RegistrationWindow {
  if (condition?.status === "True") return [true];
  return condition?.status === "False" ? [false, false] : [];
}

export interface PoolWithHealthStatus extends Conditioned {
  readonly status?: (Conditioned["status"] & { readonly nodeClassObservedGeneration?: number | undefined }) | undefined;
}

/** Whether the recorded registrations belong to an older spec of the pool or its class, so that the window starts empty. */
export function isRegistrationHealthStale(pool: PoolWithHealthStatus, nodeClass: Conditioned): boolean {
  const condition = getCondition(pool, "NodeRegistrationHealthy");
  return (
    condition === undefined ||
    (condition.observedGeneration ?? 0) !== (pool.metadata.generation ?? 0) ||
    (pool.status?.nodeClassObservedGeneration ?? 0) !== (nodeClass.metadata.generation ?? 0)
  );
}

export const unevaluatedHealthObservation: ConditionObservation = {
  status: "Unknown",
  reason: conditionReasons.awaiting,
  message: "no node of this pool has registered or failed to since its spec or its node class changed",
};

/** The window after one more result, and NodeRegistrationHealthy if it changes. */
export interface WindowUpdate {
  readonly window: RegistrationWindow;
  readonly finding: ConditionObservation | undefined;
}

export function afterRegistration(window: RegistrationWindow): WindowUpdate {
  const next = withRegistrationResult(window, true);
  const isHealthy = registrationHealthStatus(next) === "healthy";
  return {
    window: next,
    finding: isHealthy ? { status: "True", reason: "NodeRegistrationHealthy", message: "" } : undefined,
  };
}

/** A claim timed out: it never launched (then the reason of its Launched condition is used), or never registered. */
export function afterRegistrationFailure(window: RegistrationWindow, claim: Conditioned): WindowUpdate {
  const next = withRegistrationResult(window, false);
  return {
    window: next,
    finding: registrationHealthStatus(next) === "unhealthy" ? failureObservation(claim) : undefined,
  };
}

function failureObservation(claim: Conditioned): ConditionObservation {
  const launched = getCondition(claim, "Launched");
  if (launched?.status === "True" || !launched?.reason) {
    return {
      status: "False",
      reason: nodePoolReasons.registrationFailed,
      message: "nodes launch but do not join the cluster",
    };
  }
  return { status: "False", reason: launched.reason, message: launched.message ?? "" };
}

/** A claim counts only for the pool that owns it by uid: a new pool of the same name starts with an empty window. */
export function isOwnedByPool(
  pool: { readonly metadata: { readonly uid?: string | undefined } },
  claim: { readonly metadata: { readonly ownerReferences?: readonly OwnerReference[] | undefined } },
): boolean {
  const { uid } = pool.metadata;
  return (
    uid !== undefined &&
    (claim.metadata.ownerReferences ?? []).some((owner) => owner.kind === "NodePool" && owner.uid === uid)
  );
}
