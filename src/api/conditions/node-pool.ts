import type { Problem } from "../problem.ts";
import type { Condition, Conditioned, ConditionObservation, ConditionSet } from "./condition.ts";
import { getCondition } from "./set-condition.ts";
import { validationObservation } from "./validation-observation.ts";

/** Conditions of a NodePool. Only Ready pools provision; NodeRegistrationHealthy gates nothing. (01 §2.2) */
export const nodePoolConditions = {
  root: "Ready",
  dependents: ["ValidationSucceeded", "NodeClassReady"],
  independents: ["NodeRegistrationHealthy"],
} as const satisfies ConditionSet;

export const nodePoolReasons = {
  validationFailed: "NodePoolValidationFailed",
  nodeClassNotFound: "NodeClassNotFound",
  nodeClassTerminating: "NodeClassTerminating",
  nodeClassReadinessUnknown: "NodeClassReadinessUnknown",
  registrationFailed: "RegistrationFailed",
} as const;

/** `ValidationSucceeded` of a pool, from what runtime validation found. */
export function poolValidationObservation(problems: readonly Problem[]): ConditionObservation {
  return validationObservation(problems, nodePoolReasons.validationFailed);
}

/** `NodeClassReady` of a pool. Never Unknown: a class without a Ready condition is reported as False. (01 §2.2, §9.13) */
export function nodeClassReadyObservation(nodeClass: Conditioned | undefined): ConditionObservation {
  if (nodeClass === undefined) {
    return notReady(nodePoolReasons.nodeClassNotFound, "NodeClass not found on cluster");
  }
  if (nodeClass.metadata.deletionTimestamp !== undefined) {
    return notReady(nodePoolReasons.nodeClassTerminating, "the node class this pool refers to is being deleted");
  }
  return fromNodeClassReady(getCondition(nodeClass, "Ready"));
}

function fromNodeClassReady(condition: Condition | undefined): ConditionObservation {
  if (condition?.status === "True") return { status: "True", reason: "NodeClassReady", message: "" };
  if (condition?.status === "False") {
    // Reason and message of the class are copied; only an empty reason is replaced, because the pool's schema forbids it.
    return notReady(condition.reason || nodePoolReasons.nodeClassReadinessUnknown, condition.message ?? "");
  }
  return notReady(nodePoolReasons.nodeClassReadinessUnknown, "Node Class Readiness Unknown");
}

function notReady(reason: string, message: string): ConditionObservation {
  return { status: "False", reason, message };
}
