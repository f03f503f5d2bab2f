import { type Case, casesFor } from "./case.ts";
import { type KeyPlace, labelKeyCases } from "./label-keys.ts";

interface RequirementList {
  readonly kind: "NodePool" | "NodeClaim" | "NodeOverlay";
  readonly path: string;
  readonly place: Exclude<KeyPlace, "label">;
}

const comparisons = ["Gt", "Lt", "Gte", "Lte"] as const;
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `v${index}`);

/** Requirements of pools, claims and overlays: the same rules but for the differences said here. (01 §4.1, §8.1, §8.2) */
export function requirementCases(list: RequirementList): readonly Case[] {
  const make = casesFor(list.kind);
  return [
    ...keyCases(list),
    ...labelKeyCases(make, { place: list.place, put: (key) => ({ [list.path]: [{ key, operator: "Exists" }] }) }),
    ...operatorCases(list),
    ...comparisonCases(list),
    ...(list.kind === "NodeOverlay" ? overlayCases(list) : minValuesCases(list)),
    ...shapeCases(list),
  ];
}

function keyCases({ kind, path }: RequirementList): readonly Case[] {
  const { accept, refuse } = casesFor(kind);
  const rule = "01 §4.1 requirement key";
  const put = (key: string): Record<string, unknown> => ({ [path]: [{ key, operator: "Exists" }] });
  const good = ["a", "A", "foo-1_2.x", "example.com/foo", "a.b-c.d/Foo_bar"];
  const bad = [
    "test.com.com}",
    "Test.com/test",
    "test/test/test",
    "test/",
    "/test",
    "",
    "a b",
    "-a",
    "a-",
    "a\n",
    "ключ",
  ];
  return [
    ...good.map((key) => accept(`${rule} ${key}`, put(key))),
    ...bad.map((key) => refuse(`${rule} ${JSON.stringify(key)}`, put(key))),
    accept(`${rule} of 316 characters`, put(`${"a".repeat(252)}/${"b".repeat(63)}`)),
    refuse(`${rule} of 317 characters`, put(`${"a".repeat(253)}/${"b".repeat(63)}`)),
    accept(`${rule} with an over-long prefix (fails at run time)`, put(`${"a".repeat(254)}/test`)),
    accept(`${rule} with an over-long name (fails at run time)`, put(`test.com/${"a".repeat(64)}`)),
  ];
}

function operatorCases({ kind, path }: RequirementList): readonly Case[] {
  const { accept, refuse } = casesFor(kind);
  const rule = "01 §4.1 operator";
  const put = (...items: readonly unknown[]): Record<string, unknown> => ({ [path]: items });
  const notIn = kind === "NodeOverlay" ? refuse : accept;
  const notInRule = kind === "NodeOverlay" ? "01 §1.4 NotIn" : "01 §4.2 NotIn";
  return [
    accept(`${rule} In`, put({ key: "a", operator: "In", values: ["b"] })),
    accept(`${rule} NotIn`, put({ key: "a", operator: "NotIn", values: ["b"] })),
    accept(`${rule} Exists`, put({ key: "a", operator: "Exists" })),
    accept(`${rule} DoesNotExist`, put({ key: "a", operator: "DoesNotExist" })),
    accept(`${rule} Exists with values, which are ignored`, put({ key: "a", operator: "Exists", values: ["b"] })),
    accept(
      `${rule} DoesNotExist with values, which are ignored`,
      put({ key: "a", operator: "DoesNotExist", values: ["b"] }),
    ),
    ...["unknown", "in", "", "Out", "Equal"].map((operator) =>
      refuse(`${rule} ${JSON.stringify(operator)}`, put({ key: "a", operator, values: ["b"] })),
    ),
    refuse("01:NP13 In without values", put({ key: "a", operator: "In" })),
    refuse("01:NP13 In with an empty list", put({ key: "a", operator: "In", values: [] })),
    refuse(
      "01:NP13 In without values, in the second item",
      put({ key: "a", operator: "Exists" }, { key: "b", operator: "In" }),
    ),
    refuse("01:NP13 In with null for values", put({ key: "a", operator: "In", values: null })),
    notIn(`${notInRule} without values`, put({ key: "a", operator: "NotIn" })),
    notIn(`${notInRule} with an empty list`, put({ key: "a", operator: "NotIn", values: [] })),
    accept(
      "01 §9.6 a value that is no label value (fails at run time)",
      put({ key: "a", operator: "In", values: ["not a value!"] }),
    ),
    accept(
      "01 §9.6 a value of 64 characters (fails at run time)",
      put({ key: "a", operator: "In", values: ["a".repeat(64)] }),
    ),
    accept("01 §9.6 the empty value", put({ key: "a", operator: "In", values: [""] })),
    accept(
      "01 §4.1 one key in two items",
      put({ key: "a", operator: "In", values: ["b", "c"] }, { key: "a", operator: "NotIn", values: ["c"] }),
    ),
    accept(
      "01 §4.1 contradictory items",
      put({ key: "a", operator: "Exists" }, { key: "a", operator: "DoesNotExist" }),
    ),
    accept(
      "01 §4.2 an unknown capacity type alone (fails at run time)",
      put({ key: "karpenter.sh/capacity-type", operator: "In", values: ["xspot"] }),
    ),
    accept(
      "01 §4.2 known and unknown capacity types",
      put({ key: "karpenter.sh/capacity-type", operator: "In", values: ["xspot", "spot"] }),
    ),
    accept(
      "01 §4.2 an unknown tenancy alone (fails at run time)",
      put({
        key: kind === "NodeOverlay" ? "a" : "karpenter.k8s.aws/instance-tenancy",
        operator: "In",
        values: ["shared"],
      }),
    ),
  ];
}

