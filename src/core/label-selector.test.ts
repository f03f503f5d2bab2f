import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import type { LabelSelector, SelectorRequirement } from "../api/kubernetes/pod.ts";
import { compileSelector, type LabelSet, termNamespaces } from "./label-selector.ts";

const one = (operator: string, values?: readonly string[], key = "app"): LabelSelector => ({
  matchExpressions: [{ key, operator, values }],
});

describe("compileSelector", () => {
  const web = { app: "web" };
  const cases: readonly [title: string, selector: LabelSelector | undefined, labels: LabelSet | undefined, boolean][] =
    [
      ["no selector selects nothing", undefined, web, false],
      ["an empty selector selects everything", {}, undefined, true],
      ["empty lists are an empty selector", { matchLabels: {}, matchExpressions: [] }, web, true],
      ["matchLabels", { matchLabels: web }, { app: "web", tier: "front" }, true],
      ["matchLabels, another value", { matchLabels: web }, { app: "db" }, false],
      ["matchLabels, no labels", { matchLabels: web }, undefined, false],
      ["labels and expressions must both match", { matchLabels: web, ...one("NotIn", ["web"]) }, web, false],
      ["In", one("In", ["db", "web"]), web, true],
      ["In, absent", one("In", ["db", "web"]), {}, false],
      ["NotIn", one("NotIn", ["db", "web"]), web, false],
      ["NotIn, absent", one("NotIn", ["db"]), {}, true],
      ["NotIn, no labels at all", one("NotIn", ["db"]), undefined, true],
      ["Exists", one("Exists"), { app: "" }, true],
      ["Exists, absent", one("Exists"), { tier: "x" }, false],
      ["DoesNotExist", one("DoesNotExist"), { tier: "x" }, true],
      ["DoesNotExist, present", one("DoesNotExist"), web, false],
      ["an empty value is a value", { matchLabels: { app: "" } }, {}, false],
      ["what objects inherit is no label", one("Exists", undefined, "constructor"), {}, false],
      ["invalid: In without values", one("In", []), web, false],
      ["invalid: NotIn without values", one("NotIn"), web, false],
      ["invalid: Exists with values", one("Exists", ["web"]), web, false],
      ["invalid: DoesNotExist with values", one("DoesNotExist", ["web"]), {}, false],
      ["invalid: operator", one("Gt", ["1"]), { app: "2" }, false],
      ["invalid: key", one("DoesNotExist", undefined, "a/b/c"), {}, false],
      ["invalid: value", one("NotIn", ["not a value"]), {}, false],
      ["invalid: matchLabels value", { matchLabels: { app: "-" } }, { app: "-" }, false],
      ["one invalid part spoils it all", { matchLabels: web, ...one("Gt", ["1"], "x") }, web, false],
    ];
  it.each(cases)("02:X-9 %s", (_, selector, labels, expected) =>
    expect(compileSelector(selector).matches(labels)).toBe(expected),
  );

  describe("02:X-7 label keys", () => {
    const labels = { app: "web", rev: "7" };
    it("the pod's values are added, keys it lacks are not", () => {
      const compiled = compileSelector(one("Exists"), { labels, matchLabelKeys: ["rev", "zone"] });
      expect(compiled.matches({ app: "web", rev: "7" })).toBe(true);
      expect(compiled.matches({ app: "web", rev: "8" })).toBe(false);
      expect(compiled.identity).toBe(compileSelector({ ...one("Exists"), matchLabels: { rev: "7" } }).identity);
    });
    it("mismatching keys exclude the pod's values", () => {
      const compiled = compileSelector({}, { labels, mismatchLabelKeys: ["rev", "zone"] });
      expect(compiled.matches({ rev: "7" })).toBe(false);
      expect(compiled.matches({ rev: "8" })).toBe(true);
      expect(compiled.matches({})).toBe(true);
    });
    it("without a selector they select nothing", () => {
      expect(compileSelector(undefined, { labels, matchLabelKeys: ["rev"] }).matches(labels)).toBe(false);
    });
    it("without labels they say nothing", () => {
      expect(compileSelector({}, { labels: undefined, matchLabelKeys: ["rev"] }).identity).toBe(
        compileSelector({}).identity,
      );
    });
  });

  describe("02:X-5 identity", () => {
    const identity = (selector: LabelSelector | undefined) => compileSelector(selector).identity;
    it("does not depend on order, repetition or the place an equality is written", () => {
      const a: LabelSelector = { matchLabels: { app: "web", tier: "x" }, ...one("In", ["b", "a"], "env") };
      const b: LabelSelector = {
        matchLabels: { tier: "x" },
        matchExpressions: [
          { key: "env", operator: "In", values: ["a", "b", "a"] },
          { key: "app", operator: "In", values: ["web"] },
          { key: "env", operator: "In", values: ["b", "a"] },
        ],
      };
      expect(identity(a)).toBe(identity(b));
    });
    it("tells different selectors apart", () => {
      const different = [
        undefined,
        {},
        one("In", ["a"]),
        one("In", ["b"]),
        one("In", ["a", "b"]),
        one("NotIn", ["a"]),
        one("Exists"),
        one("DoesNotExist"),
        one("In", ["a"], "other"),
        { matchLabels: { app: "a", tier: "a" } },
      ];
      expect(new Set(different.map(identity)).size).toBe(different.length);
    });
    it("is the same for all that select nothing", () => expect(identity(one("In", []))).toBe(identity(undefined)));
  });

  it("agrees with a literal reading, and everything it selects has its index pair", () => {
    const words = fc.constantFrom("a", "b", "c");
    const expression: fc.Arbitrary<SelectorRequirement> = fc.oneof(
      fc.record({
        key: words,
        operator: fc.constantFrom("In", "NotIn"),
        values: fc.array(words, { minLength: 1, maxLength: 3 }),
      }),
      fc.record({ key: words, operator: fc.constantFrom("Exists", "DoesNotExist") }),
    );
    const literally = ({ key, operator, values = [] }: SelectorRequirement, labels: LabelSet): boolean => {
      const value = labels[key];
      if (operator === "Exists") return value !== undefined;
      if (operator === "DoesNotExist") return value === undefined;
      const isIn = value !== undefined && values.includes(value);
      return operator === "In" ? isIn : !isIn;
    };
    const labelSets = fc.dictionary(words, words);
    fc.assert(
      fc.property(labelSets, fc.array(expression, { maxLength: 3 }), labelSets, (matchLabels, expressions, labels) => {
        const selector = compileSelector({ matchLabels, matchExpressions: expressions });
        const expected =
          Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
          expressions.every((each) => literally(each, labels));
        expect(selector.matches(labels)).toBe(expected);
        const pair = selector.indexPair;
        if (expected && pair !== undefined) expect(labels[pair.key]).toBe(pair.value);
        if (Object.keys(matchLabels).length > 0) expect(pair).toBeDefined();
      }),
      { numRuns: runs(50_000) },
    );
  });
});

