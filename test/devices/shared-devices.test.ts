import { describe, expect, it } from "vitest";
import type { CapacityRequestPolicy } from "../../src/api/devices/device-objects.ts";
import { allocatedTo, exactly, resourceClaim, resourceSlice } from "../builders/devices.ts";
import { allocator, host, outcome, take } from "./allocator-world.ts";

const uses = (name: string, amount: string, counterSet = "set") => ({
  name,
  consumesCounters: [{ counterSet, counters: { slots: { value: amount } } }],
});
const sets = (amount: string, ...names: readonly string[]) =>
  (names.length === 0 ? ["set"] : names).map((name) => ({ name, counters: { slots: { value: amount } } }));
const one = resourceClaim("one");
const two = resourceClaim("two");
const count = (number: number, name = "many") =>
  resourceClaim(name, { requests: [exactly("request", { count: number })] });

describe("02:D-8 shared counters", () => {
  const slices = (amount: string) => [
    resourceSlice("devices", { count: 2, devices: [uses("whole", "4"), uses("half-0", "2"), uses("half-1", "2")] }),
    resourceSlice("counters", { count: 2, sharedCounters: sets(amount) }),
  ];

  it("02:D-8 devices that need more than is left are not taken", () => {
    expect(take(allocator({ slices: slices("4") }), host(1), count(2))).toEqual({
      "type-1": ["pool/half-0", "pool/half-1"],
    });
    expect(take(allocator({ slices: slices("4") }), host(1), count(3))).toBe("no-devices");
    expect(take(allocator({ slices: slices("8") }), host(1), count(3))).toBeTypeOf("object");
    expect(take(allocator({ slices: slices("0") }), host(1), one)).toBe("no-devices");
  });

  it("02:D-8 what claims of the cluster use is gone, wherever the device is", () => {
    const held = resourceClaim("held", { status: allocatedTo(["live"], ["half-0"]) });
    expect(take(allocator({ slices: slices("4"), claims: [held] }), host(1), one)).toEqual({
      "type-1": ["pool/half-1"],
    });
    const elsewhere = [
      resourceSlice("a", { count: 3, nodeName: "n1", devices: [uses("half-0", "2")] }),
      resourceSlice("b", { count: 3, nodeName: "n2", devices: [uses("whole", "4"), uses("half-1", "2")] }),
      resourceSlice("c", { count: 3, sharedCounters: sets("4") }),
    ];
    const at = host(1, { nodeName: "n2" });
    expect(take(allocator({ slices: elsewhere, claims: [held] }), at, one)).toEqual({ "type-1": ["pool/half-1"] });
  });

  it("02:D-8 pods before it in the pass have used some", () => {
    const devices = allocator({ slices: slices("4") });
    expect(take(devices, host(1), count(2))).toBeTypeOf("object");
    expect(take(devices, host(2), one)).toBe("no-devices");
  });

  it("02:D-8 a node is charged with the most any of its types uses, and given back what dropped types used", () => {
    const both = ["pool/whole", "pool/half-0"];
    const at = host(1, { types: { small: {}, large: {} } });
    const devices = allocator({ slices: slices("8") });
    expect(take(devices, at, count(2))).toEqual({ small: both, large: both });
    expect(outcome(devices.allocate(host(2), [one]))).toEqual({ "type-1": ["pool/half-1"] });
    const tight = allocator({ slices: slices("7") });
    const result = tight.allocate(at, [count(2)]);
    if ("reason" in result) throw new Error(result.reason);
    tight.commit(1, result, new Set(["small"]));
    expect(outcome(tight.allocate(host(2), [one]))).toBe("no-devices");
    const free = allocator({ slices: slices("7") });
    free.commit(1, result, new Set());
    expect(outcome(free.allocate(host(2), [count(2, "others")]))).toEqual({ "type-1": both });
  });

  it("02:D-4 a pool with a counter set twice, or devices of counters it does not declare, offers nothing", () => {
    const twice = [
      resourceSlice("a", { count: 2, devices: ["x"] }),
      resourceSlice("b", { count: 2, sharedCounters: sets("4", "set", "set") }),
    ];
    expect(take(allocator({ slices: twice }), host(1), one)).toBe("no-devices");
    const dangling = [resourceSlice("a", { devices: [uses("x", "1"), "y"] })];
    expect(take(allocator({ slices: dangling }), host(1), one)).toBe("no-devices");
  });

  it("02:D-8 counters of an instance type are each node's own, and not those of a published pool of the same name", () => {
    const types = {
      "type-1": { pool: "pool", devices: [uses("x", "2"), uses("y", "2"), uses("z", "2")], sharedCounters: sets("4") },
    };
    const devices = allocator({ slices: slices("0") });
    expect(take(devices, host(1, { types }), one)).toEqual({ "type-1": ["pool/x"] });
    expect(take(devices, host(1, { types }), two)).toEqual({ "type-1": ["pool/y"] });
    expect(take(devices, host(1, { types }), resourceClaim("three"))).toBe("no-devices");
    expect(take(devices, host(2, { types }), resourceClaim("four"))).toEqual({ "type-1": ["pool/x"] });
    const undeclared = { "type-1": { devices: [uses("x", "2")] } };
    expect(take(allocator({}), host(1, { types: undeclared }), one)).toBe("no-devices");
  });
});

