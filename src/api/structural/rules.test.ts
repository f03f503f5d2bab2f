import { describe, expect, it } from "vitest";
import { CelPrograms } from "./cel.ts";
import { validateRules } from "./rules.ts";
import type { StructuralSchema } from "./schema.ts";

const programs = new CelPrograms();
const rule = (text: string) => ({ "x-kubernetes-validations": [{ rule: text, message: "no" }] });

interface Input {
  readonly object: unknown;
  readonly old?: unknown;
}

/** Places where a rule said no. */
function broken(schema: StructuralSchema, input: Input): readonly string[] {
  return validateRules({ ...input, schema }, programs).map(({ path }) => path.join("."));
}

describe("01 §0.1 layer C: values as CEL sees them", () => {
  const holds: readonly (readonly [expression: string, self: unknown, schema?: StructuralSchema])[] = [
    ["self.a == 1 && type(self.a) == int", { a: 1 }, { properties: { a: { type: "integer" } } }],
    ["self.a == 1.0 && type(self.a) == double", { a: 1 }, { properties: { a: { type: "number" } } }],
    ["self.a == 9007199254740992", { a: 2 ** 53 }, { properties: { a: { type: "integer" } } }],
    [
      "type(self.a) == int && type(self.b) == string",
      { a: 1, b: "1" },
      { additionalProperties: { "x-kubernetes-int-or-string": true } },
    ],
    ["has(self.a) && !has(self.b)", { a: "" }, { properties: { a: {}, b: {} } }],
    ['"a/b" in self && self["a/b"] == "c"', { "a/b": "c" }, { additionalProperties: {} }],
    ['"__proto__" in self && size(self) == 1', JSON.parse('{"__proto__": "x"}'), { additionalProperties: {} }],
    ['!("toString" in self)', {}, { additionalProperties: {} }],
    ["size(self.a) == 2 && self.a.all(x, x > 0)", { a: [1, 2] }, { properties: { a: { items: { type: "integer" } } } }],
    ["self.a == [1, 2] && self.a != [2, 1]", { a: [1, 2] }, { properties: { a: { items: { type: "integer" } } } }],
    // Names that CEL cannot say, as Kubernetes spells them.
    [
      "self.a__dash__b == 1 && self.a__dot__b == 2 && self.a__slash__b == 3",
      { "a-b": 1, "a.b": 2, "a/b": 3 },
      { properties: { "a-b": {}, "a.b": {}, "a/b": {} } },
    ],
    [
      "self.__namespace__ == 1 && self.__in__ == 2 && self.a__underscores__b == 3",
      { namespace: 1, in: 2, a__b: 3 },
      { properties: { namespace: {}, in: {}, a__b: {} } },
    ],
    // The library of string functions.
    [
      'self.a.split("/")[0] == "x" && self.a.startsWith("x") && self.a.endsWith("y") && self.a.matches("^x.y$")',
      { a: "x/y" },
    ],
    [
      'self.a.find("[0-9]+") == "12" && self.a.findAll("[0-9]+") == ["12", "3"] && self.a.find("z") == ""',
      { a: "a12b3" },
    ],
    ['self.a.replace("$&", "$1") == "x$1x" && self.a.lowerAscii() == "x$&x"', { a: "x$&x" }],
    ['int(self.a) == 5 && int("+5") == 5 && int("007") == 7', { a: "5" }],
  ];

  it.each(holds.map(([expression, self, schema = {}]) => ({ expression, self, schema })))(
    "$expression",
    ({ expression, self, schema }) => {
      const found = validateRules({ object: self, schema: { ...schema, ...rule(expression) } }, programs);
      expect(found.map(({ message }) => message)).toEqual([]);
    },
  );

  it("patterns are RE2: linear time, dots that match a carriage return, and .matches( in a text is only text", () => {
    const start = performance.now();
    expect(broken(rule('self.a.matches("^(a+)+$")'), { object: { a: `${"a".repeat(50_000)}!` } })).toEqual([""]);
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(broken(rule('self.a.matches("^x.y$") && ".matches(" != self.a'), { object: { a: "x\ry" } })).toEqual([]);
  });

  it.each(["int(self.a) >= 0", "self.missing == 1", "self.a", "1 +", 'self.a.matches("(")'])(
    "an error is a no: %s",
    (expression) => {
      expect(broken(rule(expression), { object: { a: "no number" } })).toEqual([""]);
    },
  );
});

describe("01 §0.1 layer C: where rules run", () => {
  const positive = { type: "integer", ...rule("self > 0") } as const;

  it.each<[what: string, schema: StructuralSchema, object: unknown, at: readonly string[]]>([
    ["at the root", rule("has(self.a)"), {}, [""]],
    ["at a property, when it is there", { properties: { a: positive } }, { a: 0 }, ["a"]],
    ["not at a property that is absent", { properties: { a: positive } }, {}, []],
    ["at list items", { items: positive }, [1, 0, -1], ["1", "2"]],
    ["at map values", { additionalProperties: positive }, { a: 1, b: 0 }, ["b"]],
    [
      "deep down",
      { properties: { a: { items: { properties: { b: positive } } } } },
      { a: [{ b: 1 }, { b: 0 }] },
      ["a.1.b"],
    ],
  ])("%s", (_what, schema, object, at) => {
    expect(broken(schema, { object })).toEqual(at);
  });

  it("names the field a rule points to, and the rule", () => {
    const schema: StructuralSchema = {
      properties: {
        a: { "x-kubernetes-validations": [{ id: "NP13", rule: "false", message: "never", fieldPath: ".b.c" }] },
      },
    };
    expect(validateRules({ object: { a: {} }, schema }, programs)).toEqual([
      { code: "rule", path: ["a", "b", "c"], message: "never", rule: "01:NP13" },
    ]);
  });
});

describe("01 §0.1 transition rules", () => {
  const fixed = rule("self == oldSelf");
  const keyed: StructuralSchema = {
    items: { properties: { v: fixed } },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
  };

  it.each<[what: string, schema: StructuralSchema, old: unknown, object: unknown, at: readonly string[]]>([
    ["do not run on create", fixed, undefined, { a: 1 }, []],
    ["say no to a change", fixed, { a: 1 }, { a: 2 }, [""]],
    ["say yes to the same in another order", fixed, { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ["do not run where the old value is missing", { properties: { a: fixed } }, {}, { a: 1 }, []],
    ["do not run where the new value is missing", { properties: { a: fixed } }, { a: 1 }, {}, []],
    ["follow map values", { additionalProperties: fixed }, { a: 1, b: 1 }, { a: 1, b: 2, c: 3 }, ["b"]],
    [
      "find the counterpart of a list item by its key",
      keyed,
      [
        { k: "a", v: 1 },
        { k: "b", v: 2 },
      ],
      [
        { k: "b", v: 2 },
        { k: "a", v: 3 },
        { k: "c", v: 4 },
      ],
      ["1.v"],
    ],
    ["have no counterpart in other lists", { items: { properties: { v: fixed } } }, [{ v: 1 }], [{ v: 2 }], []],
    ["are not fooled by inherited names", { additionalProperties: fixed }, {}, { toString: 1 }, []],
    [
      "are those that say oldSelf, not those that say myoldSelf",
      rule('self.myoldSelf == "x"'),
      undefined,
      { myoldSelf: "y" },
      [""],
    ],
  ])("%s", (_what, schema, old, object, at) => {
    expect(broken(schema, { object, old })).toEqual(at);
  });
});
