import { describe, expect, it } from "vitest";
import { labelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import type { RequirementOperator } from "../api/vocabulary.ts";
import {
  describeRequirementConflicts,
  intersects,
  isCompatible,
  noIntersections,
  requirementConflicts,
} from "./compatibility.ts";
import { Requirement } from "./requirement.ts";
import { Requirements } from "./requirements.ts";

const policy = labelPolicy("kwok");
const wellKnown = { allowUndefined: policy.wellKnown };

function one(key: string, operator: RequirementOperator, ...values: string[]): Requirements {
  return Requirements.fromItems([{ key, operator, values }], policy);
}

const text = (...args: Parameters<typeof requirementConflicts>) =>
  describeRequirementConflicts(requirementConflicts(...args));

describe("02:R-25 intersects", () => {
  it("looks at shared keys only", () => {
    expect(intersects(one("a", "In", "1"), one("b", "In", "2"))).toBe(true);
    expect(intersects(one("a", "In", "1"), one("a", "In", "2"))).toBe(false);
  });

  it("two negatives never conflict", () => {
    const negatives = [one("k", "NotIn", "a"), one("k", "DoesNotExist")];
    for (const a of negatives) for (const b of negatives) expect(intersects(a, b)).toBe(true);
    expect(intersects(one("k", "Exists"), one("k", "DoesNotExist"))).toBe(false);
    expect(intersects(one("k", "DoesNotExist"), one("k", "Gt", "1"))).toBe(false);
  });

  it("reports every failing key as data, by key, and in upstream's words", () => {
    const existing = Requirements.of(Requirement.in("b", ["1"]), Requirement.in("a", ["1"]), Requirement.exists("c"));
    const incoming = Requirements.of(Requirement.in("a", ["2"]), Requirement.in("b", ["2"]), Requirement.exists("c"));
    const found = noIntersections(existing, incoming);
    expect(found).toEqual([
      { code: "no-intersection", key: "a", incoming: incoming.get("a"), existing: existing.get("a") },
      { code: "no-intersection", key: "b", incoming: incoming.get("b"), existing: existing.get("b") },
    ]);
    expect(describeRequirementConflicts(found)).toBe(
      "key a, a In [2] not in a In [1]; key b, b In [2] not in b In [1]",
    );
  });
});

describe("02:R-26, 02:R-27 compatible", () => {
  const known = labels.zone;
  const custom = "team";
  // Rows of the table: what comes in, against a key with overlapping values, with disjoint ones, and a key left out.
  it.each<[RequirementOperator, string[], Requirement, boolean]>([
    ["In", ["a"], Requirement.in(known, ["a", "b"]), true],
    ["In", ["a"], Requirement.in(known, ["b"]), false],
    ["Gt", ["4"], Requirement.in(known, ["5"]), true],
    ["Gt", ["4"], Requirement.in(known, ["4"]), false],
    ["Exists", [], Requirement.in(known, ["a"]), true],
    ["Exists", [], Requirement.doesNotExist(known), false],
    ["NotIn", ["a"], Requirement.in(known, ["a", "b"]), true],
    ["NotIn", ["a", "b"], Requirement.in(known, ["a"]), false],
    ["NotIn", ["a"], Requirement.doesNotExist(known), true],
    ["NotIn", ["a"], Requirement.notIn(known, ["b"]), true],
    ["DoesNotExist", [], Requirement.in(known, ["a"]), false],
    ["DoesNotExist", [], Requirement.exists(known), false],
    ["DoesNotExist", [], Requirement.notIn(known, ["a"]), true],
    ["DoesNotExist", [], Requirement.doesNotExist(known), true],
  ])("%s %j against %s: %s", (operator, values, existing, expected) => {
    expect(isCompatible(Requirements.of(existing), one(known, operator, ...values), wellKnown)).toBe(expected);
  });

  it.each<[RequirementOperator, string[], boolean]>([
    ["In", ["a"], false],
    ["Exists", [], false],
    ["Gt", ["1"], false],
    ["Lte", ["1"], false],
    ["NotIn", ["a"], true],
    ["DoesNotExist", [], true],
  ])("01 §4.3 %s %j against a missing key: well-known passes, otherwise %s", (operator, values, tolerated) => {
    expect(isCompatible(Requirements.none, one(known, operator, ...values), wellKnown)).toBe(true);
    expect(isCompatible(Requirements.none, one(known, operator, ...values))).toBe(tolerated);
    expect(isCompatible(Requirements.none, one(custom, operator, ...values), wellKnown)).toBe(tolerated);
  });

  it("is not symmetric: labels nobody asked for do no harm", () => {
    expect(isCompatible(one(custom, "In", "a"), Requirements.none)).toBe(true);
    expect(isCompatible(Requirements.none, one(custom, "In", "a"))).toBe(false);
  });

  it("stops at the first unknown label, by key, and says so before any conflict", () => {
    const node = Requirements.of(Requirement.in("a", ["1"]));
    const incoming = Requirements.of(
      Requirement.in("z", ["1"]),
      Requirement.in("team", ["1"]),
      Requirement.in("a", ["2"]),
    );
    expect(requirementConflicts(node, incoming)).toEqual([
      { code: "undefined-key", key: "team", incoming: incoming.get("team") },
    ]);
    expect(text(node, incoming)).toBe('label "team" does not have known values');
  });

  it("02:R-22 an alias is the key it stands for", () => {
    expect(isCompatible(one(labels.zone, "In", "a"), one("failure-domain.beta.kubernetes.io/zone", "In", "b"))).toBe(
      false,
    );
  });
});

describe("02:R-28 hints", () => {
  const hintFor = (key: string, node = Requirements.none) => text(node, one(key, "In", "x"), wellKnown);

  it.each([
    ["zone", labels.zone],
    ["topology.kubernetes.io/zon", labels.zone],
    ["foobar/zone", labels.zone],
    ["kubernetes.io/capacity-type", labels.capacityType],
    ["karpenter.sh/instance-type", labels.instanceType],
  ])("%s looks like %s", (key, known) => {
    expect(hintFor(key)).toBe(`label "${key}" does not have known values (typo of "${known}"?)`);
  });

  it("looks at allowed keys first, then at the node's own", () => {
    const node = one("example.com/zone", "In", "a").add(Requirement.in("example.com/team", ["a"]));
    expect(hintFor("my/zone", node)).toContain(`typo of "${labels.zone}"?`);
    expect(hintFor("my/team", node)).toContain('typo of "example.com/team"?');
    expect(hintFor("color", node)).toBe('label "color" does not have known values');
  });
});
