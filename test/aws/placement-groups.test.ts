import { describe, expect, it } from "vitest";
import { PlacementGroups } from "../../src/providers/aws/node-class/placement-groups.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";
import { FakeAws } from "./fake-aws.ts";

const minute = 60_000;

function opened() {
  const clock = new VirtualClock({ startAt: 0 });
  const aws = new FakeAws({ clock, types: () => false });
  aws.placementGroups.push({
    GroupId: "pg-1",
    GroupName: "parts",
    Strategy: "partition",
    PartitionCount: 3,
    State: "available",
  });
  const groups = new PlacementGroups({ ec2: aws.api.ec2, clock });
  const calls = () => aws.inputsOf("ec2:DescribePlacementGroups").length;
  return { clock, aws, groups, calls };
}

const group = { id: "pg-1", name: "parts", strategy: "partition", partitionCount: 3 };

describe("PlacementGroups", () => {
  it("04 §2.8 a group is looked up once a minute and remembered for a day", async () => {
    const { clock, groups, calls } = opened();
    expect(await groups.resolve({ name: "parts" })).toEqual({ kind: "found", group });
    await groups.resolve({ name: "parts" });
    expect(calls()).toBe(1);
    await clock.advance(minute);
    await groups.resolve({ name: "parts" });
    expect(calls()).toBe(2);
    await clock.advance(23 * 60 * minute);
    expect(groups.remembered({ name: "parts" })).toEqual(group);
    await clock.advance(60 * minute);
    expect(groups.remembered({ name: "parts" })).toBeUndefined();
  });

  it("04 §2.8 while EC2 cannot be asked, what is remembered comes with the error", async () => {
    const { clock, aws, groups } = opened();
    await groups.resolve({ id: "pg-1" });
    await clock.advance(minute);
    aws.failNext("ec2:DescribePlacementGroups", { code: "RequestLimitExceeded" });
    expect(await groups.resolve({ id: "pg-1" })).toMatchObject({ kind: "error", remembered: group });
    aws.placementGroups.length = 0;
    expect(await groups.resolve({ id: "pg-1" })).toEqual({ kind: "none" });
    expect(groups.remembered({ id: "pg-1" })).toBeUndefined();
  });

  it("04 §2.8 a process that has just started asks before it launches or compares", async () => {
    const { aws, groups, calls } = opened();
    await groups.ensureRemembered(undefined);
    expect(calls()).toBe(0);
    aws.failNext("ec2:DescribePlacementGroups", { code: "RequestLimitExceeded" });
    await expect(groups.ensureRemembered({ id: "pg-1" })).rejects.toThrow("RequestLimitExceeded");
    await groups.ensureRemembered({ id: "pg-1" });
    expect(groups.remembered({ id: "pg-1" })).toEqual(group);
    await groups.ensureRemembered({ id: "pg-1" });
    expect(calls()).toBe(2);
  });
});
