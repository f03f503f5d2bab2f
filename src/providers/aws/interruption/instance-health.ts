import type { Filter, InstanceStatus, InstanceStatusDetails, InstanceStatusEvent } from "@aws-sdk/client-ec2";
import type { InterruptionKind } from "./interruption-kinds.ts";

/** A status check counts when it has failed for this long. (04 §4.4) */
const impairedForMs = 120_000;

/** One query each: filters of one query must all match. */
export const healthQueries: readonly (readonly Filter[])[] = [
  [{ Name: "instance-status.status", Values: ["impaired"] }],
  [{ Name: "system-status.status", Values: ["impaired"] }],
  [
    {
      Name: "event.code",
      Values: ["instance-reboot", "system-reboot", "system-maintenance", "instance-retirement", "instance-stop"],
    },
  ],
];

/** What is wrong with an instance. */
export interface UnhealthyInstance {
  readonly instanceId: string;
  readonly categories: readonly Extract<InterruptionKind, "instance_status" | "system_status" | "event_status">[];
}

/** What is wrong with each instance, from all answers together. Volumes are not looked at. (04 §4.4) */
export function unhealthyInstances(statuses: readonly InstanceStatus[], now: number): readonly UnhealthyInstance[] {
  const found = new Map<string, Set<UnhealthyInstance["categories"][number]>>();
  for (const { InstanceId, InstanceStatus: instance, SystemStatus: system, Events: events } of statuses) {
    if (InstanceId === undefined) continue;
    const categories = found.get(InstanceId) ?? new Set();
    if (instance?.Details?.some((detail) => hasFailed(detail, now))) categories.add("instance_status");
    if (system?.Details?.some((detail) => hasFailed(detail, now))) categories.add("system_status");
    if (events?.some(isAhead)) categories.add("event_status");
    found.set(InstanceId, categories);
  }
  return [...found]
    .filter(([, categories]) => categories.size > 0)
    .map(([instanceId, categories]) => ({ instanceId, categories: [...categories] }))
    .sort((left, right) => (left.instanceId < right.instanceId ? -1 : 1));
}

function hasFailed({ Status, ImpairedSince }: InstanceStatusDetails, now: number): boolean {
  return Status === "failed" && ImpairedSince !== undefined && now - ImpairedSince.getTime() >= impairedForMs;
}

/** EC2 lists events for a week after they are over, with a mark before their description. */
function isAhead({ Code, Description = "" }: InstanceStatusEvent): boolean {
  return Code !== undefined && !/^\[(completed|canceled)\]/i.test(Description.trim());
}
