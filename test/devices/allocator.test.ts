import { describe, expect, it } from "vitest";
import { describeDeviceRefusal } from "../../src/core/devices/device-refusal.ts";
import {
  allocatedTo,
  deviceClass,
  exactly,
  inZone,
  matchAttribute,
  resourceClaim,
  resourceSlice,
} from "../builders/devices.ts";
import { allocator, host, outcome, take, zoneLabel } from "./allocator-world.ts";

const claim = resourceClaim("one");
const pair = resourceClaim("pair", { requests: [exactly("request", { count: 2 })] });
const allDevices = resourceClaim("all", { requests: [exactly("request", { allocationMode: "All" })] });
const numa = (name: string, node: string) => ({ name, attributes: { numa: { string: node } } });

describe("02:D-6 published devices", () => {
  const slices = [resourceSlice("s", { devices: ["gpu-0", "gpu-1"] })];

  it("02:D-6 the first free device is taken, and the next claim gets another", () => {
    const devices = allocator({ slices });
    expect(take(devices, host(1), claim)).toEqual({ "type-1": ["pool/gpu-0"] });
    expect(take(devices, host(1), resourceClaim("two"))).toEqual({ "type-1": ["pool/gpu-1"] });
    expect(take(devices, host(1), resourceClaim("three"))).toBe("no-devices");
  });

  it("02:D-6 a claim, a request and a pod may want several", () => {
    expect(take(allocator({ slices }), host(1), pair)).toEqual({ "type-1": ["pool/gpu-0", "pool/gpu-1"] });
    const requests = [exactly("a"), exactly("b")];
    expect(take(allocator({ slices }), host(1), resourceClaim("two", { requests }))).toEqual({
      "type-1": ["pool/gpu-0", "pool/gpu-1"],
    });
    expect(take(allocator({ slices }), host(1), claim, resourceClaim("two"))).toEqual({
      "type-1": ["pool/gpu-0", "pool/gpu-1"],
    });
    expect(take(allocator({ slices }), host(1), pair, claim)).toBe("no-devices");
  });

  it("02:D-5 devices that claims of the cluster have are not free", () => {
    const holding = resourceClaim("held", { status: allocatedTo(["live"], ["gpu-0"]) });
    expect(take(allocator({ slices, claims: [holding] }), host(1), claim)).toEqual({ "type-1": ["pool/gpu-1"] });
    expect(take(allocator({ slices, claims: [holding] }), host(1), pair)).toBe("no-devices");
  });

  it("02:D-8 an allocation that is not committed takes nothing", () => {
    const devices = allocator({ slices: [resourceSlice("s", { devices: ["gpu-0"] })] });
    devices.allocate(host(1), [claim]);
    expect(take(devices, host(2), resourceClaim("two"))).toEqual({ "type-1": ["pool/gpu-0"] });
  });

  it("02:D-4 a device of a named node is for that node alone", () => {
    const own = [resourceSlice("s", { nodeName: "n1", devices: ["gpu-0"] })];
    expect(take(allocator({ slices: own }), host(1, { nodeName: "n1" }), claim)).toEqual({ "type-1": ["pool/gpu-0"] });
    expect(take(allocator({ slices: own }), host(1, { nodeName: "n2" }), claim)).toBe("no-devices");
    expect(take(allocator({ slices: own }), host(1), claim)).toBe("no-devices");
  });
});

