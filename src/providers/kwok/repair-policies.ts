import type { RepairPolicy } from "../../cloud/cloud-provider.ts";

const tolerationMs = 10 * 60_000;

/** Which conditions of KWOK nodes lead to their repair. (02:K-10, 03:R-1) */
export const kwokRepairPolicies: readonly RepairPolicy[] = [
  { conditionType: "Ready", conditionStatus: "False", tolerationMs },
  { conditionType: "Ready", conditionStatus: "Unknown", tolerationMs },
];
