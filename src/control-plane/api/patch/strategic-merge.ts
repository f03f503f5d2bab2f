import { copyJson, isSameJson, setOwnKey } from "../../../api/json.ts";
import { anyFieldSchema, type FieldSchema } from "../../../api/kubernetes/field-schema.ts";
import { isRecord } from "../../../api/object.ts";
import type { JsonObject } from "../../kinds/object-draft.ts";
import { badRequest } from "../api-errors.ts";
import { childSchema } from "../apply/compare-fields.ts";
import { sortByPatchOrder } from "./patch-order.ts";

const patchDirective = "$patch";
const retainKeysDirective = "$retainKeys";
const deleteFromPrefix = "$deleteFromPrimitiveList/";
const orderPrefix = "$setElementOrder/";

/** Strategic merge: lists with a merge key are merged item by item. The inputs are not changed. (05 §3) */
export function strategicMerge(target: unknown, patch: unknown, schema: FieldSchema): unknown {
  if (!isRecord(patch)) throw badRequest("error decoding patch: a strategic merge patch must be an object");
  return mergeObject(isRecord(target) ? target : {}, patch, schema);
}

function mergeObject(target: JsonObject, patch: JsonObject, schema: FieldSchema): JsonObject {
  switch (patch[patchDirective]) {
    case undefined:
    case "merge":
      break;
    case "replace":
      return withoutDirectives(patch);
    case "delete":
      return {};
    default:
      throw badRequest(`Unknown patch type found: ${String(patch[patchDirective]).slice(0, 40)} in map`);
  }
  const result: JsonObject = {};
  const retained = retainedKeys(patch);
  for (const key of Object.keys(target)) if (retained?.has(key) !== false) setOwnKey(result, key, target[key]);
  for (const key of Object.keys(patch)) {
    if (key === patchDirective || key === retainKeysDirective || key.startsWith(orderPrefix)) continue;
    if (key.startsWith(deleteFromPrefix))
      deleteFromList(result, { field: key.slice(deleteFromPrefix.length), values: patch[key] });
    else mergeField(result, { key, value: patch[key], patch, schema: childSchema(schema, key) });
  }
  reorderUntouched(result, patch, schema);
  return result;
}

interface Field {
  readonly key: string;
  readonly value: unknown;
  readonly patch: JsonObject;
  readonly schema: FieldSchema;
}

function mergeField(result: JsonObject, { key, value, patch, schema }: Field): void {
  if (value === null) {
    delete result[key];
    return;
  }
  const before = Object.hasOwn(result, key) ? result[key] : undefined;
  if (isRecord(value)) {
    const merged = schema.patch?.isReplaced === true ? {} : isRecord(before) ? before : {};
    setOwnKey(result, key, mergeObject(merged, value, schema));
  } else if (Array.isArray(value)) {
    setOwnKey(result, key, mergeList({ before, items: value, order: patch[`${orderPrefix}${key}`], schema }));
  } else setOwnKey(result, key, value);
}

interface ListMerge {
  readonly before: unknown;
  readonly items: readonly unknown[];
  readonly order: unknown;
  readonly schema: FieldSchema;
}

function mergeList({ before, items, order, schema }: ListMerge): unknown[] {
  const mergeKey = schema.patch?.mergeKey;
  const old = Array.isArray(before) ? (before as readonly unknown[]) : [];
  if (mergeKey === undefined) return items.filter((item) => !isDirectiveOnly(item)).map(withoutDirectivesIn);
  if (mergeKey === "") {
    const identity = (item: unknown) => JSON.stringify(item);
    return sortByPatchOrder(union(old, items), { order: Array.isArray(order) ? order : items, before: old, identity });
  }
  // An item with this directive replaces the list by the items without a directive.
  const replaces = items.some((item) => isRecord(item) && item[patchDirective] === "replace");
  if (replaces) {
    return items.filter((item) => !isRecord(item) || item[patchDirective] === undefined).map(withoutDirectivesIn);
  }
  return mergeByKey({ old, items, order, schema, mergeKey });
}

