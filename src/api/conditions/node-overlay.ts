import type { Problem } from "../problem.ts";
import type { ConditionObservation, ConditionSet } from "./condition.ts";
import { validationObservation } from "./validation-observation.ts";

/** Conditions of a NodeOverlay. (01 §2.4) */
export const nodeOverlayConditions = {
  root: "Ready",
  dependents: ["ValidationSucceeded"],
  independents: [],
} as const satisfies ConditionSet;

export const nodeOverlayReasons = { runtimeValidation: "RuntimeValidation", conflict: "Conflict" } as const;

export function overlayValidationObservation(problems: readonly Problem[]): ConditionObservation {
  return validationObservation(problems, nodeOverlayReasons.runtimeValidation);
}

/** Two overlays of equal weight change the same thing: the later one in order is rejected as a whole. (01 §1.4) */
export function overlayConflictObservation(message: string): ConditionObservation {
  return { status: "False", reason: nodeOverlayReasons.conflict, message };
}
