import type { Problem } from "../problem.ts";
import type { ConditionSet, Observation } from "./condition.ts";
import { validationFinding } from "./validation-finding.ts";

/** Conditions of a NodeOverlay. (01 §2.4) */
export const nodeOverlayConditions = {
  root: "Ready",
  dependents: ["ValidationSucceeded"],
  independents: [],
} as const satisfies ConditionSet;

export const nodeOverlayReasons = { runtimeValidation: "RuntimeValidation", conflict: "Conflict" } as const;

export function overlayValidation(problems: readonly Problem[]): Observation {
  return validationFinding(problems, nodeOverlayReasons.runtimeValidation);
}

/** Two overlays of equal weight want the same thing: the later one in order is rejected as a whole. (01 §1.4) */
export function overlayConflict(message: string): Observation {
  return { status: "False", reason: nodeOverlayReasons.conflict, message };
}
