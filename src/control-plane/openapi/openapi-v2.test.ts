import { describe, expect, it } from "vitest";
import type { ServedKind } from "../kinds/served-kind.ts";
import { ServerSchemas } from "../kinds/server-schemas.ts";
import { WireReader, wireTypes } from "../protobuf/wire-reader.ts";
import { BuiltInSchemas } from "./built-in-schemas.ts";
import { openApiV2Document } from "./openapi-v2-document.ts";
import { encodeOpenApiV2 } from "./openapi-v2-protobuf.ts";

const builtIns = new ServerSchemas().builtInKinds;

function customKind(schema: Readonly<Record<string, unknown>>): ServedKind {
  const [any] = builtIns;
  if (any === undefined) throw new Error("no kinds");
  const names = { group: "example.com", version: "v1", kind: "Widget", plural: "widgets", namespaced: true };
  return { ...any, ...names, custom: { definition: "widgets.example.com", columns: [], schema } };
}

function definitionOf(spec: unknown): unknown {
  const kind = customKind({ type: "object", properties: { spec } });
  const { definitions } = openApiV2Document([kind], new BuiltInSchemas()) as {
    definitions: Record<string, { properties: Record<string, unknown> }>;
  };
  return definitions["com.example.v1.Widget"]?.properties["spec"];
}

/** The fields of a message by number; texts and messages as bytes. */
function fieldsOf(bytes: Uint8Array): ReadonlyMap<number, readonly (bigint | number | Uint8Array)[]> {
  const fields = new Map<number, (bigint | number | Uint8Array)[]>();
  const reader = new WireReader(bytes);
  while (!reader.done) {
    const { number, wireType } = reader.tag();
    const value =
      wireType === wireTypes.varint
        ? reader.varint()
        : wireType === wireTypes.fixed64
          ? reader.double()
          : reader.bytes();
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

/** The value at the end of a way through messages, by field numbers. */
function valueAt(bytes: Uint8Array, ...path: readonly number[]): bigint | number | string | undefined {
  let value: bigint | number | Uint8Array | undefined = bytes;
  for (const number of path) {
    if (!(value instanceof Uint8Array)) return undefined;
    value = fieldsOf(value).get(number)?.[0];
  }
  return value instanceof Uint8Array ? Buffer.from(value).toString() : value;
}

describe("OpenAPI v2", () => {
  it("05 §2 all references of the built-in kinds lead somewhere, and nothing is of version 3", () => {
    const document = openApiV2Document(builtIns, new BuiltInSchemas());
    const text = JSON.stringify(document);
    const { properties = {} } = (document["definitions"] as Record<string, { properties?: Record<string, unknown> }>)[
      "io.k8s.api.core.v1.Pod"
    ] ?? { properties: {} };
    expect(Object.values(properties)).toHaveLength(5);
    expect(properties["metadata"]).toMatchObject({ $ref: expect.stringContaining("ObjectMeta") });
    for (const [, name = ""] of text.matchAll(/"#\/definitions\/([^"]+)"/g)) {
      expect(document["definitions"]).toHaveProperty([name]);
    }
    for (const word of ['"oneOf":[', '"anyOf":[', '"allOf":[{"$ref', "#/components/", "strategic-merge-patch"])
      expect(text.includes(word), word).toBe(false);
  });

  it("05 §2 what version 2 cannot say is left open", () => {
    expect(definitionOf({ type: "string", nullable: true, description: "d" })).toEqual({ description: "d" });
    expect(definitionOf({ type: "array" })).toEqual({});
    expect(
      definitionOf({ anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true }),
    ).toEqual({ "x-kubernetes-int-or-string": true });
    const open = {
      type: "object",
      properties: { a: { type: "string" } },
      "x-kubernetes-preserve-unknown-fields": true,
    };
    expect(definitionOf(open)).toEqual({ "x-kubernetes-preserve-unknown-fields": true });
    const required = {
      type: "object",
      required: ["a", "b"],
      properties: { a: { type: "string", nullable: true }, b: { type: "string" } },
    };
    expect(definitionOf(required)).toEqual({
      type: "object",
      required: ["b"],
      properties: { a: {}, b: { type: "string" } },
    });
  });

  it("05 §2 is written as openapi.v2.Document", () => {
    const schema = {
      type: "object",
      required: ["a"],
      minProperties: 2,
      properties: { a: { type: "array", items: { type: "number", maximum: 1.5 } } },
      additionalProperties: { $ref: "#/definitions/b" },
      default: { a: [] },
      "x-kubernetes-group-version-kind": [{ kind: "K" }],
    };
    const operation = { parameters: [{ name: "fieldValidation", in: "query" }], "x-kubernetes-action": "patch" };
    const bytes = encodeOpenApiV2({
      swagger: "2.0",
      paths: { "/api": { patch: operation } },
      definitions: { s: schema },
    });
    expect(valueAt(bytes, 1)).toBe("2.0");
    const patch = [8, 2, 2, 8] as const;
    expect(valueAt(bytes, 8, 2, 1)).toBe("/api");
    expect(valueAt(bytes, ...patch, 8, 1, 2, 3, 4)).toBe("fieldValidation");
    expect(valueAt(bytes, ...patch, 13, 1)).toBe("x-kubernetes-action");
    expect(valueAt(bytes, ...patch, 13, 2, 2)).toBe('"patch"');
    const definition = [9, 1, 2] as const;
    expect(valueAt(bytes, 9, 1, 1)).toBe("s");
    expect(valueAt(bytes, ...definition, 22, 1)).toBe("object");
    expect(valueAt(bytes, ...definition, 19)).toBe("a");
    expect(valueAt(bytes, ...definition, 18)).toBe(2n);
    expect(valueAt(bytes, ...definition, 5, 2)).toBe('{"a":[]}');
    expect(valueAt(bytes, ...definition, 21, 1, 1)).toBe("#/definitions/b");
    expect(valueAt(bytes, ...definition, 25, 1, 2, 23, 1, 7)).toBe(1.5);
    expect(valueAt(bytes, ...definition, 31, 2, 2)).toBe('[{"kind":"K"}]');
  });
});