describe("termNamespaces", () => {
  const namespaces = [
    { metadata: { name: "a", labels: { team: "x" } } },
    { metadata: { name: "b", labels: { team: "y" } } },
    { metadata: { name: "c" } },
  ];
  const cases: readonly [title: string, term: Parameters<typeof termNamespaces>[0], expected: readonly string[]][] = [
    ["neither list nor selector: the pod's own", {}, ["own"]],
    ["an empty list counts as none", { namespaces: [] }, ["own"]],
    ["a list only: the list, known or not", { namespaces: ["b", "z"] }, ["b", "z"]],
    ["an empty selector: all", { namespaceSelector: {} }, ["a", "b", "c"]],
    ["a selector: those it matches", { namespaceSelector: { matchLabels: { team: "x" } } }, ["a"]],
    ["both: together", { namespaces: ["z"], namespaceSelector: { matchLabels: { team: "y" } } }, ["b", "z"]],
    ["a selector that matches none: none", { namespaceSelector: { matchLabels: { team: "w" } } }, []],
    ["an invalid selector: the list", { namespaces: ["z"], namespaceSelector: one("In", []) }, ["z"]],
  ];
  it.each(cases)("02:X-8 %s", (_, term, expected) =>
    expect([...termNamespaces(term, "own", namespaces)].sort()).toEqual(expected),
  );
});
