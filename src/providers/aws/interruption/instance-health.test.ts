import type { InstanceStatus } from "@aws-sdk/client-ec2";
import { describe, expect, it } from "vitest";
import { unhealthyInstances } from "./instance-health.ts";

const now = Date.parse("2026-01-01T00:10:00Z");

function failed(agoMs: number): NonNullable<InstanceStatus["InstanceStatus"]> {
  return {
    Status: "impaired",
    Details: [{ Name: "reachability", Status: "failed", ImpairedSince: new Date(now - agoMs) }],
  };
}
const passed: NonNullable<InstanceStatus["InstanceStatus"]> = {
  Status: "ok",
  Details: [{ Name: "reachability", Status: "passed" }],
};

describe("status checks of instances", () => {
  it("04 §4.4 count after 120 s, and events at once", () => {
    const statuses: InstanceStatus[] = [
      { InstanceId: "i-young", InstanceStatus: failed(119_999), SystemStatus: passed },
      { InstanceId: "i-old", InstanceStatus: failed(120_000), SystemStatus: passed },
      { InstanceId: "i-system", InstanceStatus: passed, SystemStatus: failed(200_000) },
      { InstanceId: "i-event", Events: [{ Code: "instance-retirement", NotBefore: new Date(now) }] },
      { InstanceId: "i-fine", InstanceStatus: passed, SystemStatus: passed, Events: [] },
      { InstanceId: "i-volume", AttachedEbsStatus: { Status: "impaired", Details: [{ Status: "failed" }] } },
    ];
    expect(unhealthyInstances(statuses, now)).toEqual([
      { instanceId: "i-event", categories: ["event_status"] },
      { instanceId: "i-old", categories: ["instance_status"] },
      { instanceId: "i-system", categories: ["system_status"] },
    ]);
  });

  it("04 §4.4 answers about one instance are taken together", () => {
    const both: InstanceStatus = { InstanceId: "i-1", InstanceStatus: failed(200_000), SystemStatus: failed(200_000) };
    expect(unhealthyInstances([both, both, { ...both, Events: [{ Code: "system-reboot" }] }], now)).toEqual([
      { instanceId: "i-1", categories: ["instance_status", "system_status", "event_status"] },
    ]);
  });

  it("04 §4.4 events that are over or were called off do not count", () => {
    const event = (Description: string): InstanceStatus => ({
      InstanceId: "i-1",
      Events: [{ Code: "system-reboot", Description }],
    });
    expect(unhealthyInstances([event("[Completed] The instance was rebooted")], now)).toEqual([]);
    expect(unhealthyInstances([event("[Canceled] The instance was to be rebooted")], now)).toEqual([]);
    expect(unhealthyInstances([event("The instance is running on degraded hardware")], now)).toHaveLength(1);
  });
});
