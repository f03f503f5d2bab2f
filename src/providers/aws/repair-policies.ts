import type { RepairPolicy } from "../../cloud/cloud-provider.ts";

const minutes = 60_000;

/** Which conditions of EC2 nodes lead to their repair. (03:R-1) */
export const awsRepairPolicies: readonly RepairPolicy[] = [
  { conditionType: "Ready", conditionStatus: "False", tolerationMs: 30 * minutes },
  { conditionType: "Ready", conditionStatus: "Unknown", tolerationMs: 30 * minutes },
  { conditionType: "AcceleratedHardwareReady", conditionStatus: "False", tolerationMs: 10 * minutes },
  { conditionType: "StorageReady", conditionStatus: "False", tolerationMs: 30 * minutes },
  { conditionType: "NetworkingReady", conditionStatus: "False", tolerationMs: 30 * minutes },
  { conditionType: "KernelReady", conditionStatus: "False", tolerationMs: 30 * minutes },
  { conditionType: "ContainerRuntimeReady", conditionStatus: "False", tolerationMs: 30 * minutes },
];
