import { setOwnKey } from "../json.ts";
import { isRecord } from "../object.ts";
import { fieldSchema, type StructuralSchema } from "./schema.ts";

/** Fills in schema defaults from the root down, in place; a null that is not allowed counts as absent. (01 §0.1) */
export function applyDefaults(value: unknown, schema: StructuralSchema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (isRefusedNull(item, schema.items) && schema.items?.default !== undefined) {
        value[index] = structuredClone(schema.items.default);
      }
      applyDefaults(value[index], schema.items);
    }
  } else if (isRecord(value)) {
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      if (property.default === undefined) continue;
      if (!Object.hasOwn(value, field) || isRefusedNull(value[field], property)) {
        setOwnKey(value, field, structuredClone(property.default));
      }
    }
    for (const field of Object.keys(value)) {
      const known = fieldSchema(schema, field);
      if (isRefusedNull(value[field], known) && known?.default !== undefined) {
        setOwnKey(value, field, structuredClone(known.default)); // a map's value; properties were filled above
      }
      applyDefaults(value[field], known);
    }
  }
}

function isRefusedNull(value: unknown, schema: StructuralSchema | undefined): boolean {
  return value === null && schema?.nullable !== true;
}
