import { type Case, casesFor } from "./case.ts";

/** Taints and startup taints, of pools and of claims. (01 §1.2.2, §8.1, §8.2) */
export function taintCases(kind: "NodePool" | "NodeClaim", path: string): readonly Case[] {
  const { accept, refuse, refuseTypes } = casesFor(kind);
  const rule = "01 §1.2.2";
  const at = path.slice(path.lastIndexOf(".") + 1);
  const good: Record<string, readonly unknown[]> = {
    "with key, value and effect": [{ key: "a", value: "b", effect: "NoSchedule" }],
    "with a key and no value": [{ key: "a", effect: "NoExecute" }],
    "with a prefixed key": [{ key: "example.com/test", effect: "PreferNoSchedule" }],
    "with a prefixed key and a value": [{ key: "example.com/test", value: "yes", effect: "NoSchedule" }],
    "with a qualified name as value": [{ key: "a", value: "example.com/b", effect: "NoSchedule" }],
    "with a key in capitals": [{ key: "example.com/Test_1.x-y", effect: "NoSchedule" }],
    "with one key and two effects": [
      { key: "a", effect: "NoSchedule" },
      { key: "a", effect: "NoExecute" },
    ],
    "twice the same (fails at run time)": [
      { key: "a", effect: "NoSchedule" },
      { key: "a", effect: "NoSchedule" },
    ],
    "with an over-long prefix (fails at run time)": [{ key: `${"a".repeat(254)}/test`, effect: "NoSchedule" }],
    "with an over-long name (fails at run time)": [{ key: `test.com/${"a".repeat(64)}`, effect: "NoSchedule" }],
    "with the time they were added": [{ key: "a", effect: "NoSchedule", timeAdded: "2024-01-01T00:00:00Z" }],
    none: [],
  };
  const bad: Record<string, readonly unknown[]> = {
    "without a key": [{ effect: "NoSchedule" }],
    "with an empty key": [{ key: "", effect: "NoSchedule" }],
    "with a brace in the key": [{ key: "test.com.com}", effect: "NoSchedule" }],
    "with capitals in the prefix": [{ key: "Test.com/test", effect: "NoSchedule" }],
    "with two slashes in the key": [{ key: "test/test/test", effect: "NoSchedule" }],
    "with nothing after the slash": [{ key: "test/", effect: "NoSchedule" }],
    "with nothing before the slash": [{ key: "/test", effect: "NoSchedule" }],
    "with a value of odd characters": [{ key: "a", value: "???", effect: "NoSchedule" }],
    "with an empty value": [{ key: "a", value: "", effect: "NoSchedule" }],
    "without an effect": [{ key: "a" }],
    "with an unknown effect": [{ key: "a", effect: "???" }],
    "with an empty effect": [{ key: "a", effect: "" }],
    "with the effect in lower case": [{ key: "a", effect: "noschedule" }],
    "with a time that is none": [{ key: "a", effect: "NoSchedule", timeAdded: "yesterday" }],
    "of which the second is bad": [{ key: "a", effect: "NoSchedule" }, { key: "b" }],
    "with null for an item": [null],
  };
  const taint = { key: "a", effect: "NoSchedule" };
  return [
    ...Object.entries(good).map(([title, value]) => accept(`${rule} ${at} ${title}`, { [path]: value })),
    ...Object.entries(bad).map(([title, value]) => refuse(`${rule} ${at} ${title}`, { [path]: value })),
    accept(
      `01 §0.1 unknown fields of ${at} are dropped`,
      { [path]: [{ ...taint, colour: "red" }] },
      { stored: { [path]: [taint] } },
    ),
    accept(`01 §0.1 null for ${at} counts as absent`, { [path]: null }, { stored: { [path]: undefined } }),
    ...refuseTypes(rule, { [path]: {}, [`${path}[0]`]: "a=b:NoSchedule" }),
    ...refuseTypes(
      rule,
      { [`${path}[0].key`]: 1, [`${path}[0].value`]: 1, [`${path}[0].effect`]: 1, [`${path}[0].timeAdded`]: 1 },
      { [path]: [taint] },
    ),
  ];
}
