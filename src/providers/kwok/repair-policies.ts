import type { RepairPolicy } from "../../cloud/cloud-provider.ts";

const tolerationMs = 10 * 60_000;

/** What KWOK nodes are replaced for. (02:K-10, 03:R-1) */
export const kwokRepairPolicies: readonly RepairPolicy[] = [
  { conditionType: "Ready", conditionStatus: "False", tolerationMs },
  { conditionType: "Ready", conditionStatus: "Unknown", tolerationMs },
];
