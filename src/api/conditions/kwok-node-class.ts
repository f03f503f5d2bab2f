import type { Condition, ConditionSet } from "./condition.ts";

/** A KWOKNodeClass has nothing to resolve: its schema makes it ready at creation. (01 §1.7, §2.4) */
export const kwokNodeClassConditions = {
  root: "Ready",
  dependents: [],
  independents: [],
} as const satisfies ConditionSet;

/** What the schema defaults `status.conditions` to. */
export const kwokDefaultCondition: Condition = {
  type: "Ready",
  status: "True",
  reason: "Ready",
  message: "",
  lastTransitionTime: "2024-01-01T01:01:01Z",
};
