import { describe, expect, it } from "vitest";
import { prune } from "./prune.ts";
import type { StructuralSchema } from "./schema.ts";

const text: StructuralSchema = { type: "string" };
const open: StructuralSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

function at(spec: StructuralSchema, value: unknown): { readonly spec: unknown; readonly unknown: readonly string[] } {
  const pruned = prune({ spec: value }, { type: "object", properties: { spec } });
  return { spec: (pruned.value as { spec?: unknown }).spec, unknown: pruned.unknown.map((path) => path.join(".")) };
}

describe("01 §0.1 prune", () => {
  it.each<[what: string, schema: StructuralSchema, value: unknown, kept: unknown, unknown: readonly string[]]>([
    ["drops unknown fields", { properties: { a: text } }, { a: "1", b: "2" }, { a: "1" }, ["spec.b"]],
    [
      "in lists too",
      { items: { properties: { a: text } } },
      [{ a: "1", b: "2" }, { c: 3 }],
      [{ a: "1" }, {}],
      ["spec.0.b", "spec.1.c"],
    ],
    [
      "and in map values",
      { additionalProperties: { properties: { a: text } } },
      { k: { a: "1", b: 2 } },
      { k: { a: "1" } },
      ["spec.k.b"],
    ],
    ["keeps any key of a map", { additionalProperties: text }, { a: "1", "b/c": "2" }, { a: "1", "b/c": "2" }, []],
    [
      "keeps the keys where additionalProperties is true, not what is below them",
      { additionalProperties: true },
      { a: { b: [1] } },
      { a: {} },
      ["spec.a.b"],
    ],
    ["keeps unknown fields of an open object, whole", open, { a: { b: [1, null] } }, { a: { b: [1, null] } }, []],
    [
      "but prunes the known ones inside it",
      { ...open, properties: { a: { properties: {} } } },
      { a: { b: 1 }, c: 2 },
      { a: {}, c: 2 },
      ["spec.a.b"],
    ],
    ["drops null", { properties: { a: text, b: text } }, { a: null, b: "1" }, { b: "1" }, []],
    ["drops null of a map value", { additionalProperties: text }, { a: null }, {}, []],
    ["keeps null where it may stay", { properties: { a: { ...text, nullable: true } } }, { a: null }, { a: null }, []],
    [
      "keeps null that a default will replace",
      { properties: { a: { ...text, default: "x" } } },
      { a: null },
      { a: null },
      [],
    ],
    ["keeps null in lists", { items: text }, [null], [null], []],
    ["leaves scalars where objects are due to validation", { properties: { a: text } }, "odd", "odd", []],
    [
      "keeps apiVersion, kind and metadata of an embedded object",
      { properties: {}, "x-kubernetes-embedded-resource": true },
      { kind: "A", metadata: { name: "a" }, spec: 1 },
      { kind: "A", metadata: { name: "a" } },
      ["spec.spec"],
    ],
  ])("%s", (_what, schema, value, kept, unknown) => {
    expect(at(schema, value)).toEqual({ spec: kept, unknown });
  });

  it("keeps the root's own fields, and of its metadata what metadata has", () => {
    const object = { apiVersion: "v1", kind: "A", metadata: { name: "a", colour: "red" }, other: 1 };
    expect(prune(object, { type: "object", properties: { metadata: { type: "object" } } })).toEqual({
      value: { apiVersion: "v1", kind: "A", metadata: { name: "a" } },
      unknown: [["metadata", "colour"], ["other"]],
    });
  });

  it("treats __proto__ as a name like any other", () => {
    const value = JSON.parse('{"spec": {"__proto__": {"polluted": "yes"}}}');
    const dropped = prune(value, { properties: { spec: { properties: {} } } });
    const kept = prune(value, { properties: { spec: { additionalProperties: { additionalProperties: text } } } });
    expect(JSON.stringify(dropped.value)).toBe('{"spec":{}}');
    expect(JSON.stringify(kept.value)).toBe('{"spec":{"__proto__":{"polluted":"yes"}}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("never touches what it is given, nor shares with it", () => {
    const value = { spec: { open: { deep: [1] }, gone: 1 } };
    const pruned = prune(value, { properties: { spec: { properties: { open } } } }).value as typeof value;
    pruned.spec.open.deep.push(2);
    expect(value).toEqual({ spec: { open: { deep: [1] }, gone: 1 } });
  });
});
