import { describe, expect, it } from "vitest";
import { interruptionEventOf } from "./interruption-event.ts";

const at = Date.parse("2026-01-01T00:00:00Z");

function body(source: string, detailType: string, detail: object, changes: object = {}): string {
  return JSON.stringify({
    version: "0",
    id: "1",
    "detail-type": detailType,
    source,
    account: "000000000000",
    time: "2026-01-01T00:00:00Z",
    region: "us-west-2",
    resources: [],
    detail,
    ...changes,
  });
}

const stateChange = (state: string): string =>
  body("aws.ec2", "EC2 Instance State-change Notification", { "instance-id": "i-1", state });
const health = (service: string, eventTypeCategory: string): string =>
  body("aws.health", "AWS Health Event", {
    service,
    eventTypeCategory,
    affectedEntities: [{ entityValue: "i-1" }, { entityValue: "i-2" }, { other: 1 }],
  });

describe("messages of EventBridge", () => {
  it.each([
    ["spot_interrupted", body("aws.ec2", "EC2 Spot Instance Interruption Warning", { "instance-id": "i-1" }), ["i-1"]],
    [
      "rebalance_recommendation",
      body("aws.ec2", "EC2 Instance Rebalance Recommendation", { "instance-id": "i-1" }),
      ["i-1"],
    ],
    [
      "capacity_reservation_interrupted",
      body("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning", { "instance-id": "i-1" }),
      ["i-1"],
    ],
    ["instance_stopped", stateChange("stopping"), ["i-1"]],
    ["instance_stopped", stateChange("Stopped"), ["i-1"]],
    ["instance_terminated", stateChange("SHUTTING-DOWN"), ["i-1"]],
    ["instance_terminated", stateChange("terminated"), ["i-1"]],
    ["scheduled_change", health("EC2", "scheduledChange"), ["i-1", "i-2"]],
  ])("04 §4.2 %s", (kind, text, instanceIds) => {
    expect(interruptionEventOf(text)).toEqual({ kind, instanceIds, at });
  });

  it.each([
    ["a state of no interest", stateChange("running")],
    ["a state that names a property of every object", stateChange("constructor")],
    ["health of another service", health("RDS", "scheduledChange")],
    ["health of another category", health("EC2", "issue")],
    ["an unknown detail-type", body("aws.ec2", "EC2 Something", {})],
    ["another source", body("aws.spot", "EC2 Spot Instance Interruption Warning", { "instance-id": "i-1" })],
    ["another version", body("aws.ec2", "EC2 Spot Instance Interruption Warning", {}, { version: "1" })],
    ["an empty object", "{}"],
    ["an empty body", ""],
    ["no body", undefined],
  ])("04 §4.2 asks for nothing: %s", (_, text) => {
    expect(interruptionEventOf(text)).toMatchObject({ kind: "no_op", instanceIds: [] });
  });

  it.each(["{", "null", "[]", '"text"', "spot"])("04 §4.1 %s cannot be read", (text) => {
    expect(interruptionEventOf(text).kind).toBe("unreadable");
  });

  it("04 §4.2 odd details name no instance, and a time that is none is left out", () => {
    const event = (detail: unknown): string =>
      body("aws.ec2", "EC2 Spot Instance Interruption Warning", {}, { detail, time: "yesterday" });
    for (const detail of [null, 1, [], { "instance-id": 7 }, { "instance-id": "" }]) {
      expect(interruptionEventOf(event(detail))).toEqual({ kind: "spot_interrupted", instanceIds: [], at: undefined });
    }
  });
});