describe("02:D-6 selectors", () => {
  const slices = [
    resourceSlice("s", {
      devices: [
        { name: "gpu-0", attributes: { model: { string: "t4" } } },
        { name: "gpu-1", attributes: { model: { string: "a100" }, memory: { int: 40 } } },
        { name: "gpu-2", attributes: { model: { string: "a100" }, memory: { int: 80 } } },
      ],
    }),
  ];
  const a100 = 'device.attributes["gpu.example.com"].model == "a100"';
  const large = 'device.attributes["gpu.example.com"].memory > 40';

  it("02:D-6 those of the class and of the request must both match", () => {
    const of = (selector: string, ...classSelectors: readonly string[]) =>
      take(
        allocator({ slices, classes: [deviceClass("gpu", ...classSelectors)] }),
        host(1),
        resourceClaim("one", { requests: [exactly("request", { selector })] }),
      );
    expect(of("true", a100)).toEqual({ "type-1": ["pool/gpu-1"] });
    expect(of(a100)).toEqual({ "type-1": ["pool/gpu-1"] });
    expect(of(large, a100)).toEqual({ "type-1": ["pool/gpu-2"] });
    expect(of("false", a100)).toBe("no-devices");
  });

  it("02:D-6 a class that is not there, a selector that does not compile or is no CEL refuse the claim", () => {
    const refused = (requests: readonly ReturnType<typeof exactly>[], classes = [deviceClass()]) => {
      const result = allocator({ slices, classes }).allocate(host(1), [resourceClaim("one", { requests })]);
      return "reason" in result ? describeDeviceRefusal(result) : result;
    };
    expect(refused([exactly("request", { deviceClassName: "tpu" })])).toBe(
      'allocating dynamic resources, validating claim "one": request "request": DeviceClass "tpu" not found',
    );
    expect(refused([exactly("request", { selector: "nope" })])).toContain('CEL expression "nope" failed to compile: ');
    expect(refused([exactly("request", { selectors: [{}] })])).toContain("only CEL selectors are supported");
    expect(refused([{ name: "request" }])).toContain('request "request" is of an unknown kind');
  });

  it("02:D-6 a selector that fails on a device does not match it", () => {
    const wanted = resourceClaim("one", { requests: [exactly("request", { selector: large })] });
    expect(take(allocator({ slices }), host(1), wanted)).toEqual({ "type-1": ["pool/gpu-2"] });
  });
});

describe("02:D-6 matching attributes", () => {
  const slices = [resourceSlice("s", { devices: [numa("gpu-0", "a"), numa("gpu-1", "b"), numa("gpu-2", "b")] })];
  const constraints = [matchAttribute("gpu.example.com/numa")];

  it("02:D-6 the search goes back until all devices have one value", () => {
    const wanted = resourceClaim("one", { requests: [exactly("request", { count: 2 })], constraints });
    expect(take(allocator({ slices }), host(1), wanted)).toEqual({ "type-1": ["pool/gpu-1", "pool/gpu-2"] });
    const requests = [exactly("a"), exactly("b")];
    const across = resourceClaim("one", { requests, constraints });
    expect(take(allocator({ slices }), host(1), across)).toEqual({ "type-1": ["pool/gpu-1", "pool/gpu-2"] });
    const three = resourceClaim("one", { requests: [exactly("request", { count: 3 })], constraints });
    expect(take(allocator({ slices }), host(1), three)).toBe("no-devices");
  });

  it("02:D-6 a constraint is about its requests only, and about one claim", () => {
    const requests = [exactly("a"), exactly("b")];
    const scoped = resourceClaim("one", { requests, constraints: [matchAttribute("gpu.example.com/numa", "a")] });
    expect(take(allocator({ slices }), host(1), scoped)).toEqual({ "type-1": ["pool/gpu-0", "pool/gpu-1"] });
    const [first, second] = ["one", "two"].map((name) => resourceClaim(name, { constraints }));
    if (first && second)
      expect(take(allocator({ slices }), host(1), first, second)).toEqual({ "type-1": ["pool/gpu-0", "pool/gpu-1"] });
  });

  it("02:D-6 a device without the attribute does not match; values of other types differ", () => {
    const mixed = [
      resourceSlice("s", {
        devices: ["gpu-0", { name: "gpu-1", attributes: { numa: { int: 1 } } }, numa("gpu-2", "1")],
      }),
    ];
    const wanted = resourceClaim("one", { requests: [exactly("request", { count: 2 })], constraints });
    expect(take(allocator({ slices: mixed }), host(1), wanted)).toBe("no-devices");
  });

  it("02:D-6 DistinctAttribute is refused", () => {
    const wanted = resourceClaim("one", { constraints: [{ distinctAttribute: "gpu.example.com/numa" }] });
    const result = allocator({ slices }).allocate(host(1), [wanted]);
    expect("reason" in result && describeDeviceRefusal(result)).toBe(
      'allocating dynamic resources, validating claim "one": DistinctAttribute constraints are not supported',
    );
  });

  it("02:D-6 values nobody knows yet match by the bindings of the type, which are transitive; known ones do not mix with them", () => {
    const bound = (...names: readonly string[]) => ({
      attribute: "gpu.example.com/numa",
      devices: names.map((device) => ({ driver: "gpu.example.com", pool: "own", device })),
    });
    const wanted = resourceClaim("one", { requests: [exactly("request", { count: 2 })], constraints });
    const on = (
      devices: readonly (string | ReturnType<typeof numa>)[],
      ...attributeBindings: readonly ReturnType<typeof bound>[]
    ) => take(allocator({}), host(1, { types: { "type-1": { devices, attributeBindings } } }), wanted);
    expect(on(["x", "y", "z"], bound("x", "q"), bound("q", "z"))).toEqual({ "type-1": ["own/x", "own/z"] });
    expect(on(["x", "y"], bound("x"))).toBe("no-devices");
    expect(on(["x", "y", "z"], bound("x", "q"), bound("y", "z"))).toEqual({ "type-1": ["own/y", "own/z"] });
    expect(on([numa("x", "a"), "y"], bound("x", "y"))).toBe("no-devices");
  });
});

