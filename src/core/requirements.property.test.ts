import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import type { RequirementItem } from "../api/kubernetes/pod.ts";
import { labelPolicy } from "../api/label-policy.ts";
import { requirementOperators } from "../api/vocabulary.ts";
import { Random } from "../util/random.ts";
import { intersects, isCompatible, requirementConflicts } from "./compatibility.ts";
import type { Requirement } from "./requirement.ts";
import { Requirements } from "./requirements.ts";

/**
 * The model: a list of items is the predicate that all of them hold, tried on every value of a small universe. Nothing
 * of it is shared with the code under test: integers are told by a table, not parsed.
 */
const policy = labelPolicy("kwok");
const numRuns = runs(10_000);

const integers: Readonly<Record<string, bigint>> = {
  ...Object.fromEntries(Array.from({ length: 9 }, (_, n) => [String(n - 2), BigInt(n - 2)])),
  "+3": 3n,
  "004": 4n,
  "-9223372036854775808": -(2n ** 63n),
  "9223372036854775806": 2n ** 63n - 2n,
  "9223372036854775807": 2n ** 63n - 1n,
};
const others = ["", "a", "b", "c", "1.5", "3a", "9223372036854775808"];
/** Never named by an item: stands for everything else. */
const unnamed = ["something else", "4000000000"];
const universe = [...Object.keys(integers), ...others, ...unnamed];
const integerOf = (value: string): bigint | undefined => (value === "4000000000" ? 4_000_000_000n : integers[value]);

function allows(item: RequirementItem, value: string): boolean {
  const values = item.values ?? [];
  const integer = integerOf(value);
  const bound = integerOf(values[0] ?? "");
  switch (item.operator) {
    case "In":
      return values.includes(value);
    case "NotIn":
      return !values.includes(value);
    case "Exists":
      return true;
    case "DoesNotExist":
      return false;
    case "Gt":
      return integer !== undefined && bound !== undefined && integer > bound;
    case "Gte":
      return integer !== undefined && bound !== undefined && integer >= bound;
    case "Lt":
      return integer !== undefined && bound !== undefined && integer < bound;
    default:
      return integer !== undefined && bound !== undefined && integer <= bound;
  }
}

const allowAll = (items: readonly RequirementItem[], value: string): boolean =>
  items.every((item) => allows(item, value));
const allowed = (items: readonly RequirementItem[]): string[] => universe.filter((value) => allowAll(items, value));

/** The whole integers that a list of items leaves between its bounds, or nothing where they cross. */
function room(items: readonly RequirementItem[]): { low: bigint; high: bigint } | undefined {
  let low = -(2n ** 63n);
  let high = 2n ** 63n - 1n;
  for (const { operator, values } of items) {
    const bound = integerOf(values?.[0] ?? "") ?? 0n;
    if (operator === "Gt" && bound + 1n > low) low = bound + 1n;
    if (operator === "Gte" && bound > low) low = bound;
    if (operator === "Lt" && bound - 1n < high) high = bound - 1n;
    if (operator === "Lte" && bound < high) high = bound;
  }
  return low > high ? undefined : { low, high };
}

const isOpen = (items: readonly RequirementItem[]): boolean =>
  room(items) !== undefined && items.every(({ operator }) => operator !== "In" && operator !== "DoesNotExist");

/** Whether the two can be met together, with the exception of 02:R-12: open sets meet wherever the bounds leave room. */
function modelIntersects(a: readonly RequirementItem[], b: readonly RequirementItem[]): boolean {
  const both = [...a, ...b];
  return isOpen(both) || allowed(both).length > 0;
}

/** NotIn with an exclusion that still matters, or a set with nothing in it. */
function isNegative(items: readonly RequirementItem[]): boolean {
  if (!isOpen(items)) return allowed(items).length === 0;
  const excluded = items.flatMap(({ operator, values }) => (operator === "NotIn" ? (values ?? []) : []));
  const bounds = items.filter(({ operator }) => operator !== "NotIn");
  return excluded.some((value) => allowAll(bounds, value));
}

const named = universe.filter((value) => !unnamed.includes(value));
const item = (key: string): fc.Arbitrary<RequirementItem> =>
  fc.constantFrom(...requirementOperators).chain((operator) => {
    const bounds = operator === "Gt" || operator === "Lt" || operator === "Gte" || operator === "Lte";
    const value = bounds ? fc.constantFrom(...Object.keys(integers)) : fc.constantFrom(...named);
    const count = bounds ? { minLength: 1, maxLength: 1 } : { maxLength: operator === "In" ? 6 : 4 };
    const without = operator === "Exists" || operator === "DoesNotExist";
    return fc.record(
      {
        key: fc.constant(key),
        operator: fc.constant(operator),
        values: without ? fc.constant([]) : fc.uniqueArray(value, count),
        minValues: fc.integer({ min: 1, max: 50 }),
      },
      { requiredKeys: ["key", "operator", "values"] },
    );
  });
