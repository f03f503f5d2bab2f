import type { Case, CaseMaker, Extra } from "./case.ts";

/** Cases for fields that share a named pattern. (01 §0.2) */

interface Place {
  readonly rule: string;
  readonly path: string;
  readonly extra?: Extra;
}

const wholeDurations = ["30s", "1h30m5s", "5s1h", "0s", "1h1h", "720h", "00s", "9999999999h"];
const noDurations = [
  "-1s",
  "1hr",
  "FooNever",
  "NeverFoo",
  "never",
  "1d",
  "500ms",
  "1.5h",
  "1h 30m",
  " 30s",
  "30s\n",
  "30",
  "s",
  "",
];

/** DUR, or DUR_NEVER where `Never` is a word. */
export function durationCases(
  make: CaseMaker,
  { rule, path, never }: Place & { readonly never: boolean },
): readonly Case[] {
  return [
    ...make.acceptEach(`${rule} ${path}`, path, [...wholeDurations, ...(never ? ["Never"] : [])]),
    ...make.refuseEach(`${rule} ${path}`, path, [...noDurations, ...(never ? [] : ["Never"]), 30, true, {}, ["30s"]]),
  ];
}

/** Integers never meet the pattern, so a sign or size of theirs is free. */
const quantities = [
  1,
  0,
  -1,
  "1",
  "-1",
  "+1",
  "1.5",
  ".5",
  "5.",
  "100m",
  "1Ki",
  "16Gi",
  "1n",
  "1u",
  "1k",
  "2E",
  "1Ei",
  "1e3",
  "1E-3",
  "1e1.5",
];
const noQuantities = [
  "",
  "abc",
  "1KI",
  "1ki",
  "1 Gi",
  "1Gi ",
  "1.5.5",
  "--1",
  "1e",
  "Gi",
  ".",
  "1mm",
  "1Gi1",
  "1K",
  1.5,
  1e19,
  true,
  {},
  ["1"],
];

/** QTY, under a map from resource names. `key` must be one that no rule speaks of. */
export function quantityCases(
  make: CaseMaker,
  { rule, path, extra, key }: Place & { readonly key: string },
): readonly Case[] {
  return [
    ...make.acceptEach(`${rule} ${path}`, `${path}["${key}"]`, quantities, extra),
    ...make.refuseEach(`${rule} ${path}`, `${path}["${key}"]`, noQuantities, extra),
    make.accept(`${rule} ${path} empty`, { [path]: {} }, extra),
    make.accept(
      `01 §0.1 ${path} with null for a value drops it`,
      { [path]: { [key]: null } },
      { ...extra, stored: { [path]: {} } },
    ),
    ...make.refuseTypes(rule, { [path]: [] }),
  ];
}
