import { setOwnKey } from "../json.ts";
import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import { objectMetaSchema } from "./object-meta.ts";
import { fieldSchema, rootFields, type StructuralSchema } from "./schema.ts";

export interface Pruned {
  /** A copy; the input is not changed. */
  readonly value: unknown;
  readonly unknown: readonly FieldPath[];
}

/** Drops unknown fields, and nulls that are neither allowed nor replaced by a default. (01 §0.1) */
export function prune(value: unknown, schema: StructuralSchema): Pruned {
  const unknown: FieldPath[] = [];
  return { value: pruneAt(value, schema, { path: [], unknown, isRoot: true }), unknown };
}

function pruneAt(
  value: unknown,
  schema: StructuralSchema | undefined,
  context: { readonly path: FieldPath; readonly unknown: FieldPath[]; readonly isRoot?: boolean },
): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      pruneAt(item, schema?.items, { ...context, path: [...context.path, index], isRoot: false }),
    );
  }
  if (!isRecord(value)) return value;
  const keepsUnknown = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
  const isResource = context.isRoot === true || schema?.["x-kubernetes-embedded-resource"] === true;
  const kept: Record<string, unknown> = {};
  for (const [field, child] of Object.entries(value)) {
    const path = [...context.path, field];
    if (isResource && rootFields.has(field)) {
      const isMeta = field === "metadata" && isRecord(child);
      setOwnKey(
        kept,
        field,
        isMeta ? pruneAt(child, objectMetaSchema, { ...context, path, isRoot: false }) : structuredClone(child),
      );
      continue;
    }
    const known = fieldSchema(schema, field);
    if (known === undefined) {
      if (keepsUnknown) setOwnKey(kept, field, structuredClone(child));
      else context.unknown.push(path);
    } else if (child !== null || known.nullable === true || known.default !== undefined) {
      setOwnKey(kept, field, pruneAt(child, known, { ...context, path, isRoot: false }));
    }
  }
  return kept;
}