describe("02:D-6 alternatives", () => {
  const alternatives = (...names: readonly string[]) => ({
    name: "request",
    firstAvailable: names.map((name) => ({
      name,
      deviceClassName: "gpu",
      selectors: [{ cel: { expression: `device.attributes["gpu.example.com"].numa == "${name}"` } }],
    })),
  });
  const slices = [resourceSlice("s", { devices: [numa("gpu-0", "a"), numa("gpu-1", "b")] })];

  it("02:D-6 the first that can be had is taken", () => {
    const of = (...names: readonly string[]) =>
      take(allocator({ slices }), host(1), resourceClaim("one", { requests: [alternatives(...names)] }));
    expect(of("b", "a")).toEqual({ "type-1": ["pool/gpu-1"] });
    expect(of("c", "a")).toEqual({ "type-1": ["pool/gpu-0"] });
    expect(of("c", "d")).toBe("no-devices");
  });

  it("02:D-6 a later request can make the search go back to another alternative", () => {
    const wantsB = exactly("second", { selector: 'device.attributes["gpu.example.com"].numa == "b"' });
    const wanted = resourceClaim("one", { requests: [alternatives("b", "a"), wantsB] });
    expect(take(allocator({ slices }), host(1), wanted)).toEqual({ "type-1": ["pool/gpu-0", "pool/gpu-1"] });
  });

  it("02:D-6 a constraint may name one alternative", () => {
    const constraints = [matchAttribute("gpu.example.com/numa", "request/b", "other")];
    const requests = [alternatives("b", "a"), exactly("other")];
    const wanted = resourceClaim("one", { requests, constraints });
    expect(take(allocator({ slices }), host(1), wanted)).toEqual({ "type-1": ["pool/gpu-0", "pool/gpu-1"] });
  });
});

