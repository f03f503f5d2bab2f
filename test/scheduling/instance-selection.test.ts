import { describe, expect, it } from "vitest";
import { labels } from "../../src/api/labels.ts";
import type { InstanceType, Offering } from "../../src/core/instance-type.ts";
import type { PlannedNode } from "../../src/core/scheduling/decision.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import { kwokInstanceTypes } from "../../src/providers/kwok/catalogue.ts";
import { instanceType } from "../builders/instance-type.ts";
import { type NodePoolBuilder, nodePool } from "../builders/node-pool.ts";
import { type PodBuilder, pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import {
  codes,
  messages,
  offeringsLeft,
  placesPerNewNode,
  podsPerNewNode,
  typesPerNewNode,
} from "../builders/readers.ts";
import { large, small, solved, web } from "./solved.ts";

const catalogue = kwokInstanceTypes();

/** What may be asked of a node, and by which label. */
const asked: Readonly<Record<string, readonly [key: string, value: string]>> = {
  arch: [labels.arch, "arm64"],
  os: [labels.os, "windows"],
  zone: [labels.zone, "test-zone-b"],
  "capacity type": [labels.capacityType, "on-demand"],
};

/** Every combination of what may be asked. */
const combinations = Array.from({ length: 2 ** Object.keys(asked).length }, (_, bits) =>
  Object.keys(asked).filter((_name, at) => (bits & (1 << at)) !== 0),
);

function fromCatalogue(pool: NodePoolBuilder, one: PodBuilder): SchedulingProblem {
  const built = problem().pools(pool).pod(one).build();
  return { ...built, pools: built.pools.map((each) => ({ ...each, instanceTypes: catalogue })) };
}

function onlyNode(wanted: SchedulingProblem): PlannedNode {
  const [node] = solve(wanted).newNodes;
  if (node === undefined) throw new Error("nothing was planned");
  return node;
}

function suits(type: InstanceType, offering: Offering, names: readonly string[]): boolean {
  return names.every((name) => {
    const [key, value] = asked[name] as readonly [string, string];
    return (offering.requirements.has(key) ? offering : type).requirements.get(key).has(value);
  });
}

describe("the cheapest type", () => {
  describe.each(["pod", "pool"])("asked for by the %s", (who) => {
    it.each(combinations.map((names) => [names.join(" and ") || "nothing", names] as const))(
      "02:L-1 %s: the cheapest node comes first, and no other node is left",
      (_, names) => {
        const wanted = names.map((name) => asked[name] as readonly [string, string]);
        const node = onlyNode(
          who === "pod"
            ? fromCatalogue(
                nodePool(),
                wanted.reduce((one, [key, value]) => one.on(key, value), web),
              )
            : fromCatalogue(
                wanted.reduce((pool, [key, value]) => pool.requires(key, "In", value), nodePool()),
                web,
              ),
        );
        const left = catalogue.flatMap((type) => type.offerings.filter((one) => suits(type, one, names)));
        expect(new Set(offeringsLeft(node))).toEqual(new Set(left.filter((one) => fitsOneCpu(one))));
        expect(node.price).toBe(Math.min(...left.filter((one) => fitsOneCpu(one)).map(({ price }) => price)));
      },
    );
  });

  /** A type of one cpu keeps a tenth of it. */
  function fitsOneCpu(offering: Offering): boolean {
    return catalogue.some(({ name, offerings }) => offerings.includes(offering) && !/^[a-z]-1x-/.test(name));
  }

  it("02:L-1 asked for half by the pod, half by the pool", () => {
    const node = onlyNode(fromCatalogue(nodePool().requires("arch", "In", "arm64"), web.on("zone", "test-zone-c")));
    expect(node.instanceTypes[0]?.name).toBe("c-2x-arm64-linux");
    expect(placesPerNewNode({ placements: [], newNodes: [node], refusals: [] })).toEqual([
      ["test-zone-c/on-demand", "test-zone-c/spot"],
    ]);
  });

  it.each([
    ["an architecture the pool rules out", nodePool().requires("arch", "In", "arm64"), web.on("arch", "amd64")],
    ["an architecture nobody makes", nodePool(), web.on("arch", "s390x")],
    ["a zone the pool rules out", nodePool().zones("test-zone-a"), web.on("zone", "test-zone-d")],
  ])("02:N-2 %s: no match", (_, pool, one) => {
    const { newNodes, refusals } = solve(fromCatalogue(pool, one));
    expect([newNodes.length, refusals.length]).toEqual([0, 1]);
  });

  it("02:F-1 has enough resources: each type left holds the pod", () => {
    const node = onlyNode(fromCatalogue(nodePool(), pod().cpu("15").memory("40Gi")));
    expect(node.instanceTypes[0]?.name).toBe("s-16x-amd64-linux");
    for (const { name } of node.instanceTypes) expect(name).not.toMatch(/^(.-[1248]x|c-16x)-/);
  });

  it("02:L-1 capacity type is no reason: on demand comes first where it is cheaper", () => {
    const types = [small.priceIn("a", 3, "spot").priceIn("b", 3, "spot").priceIn("c", 3, "spot"), large.price(2.5)];
    const decision = solved(
      problem()
        .types(...types)
        .pod(web),
    );
    expect(typesPerNewNode(decision)).toEqual([["small", "large"]]);
    expect(decision.newNodes[0]?.price).toBe(1);
    const onSpot = solved(
      problem()
        .types(...types)
        .pod(web.on("capacity-type", "spot")),
    );
    expect(typesPerNewNode(onSpot)).toEqual([["large", "small"]]);
  });

  it("02 §12.1-5 equal prices are ordered by name", () => {
    const types = ["c", "a", "b"].map((name) => instanceType(name).price(1));
    expect(
      typesPerNewNode(
        solved(
          problem()
            .types(...types)
            .pod(web),
        ),
      ),
    ).toEqual([["a", "b", "c"]]);
  });

  it("02:L-2 at most 600 types are named, the cheapest", () => {
    const types = Array.from({ length: 700 }, (_, at) => instanceType(`t${at}`).price(1000 - at));
    const [names = []] = typesPerNewNode(
      solved(
        problem()
          .types(...types)
          .pod(web),
      ),
    );
    expect(names).toHaveLength(600);
    expect([names[0], names[599]]).toEqual(["t699", "t100"]);
  });
});

describe("types that do not go together", () => {
  const types = [
    instanceType("arm").label("arch", "arm64"),
    instanceType("intel").label("arch", "amd64"),
    instanceType("windows").label("kubernetes.io/os", "windows"),
    instanceType("in-b").zones("b"),
  ];

  it.each([
    ["architecture", web.on("arch", "arm64"), web.on("arch", "amd64")],
    [
      "operating system",
      web.on("kubernetes.io/os", "windows"),
      web.on("kubernetes.io/os", "linux").on("arch", "arm64"),
    ],
    ["type", web.on("type", "arm"), web.on("type", "intel")],
    ["zone", web.on("zone", "a"), web.on("zone", "b")],
    ["capacity type", web.on("capacity-type", "spot"), web.on("capacity-type", "on-demand")],
  ])("02:F-1 pods that differ in %s get a node each", (_, one, other) => {
    const decision = solved(
      problem()
        .types(...types)
        .pod(one, other),
    );
    expect(podsPerNewNode(decision)).toEqual([["p-0"], ["p-1"]]);
  });

  it("02:A-10 pods whose resources no one type has get a node each", () => {
    const gpus = [
      instanceType("nvidia").resource("nvidia.com/gpu", "1"),
      instanceType("amd").resource("amd.com/gpu", "1"),
    ];
    const pods = [web.request("nvidia.com/gpu", "1"), web.request("amd.com/gpu", "1")];
    const decision = solved(
      problem()
        .types(...gpus)
        .pod(...pods),
    );
    expect(typesPerNewNode(decision)).toEqual([["nvidia"], ["amd"]]);
  });

  it.each([
    ["a pod too large for any type", web.cpu("5"), "no instance type has enough resources"],
    [
      "a type in a zone it is not offered in",
      web.on("type", "in-b").on("zone", "a"),
      "no instance type met all requirements",
    ],
    [
      "two resources that are never found together",
      web.request("nvidia.com/gpu", "1"),
      "no instance type has enough resources",
    ],
    [
      "an architecture of a type it is not",
      web.on("type", "intel").on("arch", "arm64"),
      "no instance type met all requirements",
    ],
  ])("02:F-3 %s", (_, one, text) => {
    const [message] = Object.values(
      messages(
        solved(
          problem()
            .types(...types)
            .pod(one),
        ),
      ),
    );
    expect(message).toMatch(new RegExp(`^${text}, requirements=.*, resources={`));
  });

  it("02:F-3 a million cpus are taken for a slip of the pen", () => {
    const [message] = Object.values(messages(solved(problem().pod(pod().cpu("1M")))));
    expect(message).toMatch(/ \(CPU request >= 1 Million, m vs M typo\?\)$/);
  });

  it.each([
    [
      "nothing suits",
      web.on("zone", "z9"),
      "no instance type met the scheduling requirements or had enough resources or had a required offering",
    ],
    [
      "no match, and none large enough",
      web.cpu("5").on("type", "unheard-of"),
      "no instance type met the scheduling requirements or had enough resources",
    ],
    [
      "the offering is gone, and with it the size",
      web.on("zone", "b"),
      "no instance type had enough resources or had a required offering",
    ],
    ["no match", web.on("type", "unheard-of"), "no instance type met all requirements"],
  ])("02:F-3 %s", (_, one, text) => {
    const types = [instanceType("m.large").soldOutIn("b")];
    const [message] = Object.values(
      messages(
        solved(
          problem()
            .types(...types)
            .pod(one),
        ),
      ),
    );
    expect(message?.split(", requirements=")[0]).toBe(text);
  });

  it("02:F-3 those that match are unavailable where those that are available do not match", () => {
    const types = [small.label("team", "red").soldOutIn("b"), large.label("team", "blue")];
    const decision = solved(
      problem()
        .pools(nodePool().requires("team", "Exists"))
        .types(...types)
        .pod(web.on("team", "red").on("zone", "b")),
    );
    const [message] = Object.values(messages(decision));
    expect(message?.split(", requirements=")[0]).toBe(
      "no instance type which had enough resources and the required offering met the scheduling requirements",
    );
  });
});

describe("sizes that depend on the offering", () => {
  const odd = small.resource("example.com/fpga", "0").sizeIn("b", { "example.com/fpga": "2" });

  it("02:A-12 a resource only some offerings have leads there", () => {
    const decision = solved(problem().types(odd, large).pod(web.request("example.com/fpga", "1")));
    expect(typesPerNewNode(decision)).toEqual([["small"]]);
    expect(decision.refusals).toEqual([]);
  });

  it("02:A-12 an offering that is not available lends its size to nobody", () => {
    const decision = solved(problem().types(odd.soldOutIn("b"), large).pod(web.request("example.com/fpga", "1")));
    expect(codes(decision)).toEqual({ "p-0": "instance-types" });
  });

  it("02:A-12 where the odd size is too small the others serve", () => {
    const short = small.sizeIn("a", { cpu: "1" });
    expect(solved(problem().types(short).pod(web.cpu("3"))).newNodes).toHaveLength(1);
    expect(codes(solved(problem().types(short).pod(web.cpu("3").on("zone", "a"))))).toEqual({
      "p-0": "instance-types",
    });
  });
});
