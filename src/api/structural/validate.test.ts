import { describe, expect, it } from "vitest";
import type { StructuralSchema } from "./schema.ts";
import { PatternCache, validateSchema } from "./validate.ts";

const patterns = new PatternCache();

/** `place: code` of every problem under `spec`. */
function problems(schema: StructuralSchema, value: unknown): readonly string[] {
  const whole: StructuralSchema = { type: "object", properties: { spec: schema } };
  return validateSchema({ spec: value }, whole, patterns).map(
    ({ path, code }) => `${path.slice(1).join(".")}: ${code}`,
  );
}

const intOrString: StructuralSchema = {
  "x-kubernetes-int-or-string": true,
  pattern: "^[0-9]+%?$",
  anyOf: [{ type: "integer" }, { type: "string" }],
};
const byName: StructuralSchema = {
  type: "array",
  items: { type: "object" },
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name", "port"],
};
const set: StructuralSchema = { type: "array", items: {}, "x-kubernetes-list-type": "set" };
const atomic: StructuralSchema = { type: "array", items: {}, "x-kubernetes-list-type": "atomic" };

describe("01 §0.1 layer S", () => {
  it.each<[what: string, schema: StructuralSchema, fine: readonly unknown[], wrong: readonly unknown[], code: string]>([
    ["object", { type: "object" }, [{}], [[], "a", 1, null], "type"],
    ["array", { type: "array" }, [[]], [{}, "a", null], "type"],
    ["string", { type: "string" }, ["", "a"], [1, true, {}, [], null], "type"],
    ["boolean", { type: "boolean" }, [true, false], ["true", 1, null], "type"],
    ["number", { type: "number" }, [1, 1.5, 1e300], ["1", null], "type"],
    ["integer", { type: "integer" }, [1, -1, 2 ** 60], [1.5, "1", null, 2 ** 63, 1e300], "type"],
    ["nullable", { type: "string", nullable: true }, ["a", null], [1], "type"],
    ["int-or-string", intOrString, [1, -1, "1", "10%"], [1.5, true, {}, null, 1e19], "type"],
    ["int-or-string pattern, on text alone", intOrString, [-5, "5"], ["-5", "a"], "pattern"],
    // kube-apiserver lets a list pass where it has a format for text; we do not.
    ["a list for a time", { type: "string", format: "date-time" }, ["2024-01-01T00:00:00Z"], [[], [1]], "type"],
    ["enum", { type: "string", enum: ["a", "b"] }, ["a", "b"], ["c", "", "A"], "enum"],
    ["enum of objects", { enum: [{ a: 1, b: 2 }] }, [{ b: 2, a: 1 }], [{ a: 1 }], "enum"],
    [
      "maxLength, in characters",
      { type: "string", maxLength: 2 },
      ["", "ab", "éé", "🙂🙂"],
      ["abc", "🙂🙂🙂"],
      "too-long",
    ],
    ["minLength, in characters", { type: "string", minLength: 2 }, ["ab", "🙂🙂"], ["", "a", "🙂"], "too-short"],
    ["pattern, unanchored", { type: "string", pattern: "b+" }, ["b", "abc"], ["", "ac"], "pattern"],
    ["pattern, whose $ is the very end", { type: "string", pattern: "^a$" }, ["a"], ["a\n", "b\na"], "pattern"],
    ["minimum", { type: "integer", minimum: 1 }, [1, 2], [0, -1], "too-small"],
    ["maximum", { type: "integer", maximum: 1 }, [1, 0], [2], "too-large"],
    ["exclusive minimum", { type: "integer", minimum: 1, exclusiveMinimum: true }, [2], [1], "too-small"],
    ["exclusive maximum", { type: "integer", maximum: 1, exclusiveMaximum: true }, [0], [1], "too-large"],
    ["multipleOf", { type: "integer", multipleOf: 5 }, [0, 10], [3], "too-small"],
    ["int32", { type: "integer", format: "int32" }, [2147483647, -2147483648], [2147483648, -2147483649], "format"],
    ["int64", { type: "integer", format: "int64" }, [2147483648], [], ""],
    ["minItems", { type: "array", minItems: 1 }, [[1]], [[]], "too-few"],
    ["maxItems", { type: "array", maxItems: 1 }, [[], [1]], [[1, 2]], "too-many"],
    ["minProperties", { type: "object", minProperties: 1 }, [{ a: 1 }], [{}], "too-few"],
    ["maxProperties", { type: "object", maxProperties: 1 }, [{}, { a: 1 }], [{ a: 1, b: 2 }], "too-many"],
    ["length and pattern of a list are inert", { type: "array", maxLength: 1, pattern: "^x$" }, [["a", "b"]], [], ""],
    ["not", { not: { type: "string" } }, [1], ["a"], "type"],
    ["allOf", { allOf: [{ minimum: 1 }, { maximum: 3 }] }, [2], [4], "too-large"],
    ["anyOf", { anyOf: [{ maximum: 1 }, { minimum: 3 }] }, [1, 3], [2], "type"],
    ["oneOf", { oneOf: [{ minimum: 1 }, { minimum: 3 }] }, [1], [0, 3], "type"],
  ])("%s", (_what, schema, fine, wrong, code) => {
    for (const value of fine) expect(problems(schema, value), JSON.stringify(value)).toEqual([]);
    for (const value of wrong) expect(problems(schema, value), JSON.stringify(value)).toEqual([`: ${code}`]);
  });

  it.each<[what: string, schema: StructuralSchema, value: unknown, found: readonly string[]]>([
    ["a field that is required", { type: "object", required: ["a", "b"] }, { a: 1 }, ["b: required"]],
    ["undeclared fields pass", { type: "object", properties: {} }, { a: 1 }, []],
    ["each item", { type: "array", items: { type: "string" } }, ["a", 1, null], ["1: type", "2: type"]],
    ["each map value", { type: "object", additionalProperties: { type: "string" } }, { a: "1", b: 2 }, ["b: type"]],
    ["a set's repeat", set, [1, "1", 2, 1], ["3: duplicate-item"]],
    [
      "a set's repeat, whatever the order of fields",
      set,
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      ["1: duplicate-item"],
    ],
    ["an atomic list may repeat", atomic, [1, 1], []],
    [
      "a map list's repeat by its keys",
      byName,
      [
        { name: "a", port: 1 },
        { name: "a", port: 2 },
        { name: "a", port: 1, x: 1 },
      ],
      ["2: duplicate-item"],
    ],
    ["a map list's repeat without one key", byName, [{ name: "a" }, { name: "a" }], ["1: duplicate-item"]],
    [
      "everything at once",
      { type: "object", required: ["c"], properties: { a: { type: "string" }, b: { minimum: 1 } } },
      { a: 1, b: 0 },
      ["c: required", "a: type", "b: too-small"],
    ],
  ])("finds %s", (_what, schema, value, found) => {
    expect(problems(schema, value)).toEqual(found);
  });

  it("leaves apiVersion, kind and metadata of the root alone, and only of the root", () => {
    const schema: StructuralSchema = { type: "object", properties: { kind: { type: "string", enum: ["B"] } } };
    expect(validateSchema({ kind: "A" }, schema, patterns)).toEqual([]);
    expect(problems(schema, { kind: "A" })).toEqual(["kind: enum"]);
  });

  it("looks at own fields only", () => {
    expect(problems({ type: "object", required: ["toString", "__proto__"] }, {})).toEqual([
      "toString: required",
      "__proto__: required",
    ]);
    const hidden = JSON.parse('{"__proto__": 1}');
    expect(problems({ type: "object", additionalProperties: { type: "string" } }, hidden)).toEqual(["__proto__: type"]);
  });

  it("a pattern that backtracking engines choke on takes linear time", () => {
    const start = performance.now();
    expect(problems({ type: "string", pattern: "^(a+)+$" }, `${"a".repeat(50_000)}!`)).toEqual([": pattern"]);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});

describe("01 §0.1 formats, as kube-apiserver reads them", () => {
  it.each<[format: string, fine: readonly string[], wrong: readonly string[]]>([
    [
      "date-time",
      [
        "2024-02-29T23:59:59Z",
        "2024-01-01t00:00:00z",
        "2024-01-01T00:00:00.1+25:61",
        "2024-01-01T00:00:00,5Z",
        "2024-01-01T00:00:00Zt",
      ],
      [
        "",
        "2024-01-01",
        "2023-02-29T00:00:00Z",
        "2024-01-01T24:00:00Z",
        "2024-01-01T00:00:60Z",
        "2024-01-01T00:00:00",
        "2024-01-01T00:00:00.Z",
      ],
    ],
    ["date", ["2024-02-29", "0000-01-01"], ["2023-02-29", "2024-1-1", "2024-01-01T00:00:00Z", ""]],
    ["byte", ["", "YQ==", "YWJj"], ["a", "YQ=", "****"]],
    ["uuid", ["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"], ["", "123"]],
    ["ipv4", ["0.0.0.0", "255.255.255.255"], ["256.0.0.1", "1.2.3", "1.2.3.4.5", "::1"]],
    ["int32", ["a format of numbers says nothing of text"], []],
    ["made-up", ["anything"], []],
  ])("%s", (format, fine, wrong) => {
    for (const text of fine) expect(problems({ type: "string", format }, text), text).toEqual([]);
    for (const text of wrong) expect(problems({ type: "string", format }, text), text).toEqual([": format"]);
  });
});