describe("02:D-7 counts", () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => `gpu-${String(at).padStart(2, "0")}`);
  const slices = [resourceSlice("s", { devices: many(40) })];

  it("02:D-7 a claim has at most 32 devices", () => {
    const of = (...counts: readonly number[]) => {
      const requests = counts.map((count, at) => exactly(`r${at}`, { count }));
      return take(allocator({ slices }), host(1), resourceClaim("one", { requests }));
    };
    expect(of(32)).toEqual({ "type-1": many(32).map((name) => `pool/${name}`) });
    expect(of(33)).toBe("too-many-devices");
    expect(of(20, 13)).toBe("too-many-devices");
    expect(take(allocator({ slices }), host(1), allDevices)).toBe("too-many-devices");
  });

  it("02:D-7 all devices are those that match, and all of them must be free", () => {
    const three = [resourceSlice("s", { devices: [numa("gpu-0", "a"), numa("gpu-1", "b"), numa("gpu-2", "a")] })];
    const selector = 'device.attributes["gpu.example.com"].numa == "a"';
    const wanted = resourceClaim("all", { requests: [exactly("request", { allocationMode: "All", selector })] });
    expect(take(allocator({ slices: three }), host(1), wanted)).toEqual({ "type-1": ["pool/gpu-0", "pool/gpu-2"] });
    const held = resourceClaim("held", { status: allocatedTo(["live"], ["gpu-2"]) });
    expect(take(allocator({ slices: three, claims: [held] }), host(1), wanted)).toBe("no-devices");
  });

  it("02:D-7 all of none is no device", () => {
    expect(take(allocator({}), host(1), allDevices)).toBe("no-devices");
  });

  it("02:D-7 types whose own devices are too many, or none, are dropped", () => {
    const types = { small: { devices: many(2) }, large: { devices: many(33) }, none: {} };
    expect(take(allocator({}), host(1, { types }), allDevices)).toEqual({ small: ["own/gpu-00", "own/gpu-01"] });
  });

  it("02:D-7 all devices cannot be told while a pool is invalid or incomplete", () => {
    const invalid = [resourceSlice("s", { devices: ["x", "x"] })];
    expect(take(allocator({ slices: invalid }), host(1), allDevices)).toBe("invalid-pool");
    const incomplete = [resourceSlice("s", { devices: ["x"], count: 2 })];
    expect(take(allocator({ slices: incomplete }), host(1), allDevices)).toBe("incomplete-pool");
    expect(take(allocator({ slices: incomplete }), host(1), claim)).toBe("no-devices");
  });
});

describe("02:D-3 devices of instance types", () => {
  it("02:D-3 published devices come before those of the type; each type has its own", () => {
    const slices = [resourceSlice("s", { devices: ["gpu-0"] })];
    const types = { small: { devices: ["x"] }, large: { devices: ["x", "y"] }, none: {} };
    expect(take(allocator({ slices }), host(1, { types }), pair)).toEqual({
      small: ["pool/gpu-0", "own/x"],
      large: ["pool/gpu-0", "own/x"],
    });
    const three = resourceClaim("three", { requests: [exactly("request", { count: 3 })] });
    expect(take(allocator({ slices }), host(1, { types }), three)).toEqual({ large: ["pool/gpu-0", "own/x", "own/y"] });
  });

  it("02:D-8 they are used up for each node and type", () => {
    const devices = allocator({});
    const types = { small: { devices: ["x"] }, large: { devices: ["x", "y"] } };
    expect(take(devices, host(1, { types }), claim)).toEqual({ small: ["own/x"], large: ["own/x"] });
    expect(take(devices, host(1, { types }), resourceClaim("two"))).toEqual({ large: ["own/y"] });
    expect(take(devices, host(2, { types }), resourceClaim("three"))).toEqual({ small: ["own/x"], large: ["own/x"] });
  });

  it("02:D-5 a claim that uses them is tied to its node; one of published devices is not", () => {
    const devices = allocator({ slices: [resourceSlice("s", { devices: ["gpu-0"] })] });
    expect(take(devices, host(1), claim)).toEqual({ "type-1": ["pool/gpu-0"] });
    expect(take(devices, host(2), claim)).toEqual({});
    const types = { "type-1": { devices: ["x"] } };
    const local = resourceClaim("local");
    expect(take(devices, host(1, { types }), local)).toEqual({ "type-1": ["own/x"] });
    expect(take(devices, host(1, { types }), local)).toEqual({});
    expect(take(devices, host(2, { types }), local)).toBe("tied-to-other-node");
  });
});

