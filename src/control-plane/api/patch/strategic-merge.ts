import { copyJson, setOwnKey } from "../../../api/json.ts";
import { anyFieldSchema, type FieldSchema } from "../../../api/kubernetes/field-schema.ts";
import { isRecord } from "../../../api/object.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
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
  const list = new KeyedList(old, mergeKey);
  for (const item of items) {
    if (!isRecord(item)) throw badRequest(`an item to be merged by ${mergeKey} is not an object`);
    if (item[mergeKey] === undefined) throw badRequest(`map does not contain declared merge key: ${mergeKey}`);
    const at = list.find(item);
    if (item[patchDirective] === "delete") list.delete(item);
    else if (item[patchDirective] !== undefined)
      throw badRequest(`Unknown patch type found: ${String(item[patchDirective]).slice(0, 40)} in list`);
    else if (at === undefined) list.add(mergeObject({}, item, of));
    else list.items[at] = mergeObject(list.items[at] as JsonObject, item, of);
  }
  const identity = (item: unknown) => JSON.stringify(isRecord(item) ? item[mergeKey] : item);
  return sortByPatchOrder(list.result(), { order: Array.isArray(order) ? order : items, before: old, identity });
}

/** A list whose items are found by their merge key, in constant time: a patch may have as many items as the list. */
class KeyedList {
  readonly items: unknown[] = [];
  readonly #mergeKey: string;
  /** The places of the items of each key; a list may have several with the same. */
  readonly #places = new Map<string, number[]>();

  constructor(items: readonly unknown[], mergeKey: string) {
    this.#mergeKey = mergeKey;
    for (const item of items) this.add(item);
  }

  /** The place of the first item with the same key. */
  find(item: JsonObject): number | undefined {
    return this.#places.get(this.#keyOf(item))?.[0];
  }

  add(item: unknown): void {
    this.items.push(item);
    if (!isRecord(item)) return;
    const key = this.#keyOf(item);
    const places = this.#places.get(key);
    if (places === undefined) this.#places.set(key, [this.items.length - 1]);
    else places.push(this.items.length - 1);
  }

  /** Deletes the first item with the same key. */
  delete(item: JsonObject): void {
    const place = this.#places.get(this.#keyOf(item))?.shift();
    if (place !== undefined) this.items[place] = deleted;
    if (this.find(item) === undefined) this.#places.delete(this.#keyOf(item));
  }

  result(): unknown[] {
    return this.items.filter((item) => item !== deleted);
  }

  #keyOf(item: JsonObject): string {
    return canonicalJson(item[this.#mergeKey]);
  }
}

const deleted = Symbol("deleted");

function union(old: readonly unknown[], items: readonly unknown[]): unknown[] {
  const result = [...old];
  const known = new Set(old.map(canonicalJson));
  for (const item of items) {
    const text = canonicalJson(item);
    if (!known.has(text)) result.push(copyJson(item));
    known.add(text);
  }
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
  const removed = new Set(values.map(canonicalJson));
  setOwnKey(
    result,
    field,
    list.filter((item) => !removed.has(canonicalJson(item))),
  );
}

/** `$retainKeys` removes fields it does not name, because a union may have one member only. */
function retainedKeys(patch: JsonObject): ReadonlySet<string> | undefined {
  const keys = patch[retainKeysDirective];
  if (keys === undefined) return undefined;
  if (!Array.isArray(keys)) throw badRequest("$retainKeys is not a list");
  const retained = new Set(keys.map(String));
  for (const key of Object.keys(patch)) {
    if (!key.startsWith("$") && !retained.has(key)) {
      throw badRequest("the items in $retainKeys and the fields of the patch do not match");
    }
  }
  return retained;
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
