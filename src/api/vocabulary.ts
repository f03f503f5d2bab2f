/** Closed sets of values that schemas, validation and scheduling share. */

export const requirementOperators = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"] as const;
export type RequirementOperator = (typeof requirementOperators)[number];

export const consolidationPolicies = ["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"] as const;
export type ConsolidationPolicy = (typeof consolidationPolicies)[number];

/** Why a node may be disrupted voluntarily; budgets limit by them. (01 §5.3) */
export const disruptionReasons = ["Underutilized", "Empty", "Drifted"] as const;
export type DisruptionReason = (typeof disruptionReasons)[number];

export const amiFamilies = [
  "AL2",
  "AL2023",
  "Bottlerocket",
  "Custom",
  "Windows2019",
  "Windows2022",
  "Windows2025",
] as const;
export type AmiFamily = (typeof amiFamilies)[number];

/** Defaults of the NodePool and NodeClaim schemas. */
export const defaultExpireAfter = "720h";
export const defaultBudgetNodes = "10%";