describe("02:D-8 who has which device", () => {
  const types = { small: {}, large: {} };
  const slices = [resourceSlice("s", { devices: ["gpu-0"] })];

  it("02:D-8 a published device is taken for other nodes as soon as one type uses it, and free when no type does", () => {
    const devices = allocator({ slices });
    const result = devices.allocate(host(1, { types }), [claim]);
    expect(outcome(result)).toEqual({ small: ["pool/gpu-0"], large: ["pool/gpu-0"] });
    if ("reason" in result) return;
    devices.commit(1, result, new Set(["small"]));
    expect(outcome(devices.allocate(host(2), [resourceClaim("two")]))).toBe("no-devices");
    // For the type that was given back the same node could use it again.
    expect(outcome(devices.allocate(host(1, { types }), [resourceClaim("two")]))).toEqual({ large: ["pool/gpu-0"] });
    const free = allocator({ slices });
    free.commit(1, result, new Set());
    expect(outcome(free.allocate(host(2), [resourceClaim("two")]))).toEqual({ "type-1": ["pool/gpu-0"] });
  });

  it("02:D-10 the drivers of a node are those of the devices its claims got", () => {
    const devices = allocator({
      slices: [...slices, resourceSlice("n", { driver: "a.example.com", devices: ["nic"] })],
    });
    expect(take(devices, host(1), pair)).toBeDefined();
    expect(devices.driversOf(1)).toEqual(["a.example.com", "gpu.example.com"]);
    expect(devices.driversOf(2)).toEqual([]);
  });
});

describe("02:D-5 topology of devices", () => {
  const slices = [
    resourceSlice("a", { pool: "a", devices: ["gpu-0"], ...inZone("zone-a") }),
    resourceSlice("b", { pool: "b", devices: ["gpu-0"], ...inZone("zone-b") }),
  ];
  const zonesOf = (result: ReturnType<ReturnType<typeof allocator>["allocate"]>) =>
    "reason" in result ? result.reason : String(result.requirements);

  it("02:D-4 a device must be usable where the node can be, and restricts that", () => {
    const on = (...zones: readonly string[]) =>
      zonesOf(allocator({ slices }).allocate(host(1, { labels: { [zoneLabel]: zones } }), [claim]));
    expect(on("zone-a", "zone-b")).toBe(`${zoneLabel} In [zone-a]`);
    expect(on("zone-b")).toBe(`${zoneLabel} In [zone-b]`);
    expect(on("zone-c")).toBe("no-devices");
  });

  it("02:D-6 devices of two zones cannot be used together", () => {
    expect(outcome(allocator({ slices }).allocate(host(1), [pair]))).toBe("no-devices");
  });

  it("02:D-6 what the devices of one type require is required of later types", () => {
    const types = { small: { devices: [] }, large: { devices: ["x"] } };
    const devices = allocator({ slices: slices.slice(0, 1) });
    expect(take(devices, host(1, { types, labels: { [zoneLabel]: ["zone-a", "zone-b"] } }), pair)).toEqual({
      large: ["a/gpu-0", "own/x"],
    });
    // The first type finds its device in zone a, and there is no second one there.
    const two = allocator({ slices });
    const first = two.allocate(host(1, { types: { small: {}, large: {} } }), [claim]);
    expect(outcome(first)).toEqual({ small: ["a/gpu-0"], large: ["a/gpu-0"] });
  });

  it("02:D-5 a claim that has its devices restricts the node to where they are", () => {
    const placed = resourceClaim("placed", {
      status: { allocation: { devices: { results: [] }, ...inZone("zone-b") } },
    });
    const devices = allocator({ slices, claims: [placed] });
    expect(zonesOf(devices.allocate(host(1), [placed]))).toBe(`${zoneLabel} In [zone-b]`);
    expect(zonesOf(devices.allocate(host(1, { labels: { [zoneLabel]: "zone-a" } }), [placed]))).toBe(
      "allocated-elsewhere",
    );
    const both = devices.allocate(host(1), [placed, claim]);
    expect(outcome(both)).toEqual({ "type-1": ["b/gpu-0"] });
    expect(zonesOf(both)).toBe(`${zoneLabel} In [zone-b]`);
  });

  it("02:D-5 so does a claim that got them in this pass", () => {
    const devices = allocator({ slices });
    take(devices, host(1, { labels: { [zoneLabel]: "zone-b" } }), claim);
    expect(zonesOf(devices.allocate(host(2), [claim]))).toBe(`${zoneLabel} In [zone-b]`);
    expect(zonesOf(devices.allocate(host(2, { labels: { [zoneLabel]: "zone-a" } }), [claim]))).toBe(
      "allocated-elsewhere",
    );
  });
});