describe("02:D-8 consumable capacity", () => {
  const device = (name: string, value: string, requestPolicy?: CapacityRequestPolicy) => ({
    name,
    allowMultipleAllocations: true,
    capacity: { memory: { value, ...(requestPolicy && { requestPolicy }) } },
  });
  const wants = (name: string, memory?: string, number = 1) =>
    resourceClaim(name, {
      requests: [
        exactly("request", { count: number, ...(memory !== undefined && { capacity: { requests: { memory } } }) }),
      ],
    });
  const slicesOf = (...devices: readonly ReturnType<typeof device>[]) => [resourceSlice("s", { devices })];

  it("02:D-8 several claims share a device until its capacity is used up", () => {
    const devices = allocator({ slices: slicesOf(device("gpu", "40Gi")) });
    expect(take(devices, host(1), wants("one", "30Gi"))).toEqual({ "type-1": ["pool/gpu"] });
    expect(take(devices, host(2), wants("two", "10Gi"))).toEqual({ "type-1": ["pool/gpu"] });
    expect(take(devices, host(2), wants("three", "1"))).toBe("no-devices");
  });

  it("02:D-8 one request may use a device several times, and goes to the next when it is full", () => {
    const devices = allocator({ slices: slicesOf(device("gpu-0", "20Gi"), device("gpu-1", "20Gi")) });
    expect(take(devices, host(1), wants("one", "10Gi", 3))).toEqual({
      "type-1": ["pool/gpu-0", "pool/gpu-0", "pool/gpu-1"],
    });
    expect(take(devices, host(1), wants("two", "10Gi", 2))).toBe("no-devices");
  });

  it("02:D-8 without a request it is the default, or all of it; a capacity it does not have is refused", () => {
    expect(take(allocator({ slices: slicesOf(device("gpu", "40Gi")) }), host(1), wants("one", undefined, 2))).toBe(
      "no-devices",
    );
    const policy = { default: "20Gi" };
    expect(
      take(allocator({ slices: slicesOf(device("gpu", "40Gi", policy)) }), host(1), wants("one", undefined, 2)),
    ).toEqual({
      "type-1": ["pool/gpu", "pool/gpu"],
    });
    const cores = resourceClaim("one", { requests: [exactly("request", { capacity: { requests: { cores: "1" } } })] });
    expect(take(allocator({ slices: slicesOf(device("gpu", "40Gi")) }), host(1), cores)).toBe("no-devices");
  });

  it.each<[string, CapacityRequestPolicy, string, number | undefined]>([
    ["up to the next valid value", { validValues: ["10", "20"] }, "11", 20],
    ["a valid value as it is", { validValues: ["10", "20"] }, "10", 10],
    ["above all valid values refused", { validValues: ["10", "20"] }, "21", undefined],
    ["up to the minimum", { validRange: { min: "5" } }, "1", 5],
    ["up to a step", { validRange: { min: "5", step: "10" } }, "16", 25],
    ["a step as it is", { validRange: { min: "5", step: "10" } }, "15", 15],
    ["within a range as it is", { validRange: { min: "5", max: "50" } }, "33", 33],
    ["above the maximum refused", { validRange: { min: "5", max: "30" } }, "31", undefined],
    ["at the maximum", { validRange: { min: "5", max: "30" } }, "30", 30],
    ["stepped above the maximum refused", { validRange: { min: "5", max: "30", step: "10" } }, "26", undefined],
    ["the default even if it is no valid value", { default: "7", validValues: ["10"] }, "", 7],
  ])("02:D-8 a request is rounded %s", (_, policy, asked, taken) => {
    const total = 100;
    const devices = allocator({ slices: slicesOf(device("gpu", String(total), policy)) });
    const result = devices.allocate(host(1), [wants("one", asked === "" ? undefined : asked)]);
    const found = "reason" in result ? undefined : result.found.get("type-1")?.[0];
    expect(found?.consumed?.get("memory")).toEqual(taken === undefined ? undefined : BigInt(taken) * 1_000_000_000n);
  });

  it("02:D-11 of a device that others share, only the part of pods that move is free", () => {
    const slices = slicesOf(device("gpu", "40Gi"));
    const share = (name: string, pod: string, memory: string) =>
      resourceClaim(name, { status: allocatedTo([pod], [{ device: "gpu", consumedCapacity: { memory } }]) });
    const moving = share("moving", "p1", "20Gi");
    const claims = [moving, share("staying", "live", "15Gi")];
    const of = (memory: string) => take(allocator({ slices, claims, moving: ["p1"] }), host(1), wants("new", memory));
    expect(of("25Gi")).toEqual({ "type-1": ["pool/gpu"] });
    expect(of("26Gi")).toBe("no-devices");
    const allGo = allocator({ slices, claims, moving: ["p1", "live"] });
    expect(take(allGo, host(1), wants("new", "40Gi"))).toEqual({ "type-1": ["pool/gpu"] });
  });

  it("02:D-8 capacity of an instance type's devices is each node's own", () => {
    const types = { "type-1": { devices: [device("gpu", "40Gi")] } };
    const devices = allocator({});
    expect(take(devices, host(1, { types }), wants("one", "30Gi"))).toEqual({ "type-1": ["own/gpu"] });
    expect(take(devices, host(1, { types }), wants("two", "30Gi"))).toBe("no-devices");
    expect(take(devices, host(2, { types }), wants("three", "30Gi"))).toEqual({ "type-1": ["own/gpu"] });
  });

  it("02:D-8 every capacity must be left", () => {
    const both = {
      name: "gpu",
      allowMultipleAllocations: true,
      capacity: { memory: { value: "40" }, cores: { value: "10" } },
    };
    const asks = (name: string, memory: string, cores: string) =>
      resourceClaim(name, { requests: [exactly("request", { capacity: { requests: { memory, cores } } })] });
    const devices = allocator({ slices: [resourceSlice("s", { devices: [both] })] });
    expect(take(devices, host(1), asks("one", "10", "8"))).toEqual({ "type-1": ["pool/gpu"] });
    expect(take(devices, host(1), asks("two", "10", "3"))).toBe("no-devices");
    expect(take(devices, host(1), asks("three", "30", "2"))).toEqual({ "type-1": ["pool/gpu"] });
  });
});
