import { describe, expect, it } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { type AwsWorld, awsPool, opensAwsWorlds } from "./aws-world.ts";
import { nodeClassManifest } from "./node-class-world.ts";

const open = opensAwsWorlds();

const offeringLabels = ["instance_type", "capacity_type", "zone"];
const available = (one: AwsWorld) => one.gauge("cloudprovider_instance_type_offering_available", offeringLabels);
const prices = (one: AwsWorld) => one.gauge("cloudprovider_instance_type_offering_price_estimate", offeringLabels);
const onlyM5 = { types: (name: string) => /^m5\.(large|xlarge)$/.test(name) };

const reservation = (changes: object = {}) => ({
  CapacityReservationId: "cr-1",
  OwnerId: "123456789012",
  InstanceType: "m5.large",
  AvailabilityZone: "us-west-2a",
  State: "active" as const,
  AvailableInstanceCount: 2,
  TotalInstanceCount: 2,
  InstanceMatchCriteria: "targeted" as const,
  ...changes,
});
const reserving = {
  ...onlyM5,
  nodeClass: { capacityReservationSelectorTerms: [{ id: "cr-1" }] },
  account: (aws: AwsWorld["aws"]) => void aws.capacityReservations.push(reservation()),
};

describe("the gauges of instance types and offerings", () => {
  it("04 §5.5 every instance type says how large it is, until EC2 has it no more", async () => {
    const one = await open(onlyM5);
    const cores = () => one.gauge("cloudprovider_instance_type_cpu_cores", ["instance_type"]);
    expect([...cores()]).toEqual([
      ["m5.large", 2],
      ["m5.xlarge", 4],
    ]);
    expect(one.gauge("cloudprovider_instance_type_memory_bytes", ["instance_type"]).get("m5.large")).toBe(8 * 2 ** 30);
    const again = await one.start();
    const controllers = again.controllers.filter(({ name }) => /^(cloudprovider|providers.instancetype)/.test(name));
    await one.stopControllers();
    expect([...cores()]).toEqual([]);
    one.aws.instanceTypes = one.aws.instanceTypes.filter(({ InstanceType }) => InstanceType !== "m5.large");
    one.startControllers({ name: "again", controllers });
    await one.pass(1);
    expect([...cores()]).toEqual([["m5.xlarge", 4]]);
  });

  it("04 §5.5 availability and price of every offering of a pool, renewed each minute", async () => {
    const one = await open(onlyM5);
    await one.store(awsPool("a"));
    await one.pass(60);
    expect(available(one).get("m5.large on-demand us-west-2a")).toBe(1);
    expect(prices(one).get("m5.large on-demand us-west-2a")).toBe(0.096);
    one.aws.poolErrors.set("on-demand:m5.large:us-west-2a", { code: "InsufficientInstanceCapacity", message: "none" });
    const [type, capacityType, zone] = ["m5.large", "on-demand", "us-west-2a"] as const;
    const requirements = [
      { key: labels.instanceType, operator: "In" as const, values: [type] },
      { key: labels.capacityType, operator: "In" as const, values: [capacityType] },
      { key: labels.zone, operator: "In" as const, values: [zone] },
    ];
    await expect(one.create("a", { requirements })).rejects.toThrow(/InsufficientInstanceCapacity/);
    await one.pass(60);
    expect(available(one).get("m5.large on-demand us-west-2a")).toBe(0);
    expect(available(one).get("m5.large on-demand us-west-2b")).toBe(1);
    await one.pass(4 * 60);
    expect(available(one).get("m5.large on-demand us-west-2a")).toBe(1);
  });

  it("04 §5.5 an offering is available if any pool sees it so, and series end with their pool", async () => {
    const one = await open(onlyM5);
    const onlyB = { subnetSelectorTerms: [{ id: "subnet-2" }] };
    await one.store(nodeClassManifest("small", onlyB), awsPool("small", "small"));
    await one.pass(60);
    expect(available(one).get("m5.large on-demand us-west-2a")).toBe(0);
    await one.store(awsPool("all"));
    await one.pass(60);
    expect(available(one).get("m5.large on-demand us-west-2a")).toBe(1);
    await one.client.delete(karpenterTypes.NodePool, { name: "all" });
    await one.pass(60);
    expect(available(one).get("m5.large on-demand us-west-2a")).toBe(0);
    await one.client.delete(karpenterTypes.NodePool, { name: "small" });
    await one.pass(60);
    expect([available(one).size, prices(one).size]).toEqual([0, 0]);
  });

  it("04 §5.5 a pool whose class cannot be used does not suppress the others", async () => {
    const one = await open(onlyM5);
    await one.store(awsPool("a"), awsPool("broken", "missing"));
    await one.pass(60);
    expect(available(one).get("m5.large on-demand us-west-2a")).toBe(1);
  });

  it("04 §5.5 reservations have series, and zones without one are 0", async () => {
    const one = await open(reserving);
    await one.store(awsPool("a"));
    await one.pass(60);
    expect(available(one).get("m5.large reserved us-west-2a")).toBe(1);
    expect(prices(one).get("m5.large reserved us-west-2a")).toBeCloseTo(0.096 / 10_000_000, 12);
    expect(available(one).get("m5.large reserved us-west-2b")).toBe(0);
    expect(available(one).get("m5.xlarge reserved us-west-2a")).toBe(0);
  });

  it("04 §5.5 without the gate ReservedCapacity there are no series of reservations", async () => {
    const one = await open({ ...reserving, usesReservations: false });
    await one.store(awsPool("a"));
    await one.pass(60);
    expect([...available(one).keys()].filter((key) => key.includes("reserved"))).toEqual([]);
    expect(available(one).size).toBeGreaterThan(0);
  });

  it("04 §1.9 the size of user data is a gauge that ends with its class", async () => {
    const one = await open(onlyM5);
    const bytes = () => one.gauge("ec2nodeclasses_userdata_bytes", ["nodeclass"]);
    expect(bytes().get("web")).toBeGreaterThan(100);
    await one.client.delete(karpenterTypes.EC2NodeClass, { name: "web" });
    await one.pass(5);
    expect([...bytes()]).toEqual([]);
  });
});