const items = (key = "k") => fc.array(item(key), { minLength: 1, maxLength: 3 });
const requirement = (list: readonly RequirementItem[]): Requirement => Requirements.fromItems(list, policy).get("k");

function shape({ key, complement, values, gte, lte, minValues }: Requirement) {
  return { key, complement, values: [...values].sort(), gte, lte, minValues };
}

it("02:R-1 to R-11 a requirement allows what all its items allow, however they are grouped", {
  timeout: 60_000,
}, () => {
  fc.assert(
    fc.property(items(), items(), (a, b) => {
      const both = requirement(a).intersection(requirement(b));
      expect(universe.filter((value) => both.has(value))).toEqual(allowed([...a, ...b]));
    }),
    { numRuns },
  );
});

it("02:R-10, R-11 intersection commutes, associates and repeats without effect", { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(items(), items(), items(), (x, y, z) => {
      const [a, b, c] = [requirement(x), requirement(y), requirement(z)];
      expect(shape(a.intersection(b))).toEqual(shape(b.intersection(a)));
      expect(shape(a.intersection(a))).toEqual(shape(a));
      const left = a.intersection(b).intersection(c);
      const right = a.intersection(b.intersection(c));
      expect(universe.filter((value) => left.has(value))).toEqual(universe.filter((value) => right.has(value)));
      expect(left.operator).toBe(right.operator);
    }),
    { numRuns },
  );
});

it("02:R-12 hasIntersection says whether a value is left, and is generous with two open sets", {
  timeout: 60_000,
}, () => {
  fc.assert(
    fc.property(items(), items(), (a, b) => {
      const expected = modelIntersects(a, b);
      expect(requirement(a).hasIntersection(requirement(b))).toBe(expected);
      expect(requirement(b).hasIntersection(requirement(a))).toBe(expected);
    }),
    { numRuns },
  );
});

it("02:R-25, R-26 compatible agrees with the table, key by key", { timeout: 60_000 }, () => {
  const side = fc.record({ x: items("x"), y: items("y"), z: items("z") }, { requiredKeys: [] });
  type Side = { x?: RequirementItem[]; y?: RequirementItem[]; z?: RequirementItem[] };
  const keys = ["x", "y", "z"] as const;
  const all = (one: Side) =>
    Requirements.fromItems(
      keys.flatMap((key) => one[key] ?? []),
      policy,
    );
  fc.assert(
    fc.property(side, side, fc.subarray([...keys]), (node, incoming, allow) => {
      const clashing = keys.filter((key) => {
        const [existing, wanted] = [node[key], incoming[key]];
        if (existing === undefined || wanted === undefined) return false;
        return !modelIntersects(existing, wanted) && !(isNegative(existing) && isNegative(wanted));
      });
      const unknown = keys.filter((key) => {
        const wanted = incoming[key];
        return wanted !== undefined && node[key] === undefined && !allow.includes(key) && !isNegative(wanted);
      });
      const expected = unknown.length > 0 ? unknown.slice(0, 1) : clashing;
      const options = { allowUndefined: new Set<string>(allow) };
      expect(requirementConflicts(all(node), all(incoming), options).map(({ key }) => key)).toEqual(expected);
      expect(isCompatible(all(node), all(incoming), options)).toBe(expected.length === 0);
      expect(intersects(all(node), all(incoming))).toBe(clashing.length === 0);
    }),
    { numRuns },
  );
});

it("02:R-35 what goes to the API comes back the same", { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(items(), (list) => {
      const original = requirement(list);
      const back = requirement(original.toItems());
      expect(shape(back)).toEqual(shape(original));
      expect(String(back)).toBe(String(original));
    }),
    { numRuns },
  );
});

it("02:R-36 any draws an allowed value, or nothing", { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(items(), fc.nat(), (list, seed) => {
      const one = requirement(list);
      const value = one.any(new Random(seed));
      // Integers count from zero, unless only negative ones are left.
      const from = (room(list)?.high ?? 0n) < 0n ? -(2n ** 64n) : 0n;
      const isDrawable = (other: string) => String(integerOf(other)) === other && BigInt(other) >= from;
      const choice = allowed(list).filter((other) => !one.complement || isDrawable(other));
      if (value !== "" || choice.length > 0) expect(one.has(value), value).toBe(true);
    }),
    { numRuns },
  );
});
