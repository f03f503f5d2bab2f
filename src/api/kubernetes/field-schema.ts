import type { StructuralSchema } from "../structural/schema.ts";

const leafTypes = [
  "string",
  "int32",
  "int64",
  "number",
  "boolean",
  "bytes",
  "quantity",
  "int-or-string",
  "time",
  "micro-time",
  "any",
] as const;
export type LeafType = (typeof leafTypes)[number];

/** How strategic merge patches treat a field. (05 §3) */
export interface PatchRule {
  /** The key list items are merged by; empty text: the list is a set of plain values. Absent: replaced whole. */
  readonly mergeKey: string | undefined;
  /** An object that is replaced, not merged. */
  readonly isReplaced: boolean;
}

/** What a field may hold and who may own which part of it; the same for built-in and custom kinds. */
export type FieldSchema =
  | { readonly is: LeafType; readonly patch?: PatchRule }
  | ObjectFieldSchema
  | { readonly is: "map"; readonly of: FieldSchema; readonly isAtomic: boolean; readonly patch?: PatchRule }
  | {
      readonly is: "list";
      readonly of: FieldSchema;
      /** Owned whole, by value, or by these keys of the items. */
      readonly identity: "atomic" | "set" | readonly string[];
      readonly patch?: PatchRule;
    };

export interface ObjectFieldSchema {
  readonly is: "object";
  /** Its name in the field table of built-in kinds, e.g. `core.v1.Pod`. */
  readonly definition?: string;
  readonly isAtomic: boolean;
  readonly patch?: PatchRule;
  /** Undefined: the kind has no such field. */
  field(name: string): FieldSchema | undefined;
}

export const anyFieldSchema: FieldSchema = { is: "any" };

/** The fields of a custom kind, from the schema of its CRD; those of `metadata` are the same for all kinds. */
export function fieldSchemaOf(schema: StructuralSchema, metadata: FieldSchema): ObjectFieldSchema {
  const root = convertSchema(schema);
  const text: FieldSchema = { is: "string" };
  return {
    is: "object",
    isAtomic: false,
    field: (name) => {
      if (name === "metadata") return metadata;
      if (name === "apiVersion" || name === "kind") return text;
      return root.is === "object" ? root.field(name) : anyFieldSchema;
    },
  };
}

function convertSchema(schema: StructuralSchema | undefined): FieldSchema {
  if (schema === undefined) return anyFieldSchema;
  const isAtomic = schema["x-kubernetes-map-type"] === "atomic";
  const { properties, additionalProperties: additional } = schema;
  if (schema.type === "array") return { is: "list", of: convertSchema(schema.items), identity: listIdentity(schema) };
  if (schema.type !== "object") return anyFieldSchema;
  if (properties === undefined) {
    return { is: "map", of: typeof additional === "object" ? convertSchema(additional) : anyFieldSchema, isAtomic };
  }
  return { is: "object", isAtomic, field: fieldsOf(properties, schema) };
}

/** Converts a field when it is first asked for, because most writes touch few of them. */
function fieldsOf(
  properties: Readonly<Record<string, StructuralSchema>>,
  schema: StructuralSchema,
): (name: string) => FieldSchema | undefined {
  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const known = new Map<string, FieldSchema>();
  return (name) => {
    if (!Object.hasOwn(properties, name)) return keepsUnknown ? anyFieldSchema : undefined;
    const made = known.get(name) ?? convertSchema(properties[name]);
    known.set(name, made);
    return made;
  };
}

function listIdentity(schema: StructuralSchema): "atomic" | "set" | readonly string[] {
  switch (schema["x-kubernetes-list-type"]) {
    case "set":
      return "set";
    case "map":
      return schema["x-kubernetes-list-map-keys"] ?? [];
    default:
      return "atomic";
  }
}
