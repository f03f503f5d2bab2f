import { describe, expect, it } from "vitest";
import { differences, type Expected, levels, type ScheduledNode } from "./compare.ts";

const node = (changes: Partial<ScheduledNode> = {}): ScheduledNode => ({
  nodePool: "default",
  pods: ["default/a", "default/b"],
  instanceTypes: ["small", "large"],
  price: 1,
  requirements: { zone: "In [a]" },
  ...changes,
});

function schedule(newNodes: readonly ScheduledNode[], changes: Partial<Expected> = {}): Expected {
  const pricePerHour = newNodes.reduce((sum, { price }) => sum + price, 0);
  return {
    newNodes,
    existingNodes: { n1: ["default/c"] },
    unschedulable: { "default/d": "too large" },
    totals: { pricePerHour },
    ...changes,
  };
}

const single = (pod: string, changes: Partial<ScheduledNode> = {}) => node({ pods: [`default/${pod}`], ...changes });

/** At which levels the second passes for the first. */
function passes(expected: Expected, actual: Expected): readonly string[] {
  return levels.filter((level) => differences(expected, actual, level).length === 0);
}

describe("comparing schedules", () => {
  it.each<[string, Expected, Expected, readonly string[]]>([
    ["itself", schedule([node()]), schedule([node()]), ["default", "strict", "exact"]],
    [
      "pods in another order",
      schedule([node()]),
      schedule([node({ pods: ["default/b", "default/a"] })]),
      ["default", "strict", "exact"],
    ],
    ["a better packing", schedule([single("a"), single("b")]), schedule([node({ price: 1.5 })]), ["default"]],
    ["more nodes", schedule([node({ price: 5 })]), schedule([single("a"), single("b")]), []],
    ["a dearer plan", schedule([node()]), schedule([node({ price: 1.1 })]), []],
    ["a cheaper plan", schedule([node()]), schedule([node({ price: 0.9 })]), ["default"]],
    ["another pool", schedule([node()]), schedule([node({ nodePool: "other" })]), ["default"]],
    [
      "types in another order",
      schedule([node()]),
      schedule([node({ instanceTypes: ["large", "small"] })]),
      ["default", "strict"],
    ],
    ["fewer types", schedule([node()]), schedule([node({ instanceTypes: ["small"] })]), ["default"]],
    [
      "other requirements",
      schedule([node()]),
      schedule([node({ requirements: { zone: "In [b]" } })]),
      ["default", "strict"],
    ],
    [
      "more requirements",
      schedule([node()]),
      schedule([node({ requirements: { zone: "In [a]", os: "In [x]" } })]),
      ["default", "strict"],
    ],
    [
      "another reason",
      schedule([node()]),
      schedule([node()], { unschedulable: { "default/d": "taint" } }),
      ["default", "strict"],
    ],
    [
      "another refused pod",
      schedule([node()]),
      schedule([node()], { unschedulable: { "default/e": "too large" } }),
      [],
    ],
    ["another existing node", schedule([node()]), schedule([node()], { existingNodes: { n2: ["default/c"] } }), []],
  ])("%s", (_, expected, actual, levelsPassed) => {
    expect(passes(expected, actual)).toEqual(levelsPassed);
  });

  it("leaves out what is free, and holds variables to one value each", () => {
    const free = ["newNodes.requirements.zone"];
    const expected = schedule(
      [single("a", { requirements: { zone: "$1" } }), single("b", { requirements: { zone: "$2" } })],
      { free },
    );
    const actual = (a: string, b: string) =>
      schedule([single("a", { requirements: { zone: a } }), single("b", { requirements: { zone: b } })]);
    expect(passes(expected, actual("In [x]", "In [y]"))).toEqual(["default", "strict", "exact"]);
    expect(passes(expected, actual("In [x]", "In [x]"))).toEqual(["default"]);
    const together = {
      ...expected,
      newNodes: expected.newNodes.map((one) => ({ ...one, requirements: { zone: "$1" } })),
    };
    expect(passes(together, actual("In [x]", "In [y]"))).toEqual(["default"]);
    expect(passes(schedule([node()], { free: ["newNodes.price"] }), schedule([node({ price: 0.5 })]))).toContain(
      "exact",
    );
  });

  it("does not look at the numbers of placeholders", () => {
    const refused = (text: string) => schedule([], { unschedulable: { "default/d": text } });
    expect(passes(refused("hostname-placeholder-N"), refused("hostname-placeholder-0012"))).toContain("exact");
  });
});
