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

describe("05:CP-S3 what rules may cost", () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
  const nested = "self.a.all(x, self.a.all(y, self.a.all(z, x + y + z >= 0)))";
  const cancelled = /^'operation cancelled: actual cost limit exceeded': no further .* exceeds limit for rule: /;

  it.each<[what: string, expression: string, self: object]>([
    ["nested all()", nested, { a: numbers(1_000) }],
    [
      "nested exists(), which swallows errors",
      nested.replaceAll("all", "exists").replace(">=", "<"),
      { a: numbers(1_000) },
    ],
    ["an error swallowed by ||", `${nested} || true`, { a: numbers(1_000) }],
    ["map() in map()", "self.a.map(x, self.a.map(y, self.a)).size() > 0", { a: numbers(2_000) }],
    [
      "comparing large lists",
      "self.a.all(x, self.b == self.c)",
      { a: numbers(2_000), b: [numbers(9_000)], c: [numbers(9_000)] },
    ],
    ["looking for a value in a list", "self.a.all(x, !(-1 in self.a))", { a: numbers(20_000) }],
    [
      "texts that double",
      `size(${"[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"}.map(x, self.t + self.t).join(self.t)) > 0`,
      { t: "x".repeat(1_000_000) },
    ],
    ["a pattern", 'self.t.matches("(x?x?x?x?x?x?x?x?){100}(x?x?x?x?x?x?x?x?){100}y")', { t: "x".repeat(1_400_000) }],
    ["replacing", 'self.t.replace("", self.t) == ""', { t: "x".repeat(1_000_000) }],
    ["splitting", 'self.t.split("").all(x, x == "x")', { t: "x".repeat(2_000_000) }],
    [
      "bound names",
      "cel.bind(a, self.t + self.t, cel.bind(b, a + a, cel.bind(c, b + b, cel.bind(d, c + c, cel.bind(e, d + d, e == self.t)))))",
      { t: "x".repeat(1_000_000) },
    ],
  ])("%s ends soon", (_what, expression, self) => {
    const cpu = process.cpuUsage();
    const found = validateRules({ object: self, schema: rule(expression) }, programs);
    expect(found.map(({ message }) => message)).toEqual([expect.stringMatching(cancelled)]);
    expect(process.cpuUsage(cpu).user / 1_000).toBeLessThan(3_000); // milliseconds
  });

  it("stops when all rules of an object together have cost too much", () => {
    const items = { type: "array", items: rule("self.all(x, self.all(y, x + y >= 0))") } as const;
    const found = validateRules({ object: numbers(300).map(() => numbers(150)), schema: items }, programs);
    expect(found.map(({ message }) => message)).toEqual([
      "validation failed due to running out of cost budget, no further validation rules will be run",
    ]);
  });

  it("counts the conversion of values for rules at many levels", () => {
    let schema: StructuralSchema = { type: "array", items: { type: "integer" } };
    let object: unknown = numbers(40_000);
    for (let level = 0; level < 100; level++) {
      object = { a: object };
      schema = { type: "object", properties: { a: schema }, "x-kubernetes-validations": [{ rule: "has(self.a)" }] };
    }
    expect(validateRules({ object, schema }, programs)).toHaveLength(1);
  });

  it("leaves honest rules alone: one pass over 10,000 items", () => {
    const schema = rule("self.a.all(x, x >= 0 && x < 10000) && self.a.exists(x, x == 9999) && size(self.a) == 10000");
    expect(validateRules({ object: { a: numbers(10_000) }, schema }, programs)).toEqual([]);
  });
});
