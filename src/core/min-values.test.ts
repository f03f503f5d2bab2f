import { expect, it } from "vitest";
import { checkMinValues, describeMinValues } from "./min-values.ts";
import { Requirement } from "./requirement.ts";
import { Requirements } from "./requirements.ts";

const type = (family: string, size: string) => ({
  requirements: Requirements.of(Requirement.in("family", [family]), Requirement.in("size", [size])),
});

const asking = (least: Record<string, number>) =>
  Requirements.of(...Object.entries(least).map(([key, count]) => Requirement.exists(key).withMinValues(count)));

it("02:R-30, 01 §4.4 needs the shortest prefix in which all keys reach their minimum", () => {
  const types = [type("c", "1"), type("c", "2"), type("m", "2"), type("r", "3")];
  expect(checkMinValues(types, asking({ family: 2, size: 2 }))).toEqual({ kind: "satisfied", needed: 3 });
  expect(checkMinValues(types, asking({ size: 2 }))).toEqual({ kind: "satisfied", needed: 2 });
  expect(checkMinValues(types, asking({ family: 1 }))).toEqual({ kind: "satisfied", needed: 1 });
});

it("02:R-30 tells what each failing key achieved, and names the keys in upstream's words", () => {
  const outcome = checkMinValues([type("c", "1"), type("c", "2")], asking({ size: 3, family: 2, other: 1 }));
  const achieved = new Map([
    ["family", 1],
    ["other", 0],
    ["size", 2],
  ]);
  expect(outcome).toEqual({ kind: "unsatisfied", achieved });
  expect(describeMinValues(achieved)).toBe(
    "minValues requirement is not met for label(s) (label(s)=[family other size])",
  );
});

it("02:R-30 counts the types' own values, also those the requirement does not allow", () => {
  const inC = Requirements.of(Requirement.in("family", ["c"]).withMinValues(2));
  expect(checkMinValues([type("c", "1"), type("m", "1")], inC)).toEqual({ kind: "satisfied", needed: 2 });
});

it("02:R-30 an open set has no values to count", () => {
  const open = { requirements: Requirements.of(Requirement.notIn("family", ["a", "b"])) };
  expect(checkMinValues([open], asking({ family: 1 })).kind).toBe("unsatisfied");
});

it("02:R-30 nothing asked needs nothing, and without types there is nothing to fall short", () => {
  expect(checkMinValues([type("c", "1")], asking({}))).toEqual({ kind: "satisfied", needed: 0 });
  expect(checkMinValues([], asking({ family: 2 }))).toEqual({ kind: "satisfied", needed: 0 });
});

it("02:R-10 minValues survives intersection as the larger one", () => {
  const twice = asking({ family: 2 }).add(...asking({ family: 3 }));
  expect(twice.get("family").minValues).toBe(3);
});