describe("02:D-11 devices of pods that move", () => {
  const slices = [resourceSlice("s", { devices: ["gpu-0"] })];
  const reserved = (...pods: readonly string[]) => resourceClaim("one", { status: allocatedTo(pods, ["gpu-0"]) });
  const of = (own: ReturnType<typeof resourceClaim>) =>
    outcome(allocator({ slices, claims: [own], moving: ["p1", "p2"] }).allocate(host(1), [own]));

  it("02:D-5 a claim reserved by moving pods alone gets devices anew", () => {
    expect(of(reserved("p1"))).toEqual({ "type-1": ["pool/gpu-0"] });
    expect(of(reserved("p1", "p2"))).toEqual({ "type-1": ["pool/gpu-0"] });
    expect(of(reserved("p1", "live"))).toEqual({});
    expect(of(reserved("live"))).toEqual({});
    expect(of(reserved())).toEqual({});
  });

  it("02:D-5 two pods that move with one claim share what it gets", () => {
    const shared = reserved("p1", "p2");
    const devices = allocator({ slices, claims: [shared], moving: ["p1", "p2"] });
    expect(take(devices, host(1), shared)).toEqual({ "type-1": ["pool/gpu-0"] });
    expect(take(devices, host(1), shared)).toEqual({});
  });

  it("02:D-11 a device that a live pod uses too stays in use", () => {
    const claims = [reserved("p1", "live")];
    expect(take(allocator({ slices, claims, moving: ["p1"] }), host(1), resourceClaim("other"))).toBe("no-devices");
  });
});

describe("02:D-9 the search for devices has a limit", () => {
  /** Many ways to choose ten of them, none of which leaves the counter enough. */
  const hard = () => {
    const counters = { c: { value: "1" } };
    const devices = Array.from({ length: 28 }, (_, at) => ({
      name: `gpu-${at}`,
      consumesCounters: [{ counterSet: "set", counters: { c: { value: at < 14 ? "100m" : "95m" } } }],
    }));
    return [
      resourceSlice("s", { devices, count: 2 }),
      resourceSlice("t", { sharedCounters: [{ name: "set", counters }], count: 2 }),
    ];
  };
  const ten = resourceClaim("ten", { requests: [exactly("request", { count: 11 })] });

  it("02:D-9 by time, which arrives from outside", () => {
    let looks = 0;
    const openBudget = () => () => ++looks > 3;
    expect(outcome(allocator({ slices: hard(), openBudget }).allocate(host(1), [ten]))).toBe("search-limit");
    expect(looks).toBe(4);
  });

  it("02:D-9 and by the number of devices tried", () => {
    expect(outcome(allocator({ slices: hard() }).allocate(host(1), [ten]))).toBe("search-limit");
  });
});