function mergeByKey({
  old,
  items,
  order,
  schema,
  mergeKey,
}: Omit<ListMerge, "before"> & { readonly old: readonly unknown[]; readonly mergeKey: string }): unknown[] {
  const of = schema.is === "list" ? schema.of : anyFieldSchema;
  const result: unknown[] = [...old];
  for (const item of items) {
    if (!isRecord(item)) throw badRequest(`an item to be merged by ${mergeKey} is not an object`);
    const key = item[mergeKey];
    if (key === undefined) throw badRequest(`map does not contain declared merge key: ${mergeKey}`);
    const at = result.findIndex((one) => isRecord(one) && isSameJson(one[mergeKey], key));
    if (item[patchDirective] === "delete") {
      if (at >= 0) result.splice(at, 1);
    } else if (item[patchDirective] !== undefined) {
      throw badRequest(`Unknown patch type found: ${String(item[patchDirective]).slice(0, 40)} in list`);
    } else if (at < 0) result.push(mergeObject({}, item, of));
    else result[at] = mergeObject(result[at] as JsonObject, item, of);
  }
  const identity = (item: unknown) => JSON.stringify(isRecord(item) ? item[mergeKey] : item);
  return sortByPatchOrder(result, { order: Array.isArray(order) ? order : items, before: old, identity });
}

function union(old: readonly unknown[], items: readonly unknown[]): unknown[] {
  const result = [...old];
  for (const item of items) if (!result.some((one) => isSameJson(one, item))) result.push(copyJson(item));
  return result;
}

/** The patch may reorder a list it does not change otherwise. */
function reorderUntouched(result: JsonObject, patch: JsonObject, schema: FieldSchema): void {
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(orderPrefix)) continue;
    const field = key.slice(orderPrefix.length);
    if (Object.hasOwn(patch, field) || !Array.isArray(result[field])) continue;
    const of = childSchema(schema, field);
    if (of.patch?.mergeKey === undefined) continue;
    setOwnKey(result, field, mergeList({ before: result[field], items: [], order: patch[key], schema: of }));
  }
}

function deleteFromList(
  result: JsonObject,
  { field, values }: { readonly field: string; readonly values: unknown },
): void {
  if (!Array.isArray(values)) throw badRequest(`${deleteFromPrefix}${field} is not a list`);
  const list = result[field];
  if (!Array.isArray(list)) return;
  setOwnKey(
    result,
    field,
    list.filter((item) => !values.some((value) => isSameJson(value, item))),
  );
}

/** `$retainKeys` removes fields it does not name, because a union may have one member only. */
function retainedKeys(patch: JsonObject): ReadonlySet<string> | undefined {
  const keys = patch[retainKeysDirective];
  if (keys === undefined) return undefined;
  if (!Array.isArray(keys)) throw badRequest("$retainKeys is not a list");
  for (const key of Object.keys(patch)) {
    if (!key.startsWith("$") && !keys.includes(key)) {
      throw badRequest("the items in $retainKeys and the fields of the patch do not match");
    }
  }
  return new Set(keys.map(String));
}

function isDirectiveOnly(item: unknown): boolean {
  return isRecord(item) && item[patchDirective] !== undefined && Object.keys(item).length === 1;
}

function withoutDirectivesIn(item: unknown): unknown {
  return isRecord(item) ? withoutDirectives(item) : copyJson(item);
}

function withoutDirectives(patch: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(patch)) {
    if (key === patchDirective || key === retainKeysDirective) continue;
    if (key.startsWith(deleteFromPrefix) || key.startsWith(orderPrefix)) continue;
    const value = patch[key];
    if (value === null) continue;
    setOwnKey(result, key, Array.isArray(value) ? value.map(withoutDirectivesIn) : withoutDirectivesIn(value));
  }
  return result;
}
