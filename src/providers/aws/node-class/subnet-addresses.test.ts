import { describe, expect, it } from "vitest";
import type { InstanceType } from "../../../core/instance-type.ts";
import { VirtualClock } from "../../../util/virtual-clock.ts";
import { ec2InstanceTypes } from "../catalogue.ts";
import { SubnetAddresses } from "./subnet-addresses.ts";

const catalogue = ec2InstanceTypes({ region: "us-west-2" });
const types = ("types" in catalogue ? catalogue.types : []).filter(({ name }) =>
  ["m5.large", "m5.xlarge"].includes(name),
);

const inA = (id: string) => ({ id, zone: "us-west-2a" });
const inB = (id: string) => ({ id, zone: "us-west-2b" });

function opened() {
  const clock = new VirtualClock({ startAt: 0 });
  const addresses = new SubnetAddresses({ clock, refreshMs: 60_000 });
  const read = (free: Readonly<Record<string, number>>) =>
    addresses.update(
      Object.entries(free).map(([SubnetId, AvailableIpAddressCount]) => ({ SubnetId, AvailableIpAddressCount })),
    );
  const choose = (...subnets: readonly { id: string; zone: string }[]) =>
    addresses.choose({ subnets, instanceTypes: types, capacityType: "on-demand" });
  const chosenIds = (...subnets: readonly { id: string; zone: string }[]) => choose(...subnets).map(({ id }) => id);
  return { clock, addresses, read, choose, chosenIds };
}

describe("SubnetAddresses", () => {
  it("04 §1.5 each zone gets its subnet with the most free addresses; ties keep the order of the status", () => {
    const { read, chosenIds } = opened();
    read({ "a-1": 50, "a-2": 100, "b-1": 10, "b-2": 10 });
    expect(chosenIds(inA("a-1"), inB("b-1"), inA("a-2"), inB("b-2"))).toEqual(["a-2", "b-1"]);
  });

  it("04 §1.5 a launch is promised as many addresses as the smallest type has pods", () => {
    const { read, choose, chosenIds } = opened();
    read({ "a-1": 100, "a-2": 80 });
    expect(choose(inA("a-1"), inA("a-2"))).toMatchObject([{ id: "a-1", promised: 29 }]);
    expect(chosenIds(inA("a-1"), inA("a-2"))).toEqual(["a-2"]);
  });

  it("04 §1.5 without an offering there nothing is promised", () => {
    const { read, addresses } = opened();
    read({ "a-1": 100 });
    const none: readonly InstanceType[] = types.map((type) => ({ ...type, offerings: [] }));
    const request = { subnets: [inA("a-1")], instanceTypes: none, capacityType: "on-demand" } as const;
    expect(addresses.choose(request)).toMatchObject([{ promised: 0 }]);
  });

  it("04 §1.5 what a launch did not use is given back, also when it failed", () => {
    const { read, choose, chosenIds, addresses } = opened();
    read({ "a-1": 100, "a-2": 99, "b-1": 5 });
    const chosen = choose(inA("a-1"), inA("a-2"), inB("b-1"));
    addresses.release(chosen, ["b-1"]);
    expect(chosenIds(inA("a-1"), inA("a-2"))).toEqual(["a-1"]);
    addresses.release(choose(inA("a-2")), []);
    expect(chosenIds(inA("a-1"), inA("a-2"))).toEqual(["a-2"]);
  });

  it("04 §1.5 reading subnets again drops promises, and what is given back afterwards does not count", () => {
    const { read, choose, chosenIds, addresses } = opened();
    read({ "a-1": 100, "a-2": 99 });
    const chosen = choose(inA("a-1"));
    read({ "a-1": 98 });
    choose(inA("a-1"));
    addresses.release(chosen, []);
    expect(chosenIds(inA("a-1"), inA("a-2"))).toEqual(["a-2"]);
  });

  it("04 §1.5 a subnet without addresses comes last until it is read again", () => {
    const { read, chosenIds, addresses } = opened();
    read({ "a-1": 100, "a-2": 1 });
    addresses.markExhausted("a-1");
    expect(chosenIds(inA("a-1"), inA("a-2"))).toEqual(["a-2"]);
    read({ "a-1": 90 });
    expect(chosenIds(inA("a-1"), inA("a-2"))).toEqual(["a-1"]);
  });

  it("04 §1.5 counts are forgotten after five minutes", async () => {
    const { clock, read, chosenIds } = opened();
    read({ "a-2": 100 });
    await clock.advance(5 * 60_000);
    expect(chosenIds(inA("a-1"), inA("a-2"))).toEqual(["a-1"]);
  });
});
