import { afterEach, describe, expect, it } from "vitest";
import { instanceTypeController, pricingController } from "../../src/providers/aws/controllers/periodic-controllers.ts";
import { InstanceTypeDiscovery } from "../../src/providers/aws/instance-types/instance-type-discovery.ts";
import { LivePrices } from "../../src/providers/aws/instance-types/live-prices.ts";
import { silentLogger } from "../../src/util/logger.ts";
import { type TestWorld, testWorld } from "../world/test-world.ts";
import { populatedAws } from "./fake-aws.ts";

const hours = 60 * 60;
let world: TestWorld | undefined;

async function open() {
  world = await testWorld({ seed: "periods" });
  const { clock } = world;
  const aws = populatedAws({ clock, types: (name) => name === "m5.large" });
  aws.spotPrices = [{ InstanceType: "m5.large", AvailabilityZone: "us-west-2a", SpotPrice: "0.03" }];
  const priceDimensions = { d: { pricePerUnit: { USD: "0.1" } } };
  const terms = { OnDemand: { t: { priceDimensions } } };
  aws.products = [JSON.stringify({ product: { attributes: { instanceType: "m5.large" } }, terms })];
  const discovery = new InstanceTypeDiscovery({ aws: aws.api, log: silentLogger });
  await discovery.start();
  const prices = new LivePrices({ aws: aws.api, clock, isIsolatedVpc: false });
  world.startControllers({ controllers: [instanceTypeController(discovery), pricingController(prices)] });
  await world.pass(1);
  const asked = () =>
    ["DescribeInstanceTypes", "DescribeInstanceTypeOfferings", "DescribeSpotPriceHistory"]
      .map((name) => aws.inputsOf(`ec2:${name}`).length)
      .concat(aws.inputsOf("pricing:GetProducts").length);
  return { aws, discovery, asked, pass: world.pass };
}

afterEach(async () => {
  await world?.stop();
  world = undefined;
});

describe("what is read by the clock", () => {
  it("04 §2.1 04 §2.6 types, their zones and prices are read every 12 h, all of them together", async () => {
    const { aws, asked, pass } = await open();
    aws.calls.length = 0;
    await pass(12 * hours - 5);
    expect(asked()).toEqual([0, 0, 0, 0]);
    await pass(5);
    expect(asked()).toEqual([1, 1, 1, 2]); // the price list has shared and bare metal instances apart
    await pass(12 * hours);
    expect(asked()).toEqual([2, 2, 2, 4]);
  });

  it("04 §2.1 a failure keeps what was known and is tried again soon", async () => {
    const { aws, discovery, asked, pass } = await open();
    const { known } = discovery;
    aws.calls.length = 0;
    await pass(12 * hours - 5);
    aws.failNext("ec2:DescribeInstanceTypes", { code: "RequestLimitExceeded" });
    await pass(5);
    expect(discovery.known).toBe(known);
    await pass(60);
    expect(asked()).toEqual([2, 2, 1, 2]);
  });
});
