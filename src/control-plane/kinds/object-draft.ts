import { isRecord, type KubeObject, type OwnerReference } from "../../api/object.ts";

export type JsonObject = Record<string, unknown>;

/** An object on its way into the store: ours alone, still to be changed. */
export interface ObjectDraft {
  apiVersion: string;
  kind: string;
  metadata: ObjectDraftMetadata;
  spec?: JsonObject;
  status?: JsonObject;
  [field: string]: unknown;
}

export interface ObjectDraftMetadata {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: JsonObject[];
  [field: string]: unknown;
}

/** The record in a field, made if it is not there. */
export function ensureRecord(parent: JsonObject, field: string): JsonObject {
  const found = parent[field];
  if (isRecord(found)) return found;
  const made: JsonObject = {};
  parent[field] = made;
  return made;
}

export function recordAt(parent: unknown, ...path: readonly string[]): JsonObject | undefined {
  let value = parent;
  for (const step of path) value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return isRecord(value) ? value : undefined;
}

export function listAt(parent: unknown, ...path: readonly string[]): readonly JsonObject[] {
  let value = parent;
  for (const step of path) value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function textAt(parent: unknown, ...path: readonly string[]): string {
  let value = parent;
  for (const step of path) value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return typeof value === "string" ? value : "";
}

export function numberAt(parent: unknown, ...path: readonly string[]): number | undefined {
  let value = parent;
  for (const step of path) value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return typeof value === "number" ? value : undefined;
}

/** Sets what is absent or, as Go reads it, empty. */
export function setDefaults(parent: JsonObject, defaults: Readonly<JsonObject>): void {
  for (const [field, value] of Object.entries(defaults)) {
    if (parent[field] === undefined || parent[field] === "") parent[field] = value;
  }
}

/** A copy one may change. Plain JSON only; a key called `__proto__` stays a key. */
export function copyJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyJson) as T;
  if (!isRecord(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) setOwnKey(copy, key, copyJson((value as JsonObject)[key]));
  return copy as T;
}

export function draftOf(object: KubeObject): ObjectDraft {
  return copyJson(object) as unknown as ObjectDraft;
}

/** Sets a key even if it is called `__proto__`. */
export function setOwnKey(target: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** Whether two JSON values say the same; the order of keys does not matter. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSameJson(item, b[index]));
  }
  if (Array.isArray(b)) return false;
  const [left, right] = [a as JsonObject, b as JsonObject];
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && isSameJson(left[key], right[key]));
}
