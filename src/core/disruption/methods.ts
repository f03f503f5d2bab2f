import type { DisruptionReason } from "../../api/vocabulary.ts";

/** A graceful method always respects blocking pods; an eventual one accepts them where there is a grace period. */
export type DisruptionClass = "graceful" | "eventual";

export type DisruptionDecision = "delete" | "replace";

export const disruptionMethodNames = [
  "emptiness",
  "static-drift",
  "drift",
  "multi-node-consolidation",
  "single-node-consolidation",
] as const;
/** In the order they are asked: the first that commands something ends the pass. (03:D-2) */
export type DisruptionMethodName = (typeof disruptionMethodNames)[number];

export interface DisruptionMethod {
  readonly reason: DisruptionReason;
  readonly class: DisruptionClass;
  /** The label `consolidation_type` of metrics. */
  readonly consolidationType: "" | "empty" | "multi" | "single";
  /** Whether a command waits and is checked again before it starts. (03:D-60) */
  readonly isValidated: boolean;
}

export const disruptionMethods: Readonly<Record<DisruptionMethodName, DisruptionMethod>> = {
  emptiness: { reason: "Empty", class: "graceful", consolidationType: "empty", isValidated: true },
  "static-drift": { reason: "Drifted", class: "eventual", consolidationType: "", isValidated: false },
  drift: { reason: "Drifted", class: "eventual", consolidationType: "", isValidated: false },
  "multi-node-consolidation": {
    reason: "Underutilized",
    class: "graceful",
    consolidationType: "multi",
    isValidated: true,
  },
  "single-node-consolidation": {
    reason: "Underutilized",
    class: "graceful",
    consolidationType: "single",
    isValidated: true,
  },
};
