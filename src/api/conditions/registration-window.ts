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

/** After a restart the stored condition stands in for the results we no longer have. */
export function windowFromCondition(condition: Condition | undefined): RegistrationWindow {
  if (condition?.status === "True") return [true];
  return condition?.status === "False" ? [false, false] : [];
}

export interface PoolWithHealthStatus extends Conditioned {
  readonly status?: (Conditioned["status"] & { readonly nodeClassObservedGeneration?: number | undefined }) | undefined;
}

/** Whether what is known about registrations belongs to another pool or class spec, so the window starts empty again. */
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

/** The window after one more result, and what NodeRegistrationHealthy becomes, if it moves at all. */
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

/** A claim ran out of time: it never launched (then its own words count), or launched and never registered. */
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

/** A claim speaks for a pool only if that very pool owns it: a pool of the same name made later starts afresh. */
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