function comparisonCases({ kind, path }: RequirementList): readonly Case[] {
  const { accept, refuse } = casesFor(kind);
  const good = [["0"], ["1"], ["+5"], ["-0"], ["007"], ["9223372036854775807"]];
  const bad = [
    undefined,
    [],
    ["1", "2"],
    ["a"],
    [""],
    ["-1"],
    ["1.5"],
    ["1e3"],
    ["0x10"],
    ["1_0"],
    [" 5"],
    ["٣"],
    ["9223372036854775808"],
  ];
  const put = (operator: string, values: unknown): Record<string, unknown> => ({
    [path]: [{ key: "a", operator, ...(values === undefined ? {} : { values }) }],
  });
  return comparisons.flatMap((operator) => [
    ...good.map((values) => accept(`01:NP14 ${operator} ${JSON.stringify(values)}`, put(operator, values))),
    ...bad.map((values) =>
      refuse(`01:NP14 ${operator} ${JSON.stringify(values) ?? "without values"}`, put(operator, values)),
    ),
  ]);
}

function minValuesCases({ kind, path }: RequirementList): readonly Case[] {
  const { accept, refuse, refuseTypes } = casesFor(kind);
  const put = (minValues: unknown, operator: string, values?: readonly string[]): Record<string, unknown> => ({
    [path]: [{ key: "a", operator, minValues, ...(values === undefined ? {} : { values }) }],
  });
  return [
    accept("01 §4.4 minValues 1", put(1, "In", ["a"])),
    accept("01 §4.4 minValues 50", put(50, "In", names(50))),
    accept("01 §4.4 minValues with Exists", put(50, "Exists")),
    accept("01 §4.4 minValues with NotIn and no values", put(2, "NotIn")),
    accept("01 §4.4 90 values without minValues", { [path]: [{ key: "a", operator: "In", values: names(90) }] }),
    accept("01 §4.4 90 values with minValues", put(50, "In", names(90))),
    ...[-1, 0, 51].map((count) => refuse(`01 §4.4 minValues ${count}`, put(count, "In", names(60)))),
    refuse("01 §4.4 minValues 0 with Exists", put(0, "Exists")),
    refuse("01:NP15 minValues above the values listed", put(3, "In", ["a", "b"])),
    accept("01:NP15 minValues as many as the values listed", put(2, "In", ["a", "b"])),
    accept("01:NP15 values listed twice count twice", put(2, "In", ["a", "a"])),
    refuse("01:NP15 minValues and no values", put(1, "In")),
    refuse("01:NP15 minValues above the values listed, in the second item", {
      [path]: [
        { key: "a", operator: "Exists" },
        { key: "a", operator: "In", values: ["a"], minValues: 2 },
      ],
    }),
    ...refuseTypes("01 §4.4", { [`${path}[0]`]: { key: "a", operator: "Exists", minValues: "1" } }),
    refuse("01 §4.4 minValues 1.5", put(1.5, "Exists")),
  ];
}

function overlayCases({ kind, path }: RequirementList): readonly Case[] {
  const { accept } = casesFor(kind);
  const item = { key: "a", operator: "Exists" };
  return [
    accept(
      "01 §1.4 overlays know no minValues: dropped",
      { [path]: [{ ...item, minValues: 99 }] },
      { stored: { [path]: [item] } },
    ),
  ];
}

function shapeCases({ kind, path }: RequirementList): readonly Case[] {
  const { accept, refuse, refuseTypes } = casesFor(kind);
  const many = (count: number): unknown => names(count).map((key) => ({ key, operator: "Exists" }));
  return [
    accept("01 §9.1 an empty list of requirements", { [path]: [] }),
    refuse("01 §9.1 no list of requirements", { [path]: undefined }),
    refuse("01 §0.1 null for the list of requirements", { [path]: null }),
    accept("01 §4.1 100 requirements", { [path]: many(100) }),
    refuse("01 §4.1 101 requirements", { [path]: many(101) }),
    refuse("01 §4.1 requirement without a key", { [path]: [{ operator: "Exists" }] }),
    refuse("01 §4.1 requirement without an operator", { [path]: [{ key: "a" }] }),
    refuse("01 §0.1 null for a requirement", { [path]: [null] }),
    refuse("01 §0.1 null for a value", { [path]: [{ key: "a", operator: "In", values: ["b", null] }] }),
    accept(
      "01 §0.1 unknown fields of a requirement are dropped",
      { [path]: [{ key: "a", operator: "Exists", weight: 1 }] },
      { stored: { [path]: [{ key: "a", operator: "Exists" }] } },
    ),
    ...refuseTypes("01 §4.1", { [path]: {}, [`${path}[0]`]: "a" }),
    ...refuseTypes(
      "01 §4.1",
      { [`${path}[0].key`]: 1, [`${path}[0].operator`]: 1, [`${path}[0].values`]: "b", [`${path}[0].values[0]`]: 1 },
      { [path]: [{ key: "a", operator: "In", values: ["b"] }] },
    ),
  ];
}
