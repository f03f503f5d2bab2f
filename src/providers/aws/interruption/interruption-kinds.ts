/** What AWS announces about an instance. (03:I-3, 04 §4.2) */
export const interruptionKinds = [
  "spot_interrupted",
  "rebalance_recommendation",
  "scheduled_change",
  "event_status",
  "instance_status",
  "system_status",
  "instance_stopped",
  "instance_terminated",
  "capacity_reservation_interrupted",
] as const;
export type InterruptionKind = (typeof interruptionKinds)[number];
