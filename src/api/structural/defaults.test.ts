import { describe, expect, it } from "vitest";
import { applyDefaults } from "./defaults.ts";
import type { StructuralSchema } from "./schema.ts";

const one: StructuralSchema = { type: "integer", default: 1 };

describe("01 §0.1 defaults", () => {
  it.each<[what: string, schema: StructuralSchema, value: unknown, filled: unknown]>([
    ["fill what is absent", { properties: { a: one } }, {}, { a: 1 }],
    ["leave what is there", { properties: { a: one } }, { a: 0 }, { a: 0 }],
    ["replace null", { properties: { a: one } }, { a: null }, { a: 1 }],
    ["leave null that may stay", { properties: { a: { ...one, nullable: true } } }, { a: null }, { a: null }],
    ["do not make the object around them", { properties: { a: { properties: { b: one } } } }, {}, {}],
    ["go on inside a default", { properties: { a: { default: {}, properties: { b: one } } } }, {}, { a: { b: 1 } }],
    ["go on inside lists", { items: { properties: { a: one } } }, [{}, { a: 2 }], [{ a: 1 }, { a: 2 }]],
    ["go on inside maps", { additionalProperties: { properties: { a: one } } }, { k: {} }, { k: { a: 1 } }],
    ["replace null in lists", { items: one }, [null, 2], [1, 2]],
    ["replace null in maps", { additionalProperties: one }, { k: null }, { k: 1 }],
    ["leave an empty list empty", { properties: { a: { items: one, default: [2] } } }, { a: [] }, { a: [] }],
    ["leave scalars where objects are due", { properties: { a: one } }, "odd", "odd"],
  ])("%s", (_what, schema, value, filled) => {
    applyDefaults(value, schema);
    expect(value).toEqual(filled);
  });

  it("are fresh copies each time", () => {
    const schema: StructuralSchema = { properties: { a: { default: { list: [] } } } };
    const [first, second]: { a?: { list: number[] } }[] = [{}, {}];
    applyDefaults(first, schema);
    first?.a?.list.push(1);
    applyDefaults(second, schema);
    expect(second).toEqual({ a: { list: [] } });
  });
});
