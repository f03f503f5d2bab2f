import type { Condition, ConditionSet } from "./condition.ts";

/** A KWOKNodeClass has nothing to resolve: its schema makes it ready at creation. (01 §1.7, §2.4) */
export const kwokNodeClassConditions = {
  root: "Ready",
  dependents: [],
  independents: [],
} as const satisfies ConditionSet;

/** The schema's default of `status.conditions`. */
export const kwokDefaultCondition = {
  lastTransitionTime: "2024-01-01T01:01:01Z",
  message: "",
  reason: "Ready",
  status: "True",
  type: "Ready",
} as const satisfies Condition;
