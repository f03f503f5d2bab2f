import { describe, expect, it } from "vitest";
import type { RequirementItem } from "../api/kubernetes/pod.ts";
import { type LabelPolicy, labelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import type { RequirementOperator } from "../api/vocabulary.ts";
import { Random } from "../util/random.ts";
import { maxInt64, minInt64 } from "./int64.ts";
import { Requirement } from "./requirement.ts";

const policy = labelPolicy("aws");

function requirement(operator: RequirementOperator, values: readonly string[] = [], minValues?: number): Requirement {
  return Requirement.fromItem({ key: "k", operator, values, minValues }, policy);
}

/** All there is to a requirement, as plain data. */
function parts({ key, complement, values, gte, lte, minValues }: Requirement) {
  return { key, complement, values: [...values].sort(), gte, lte, minValues };
}

const nothingElse = { key: "k", gte: undefined, lte: undefined, minValues: undefined };

describe("representation", () => {
  it.each<[RequirementOperator, string[], object]>([
    ["In", ["b", "a"], { complement: false, values: ["a", "b"] }],
    ["DoesNotExist", [], { complement: false, values: [] }],
    ["NotIn", ["a"], { complement: true, values: ["a"] }],
    ["Exists", [], { complement: true, values: [] }],
    ["Gt", ["4"], { complement: true, values: [], gte: 5n }],
    ["Lt", ["4"], { complement: true, values: [], lte: 3n }],
    ["Gte", ["4"], { complement: true, values: [], gte: 4n }],
    ["Lte", ["4"], { complement: true, values: [], lte: 4n }],
  ])("02:R-1, 01 §4.3 %s %j", (operator, values, expected) => {
    expect(parts(requirement(operator, values))).toEqual({ ...nothingElse, ...expected });
  });

  it("02:R-1 Gt the largest integer matches nothing and forgets minValues", () => {
    expect(parts(requirement("Gt", [String(maxInt64)], 3))).toEqual({ ...nothingElse, complement: false, values: [] });
    expect(requirement("Gt", [String(maxInt64 - 1n)], 3).gte).toBe(maxInt64);
    expect(requirement("Gte", [String(maxInt64)], 3).gte).toBe(maxInt64);
  });

  it("02:R-1 Lt the smallest integer matches nothing, nor does a bound that is no integer", () => {
    for (const [operator, value] of [
      ["Lt", String(minInt64)],
      ["Gt", "four"],
      ["Gte", String(maxInt64 + 1n)],
    ] as const) {
      expect(requirement(operator, [value]).operator, `${operator} ${value}`).toBe("DoesNotExist");
    }
    expect(requirement("Lte", []).operator).toBe("DoesNotExist");
  });

  it("01 §4.2 Exists and DoesNotExist ignore values, NotIn without values is Exists", () => {
    expect(parts(requirement("Exists", ["a"]))).toEqual(parts(requirement("Exists")));
    expect(parts(requirement("DoesNotExist", ["a"]))).toEqual(parts(requirement("DoesNotExist")));
    expect(requirement("NotIn").operator).toBe("Exists");
  });

  it("02:R-2 derives the operator; bounds do not show and an empty set is DoesNotExist", () => {
    expect(requirement("In", ["a"]).operator).toBe("In");
    expect(requirement("In").operator).toBe("DoesNotExist");
    expect(requirement("NotIn", ["a"]).operator).toBe("NotIn");
    expect(requirement("Gt", ["1"]).operator).toBe("Exists");
  });

  it("02:R-3 length counts values, or all 64-bit integers but the excluded", () => {
    expect(requirement("In", ["a", "b"]).length).toBe(2n);
    expect(requirement("DoesNotExist").length).toBe(0n);
    expect(requirement("Exists").length).toBe(9223372036854775807n);
    expect(requirement("NotIn", ["a", "b"]).length).toBe(9223372036854775805n);
  });

  it("02:R-4, 01 §4.3 with a bound set, values that are not 64-bit integers are outside", () => {
    const positive = requirement("Gte", ["1"]);
    for (const value of ["1", "+7", "007", String(maxInt64)]) expect(positive.has(value), value).toBe(true);
    for (const value of ["", "a", "1.5", "1e3", "0x10", " 2", "1_000", "0", "-1", String(maxInt64 + 1n)]) {
      expect(positive.has(value), value).toBe(false);
    }
    expect(requirement("Lte", ["-1"]).has(String(minInt64))).toBe(true);
    expect(requirement("Lte", ["-1"]).has(String(minInt64 - 1n))).toBe(false);
  });

  it("02:R-5 has looks at values and bounds", () => {
    expect(requirement("In", ["a"]).has("a")).toBe(true);
    expect(requirement("In", ["a"]).has("b")).toBe(false);
    expect(requirement("NotIn", ["a"]).has("a")).toBe(false);
    expect(requirement("NotIn", ["a"]).has("b")).toBe(true);
    expect(requirement("Exists").has("")).toBe(true);
    expect(requirement("DoesNotExist").has("")).toBe(false);
    expect(requirement("Gt", ["4"]).has("4")).toBe(false);
    expect(requirement("Gt", ["4"]).has("5")).toBe(true);
  });

  it("tells the one value of a set of one", () => {
    expect(requirement("In", ["a"]).singleValue).toBe("a");
    expect(requirement("In", [""]).singleValue).toBe("");
    for (const other of [requirement("In", ["a", "b"]), requirement("NotIn", ["a"]), requirement("In")]) {
      expect(other.singleValue).toBeUndefined();
    }
  });
});

describe("spelling", () => {
  it.each([
    ["failure-domain.beta.kubernetes.io/zone", labels.zone],
    ["failure-domain.beta.kubernetes.io/region", labels.region],
    ["beta.kubernetes.io/arch", labels.arch],
    ["beta.kubernetes.io/os", labels.os],
    ["beta.kubernetes.io/instance-type", labels.instanceType],
    ["topology.ebs.csi.aws.com/zone", labels.zone],
    ["toString", "toString"],
  ])("02:R-22 %s becomes %s", (key, normalized) => {
    expect(Requirement.fromItem({ key, operator: "Exists" }, policy).key).toBe(normalized);
  });

  it("02:R-22 the provider's aliases are the provider's alone", () => {
    const item: RequirementItem = { key: "topology.ebs.csi.aws.com/zone", operator: "Exists" };
    expect(Requirement.fromItem(item, labelPolicy("kwok")).key).toBe(item.key);
  });

  it("02:R-22 rewrites values under the normalised key", () => {
    const aliased: LabelPolicy = { ...policy, valueAliases: { [labels.arch]: { x86_64: "amd64" } } };
    const item: RequirementItem = { key: "beta.kubernetes.io/arch", operator: "NotIn", values: ["x86_64", "arm64"] };
    expect(Requirement.fromItem(item, aliased).sortedValues()).toEqual(["amd64", "arm64"]);
  });
});

describe("intersection", () => {
  const both = (a: Requirement, b: Requirement) => parts(a.intersection(b));

  it("02:R-10 takes the tighter bounds and the larger minValues", () => {
    expect(both(requirement("Gt", ["1"], 2), requirement("Gte", ["5"], 3))).toMatchObject({ gte: 5n, minValues: 3 });
    expect(both(requirement("Lt", ["9"], 2), requirement("Lte", ["5"]))).toMatchObject({ lte: 5n, minValues: 2 });
    expect(both(requirement("Gte", ["1"]), requirement("Lte", ["5"]))).toMatchObject({ gte: 1n, lte: 5n });
  });

  it("02:R-10 contradictory bounds forbid the label and keep minValues", () => {
    const never = requirement("Gte", ["6"], 2).intersection(requirement("Lte", ["5"]));
    expect(parts(never)).toEqual({ ...nothingElse, complement: false, values: [], minValues: 2 });
    expect(requirement("Gte", ["5"]).intersection(requirement("Lte", ["5"])).operator).toBe("Exists");
  });

  it("02:R-11 unites exclusions, removes them from sets, and intersects sets", () => {
    expect(both(requirement("NotIn", ["a"]), requirement("NotIn", ["b"]))).toMatchObject({
      complement: true,
      values: ["a", "b"],
    });
    const set = { complement: false, values: ["b"] };
    expect(both(requirement("In", ["a", "b"]), requirement("NotIn", ["a"]))).toMatchObject(set);
    expect(both(requirement("NotIn", ["a"]), requirement("In", ["a", "b"]))).toMatchObject(set);
    expect(both(requirement("In", ["a", "b"]), requirement("In", ["b", "c"]))).toMatchObject(set);
  });

  it("02:R-11 drops values outside the bounds, exclusions too, and a set forgets its bounds", () => {
    expect(both(requirement("In", ["1", "5", "x"]), requirement("Gt", ["2"]))).toEqual({
      ...nothingElse,
      complement: false,
      values: ["5"],
    });
    expect(both(requirement("NotIn", ["1", "5", "x"]), requirement("Gt", ["2"]))).toEqual({
      ...nothingElse,
      complement: true,
      values: ["5"],
      gte: 3n,
    });
  });

  it("02:R-12 two complements meet even where every integer between their bounds is excluded", () => {
    const excluded = requirement("NotIn", ["5"]).intersection(requirement("Gte", ["5"]));
    expect(excluded.hasIntersection(requirement("Lte", ["5"]))).toBe(true);
    expect(excluded.hasIntersection(requirement("Lte", ["4"]))).toBe(false);
    expect(excluded.hasIntersection(requirement("In", ["5", "4"]))).toBe(false);
    expect(excluded.hasIntersection(requirement("In", ["6"]))).toBe(true);
  });

  it("leaves its operands alone", () => {
    const set = requirement("In", ["1", "5"]);
    set.intersection(requirement("Gt", ["2"]));
    expect(set.sortedValues()).toEqual(["1", "5"]);
  });
});

describe("rendering", () => {
  it.each<[RequirementOperator, string[], RequirementItem[]]>([
    ["In", ["b", "a"], [{ key: "k", operator: "In", values: ["a", "b"] }]],
    ["NotIn", ["b", "a"], [{ key: "k", operator: "NotIn", values: ["a", "b"] }]],
    ["Exists", [], [{ key: "k", operator: "Exists" }]],
    ["DoesNotExist", [], [{ key: "k", operator: "DoesNotExist" }]],
    ["Gt", ["4"], [{ key: "k", operator: "Gte", values: ["5"] }]],
    ["Lt", ["0"], [{ key: "k", operator: "Lte", values: ["-1"] }]],
  ])("02:R-35, 01 §4.3, 01 §9.15 %s %j goes back to the API", (operator, values, items) => {
    expect(requirement(operator, values).toItems()).toEqual(items);
  });

  it("02:R-35 two bounds are two entries, each with minValues, and exclusions go along (02 §12.2-1)", () => {
    const bounded = requirement("Gt", ["4"], 2).intersection(requirement("Lte", ["9"]));
    const gte = { key: "k", operator: "Gte", values: ["5"], minValues: 2 };
    const lte = { key: "k", operator: "Lte", values: ["9"], minValues: 2 };
    expect(bounded.toItems()).toEqual([gte, lte]);
    const notIn = { key: "k", operator: "NotIn", values: ["7"], minValues: 2 };
    expect(bounded.intersection(requirement("NotIn", ["7", "70"])).toItems()).toEqual([gte, lte, notIn]);
  });

  it("02:R-37 prints operator, five sorted values, bounds and minValues", () => {
    expect(String(requirement("In", ["b", "a"]))).toBe("k In [a b]");
    expect(String(requirement("NotIn", ["a"], 1))).toBe("k NotIn [a] minValues 1");
    expect(String(requirement("Exists"))).toBe("k Exists");
    expect(String(requirement("DoesNotExist", [], 2))).toBe("k DoesNotExist minValues 2");
    expect(String(requirement("In", [..."gfedcba"]))).toBe("k In [a b c d e and 2 others]");
    expect(String(requirement("In", [..."edcba"]))).toBe("k In [a b c d e]");
    const bounded = requirement("Gt", ["1"]).intersection(requirement("Lt", ["9"]));
    expect(String(bounded)).toBe("k Exists >=2 <=8");
    expect(String(bounded.intersection(requirement("NotIn", ["5"], 3)))).toBe("k NotIn [5] >=2 <=8 minValues 3");
  });
});

describe("any", () => {
  const random = () => new Random("any");
  const draws = (one: Requirement) => {
    const dice = random();
    return new Set(Array.from({ length: 200 }, () => one.any(dice)));
  };

  it("02:R-36, 01 §4.5 draws a member of a set and nothing from an empty one", () => {
    expect(draws(requirement("In", ["a", "b", "c"]))).toEqual(new Set(["a", "b", "c"]));
    expect(draws(requirement("DoesNotExist"))).toEqual(new Set([""]));
  });

  it("02:R-36, 01 §4.5, 01 §9.14 draws an integer within the bounds from an open set", () => {
    const bounded = requirement("Gte", ["3"]).intersection(requirement("Lte", ["5"]));
    expect(draws(bounded)).toEqual(new Set(["3", "4", "5"]));
    for (const value of draws(requirement("Exists"))) expect(value).toMatch(/^[0-9]{1,19}$/);
    expect(draws(requirement("Exists")).size).toBeGreaterThan(190);
    expect([...draws(requirement("Exists"))].some((value) => BigInt(value) > 2n ** 53n)).toBe(true);
  });

  it("02:R-36 never draws an excluded integer", () => {
    const bounded = requirement("Gte", ["3"]).intersection(requirement("Lte", ["5"]));
    expect(draws(bounded.intersection(requirement("NotIn", ["4"])))).toEqual(new Set(["3", "5"]));
    expect(draws(bounded.intersection(requirement("NotIn", ["3", "4", "5"])))).toEqual(new Set([""]));
  });

  it("02:R-36 stays within bounds where upstream's interval is empty", () => {
    expect(draws(requirement("Lt", ["0"]))).toEqual(new Set(["-1"]));
    expect(draws(requirement("Gte", [String(maxInt64)]))).toEqual(new Set([String(maxInt64)]));
  });

  it("02:R-36 counts below zero where no other number is left", () => {
    const atMost = (last: string, ...excluded: readonly string[]) =>
      draws(requirement("Lte", [last]).intersection(requirement("NotIn", excluded)));
    expect(atMost("0")).toEqual(new Set(["0"]));
    expect(atMost("0", "0")).toEqual(new Set(["-1"]));
    expect(atMost("2", "0", "1", "2")).toEqual(new Set(["-1"]));
    expect(atMost("2", "0", "2")).toEqual(new Set(["1"]));
    expect(atMost("-3", "-3")).toEqual(new Set(["-4"]));
  });

  it("02 §12.1-4 the same seed draws the same", () => {
    expect(requirement("Exists").any(random())).toBe(requirement("Exists").any(random()));
  });
});
