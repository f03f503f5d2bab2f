import { isRecord } from "../object.ts";
import type { Path } from "../problem.ts";
import { objectMetaSchema } from "./object-meta.ts";
import { fieldSchema, rootFields, type StructuralSchema, setField } from "./schema.ts";

export interface Pruned {
  /** A fresh copy: the input is never touched. */
  readonly value: unknown;
  readonly unknown: readonly Path[];
}

/** Drops what the schema does not know, and nulls that can neither stay nor be replaced by a default. (01 §0.1) */
export function prune(value: unknown, schema: StructuralSchema): Pruned {
  const unknown: Path[] = [];
  return { value: pruneAt(value, schema, { path: [], unknown, isRoot: true }), unknown };
}

interface Where {
  readonly path: Path;
  readonly unknown: Path[];
  readonly isRoot?: boolean;
}

function pruneAt(value: unknown, schema: StructuralSchema | undefined, where: Where): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      pruneAt(item, schema?.items, { ...where, path: [...where.path, index], isRoot: false }),
    );
  }
  if (!isRecord(value)) return value;
  const keepsUnknown = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
  const isResource = where.isRoot === true || schema?.["x-kubernetes-embedded-resource"] === true;
  const kept: Record<string, unknown> = {};
  for (const [field, child] of Object.entries(value)) {
    const path = [...where.path, field];
    if (isResource && rootFields.has(field)) {
      const isMeta = field === "metadata" && isRecord(child);
      setField(
        kept,
        field,
        isMeta ? pruneAt(child, objectMetaSchema, { ...where, path, isRoot: false }) : structuredClone(child),
      );
      continue;
    }
    const known = fieldSchema(schema, field);
    if (known === undefined) {
      if (keepsUnknown) setField(kept, field, structuredClone(child));
      else where.unknown.push(path);
    } else if (child !== null || known.nullable === true || known.default !== undefined) {
      setField(kept, field, pruneAt(child, known, { ...where, path, isRoot: false }));
    }
  }
  return kept;
}
