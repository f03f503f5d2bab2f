import { isRecord, type KubeObject } from "../../api/object.ts";

export type Json = Record<string, unknown>;

/** An object on its way into the store: ours alone, still to be changed. */
export interface Draft {
  apiVersion: string;
  kind: string;
  metadata: DraftMeta;
  spec?: Json;
  status?: Json;
  [field: string]: unknown;
}

export interface DraftMeta {
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
  ownerReferences?: Json[];
  managedFields?: Json[];
  [field: string]: unknown;
}

/** The record in a field, made if it is not there. */
export function child(parent: Json, field: string): Json {
  const found = parent[field];
  if (isRecord(found)) return found;
  const made: Json = {};
  parent[field] = made;
  return made;
}

export function recordAt(parent: unknown, ...path: readonly string[]): Json | undefined {
  let value = parent;
  for (const step of path) value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return isRecord(value) ? value : undefined;
}

export function listAt(parent: unknown, ...path: readonly string[]): readonly Json[] {
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
export function defaultTo(parent: Json, defaults: Readonly<Json>): void {
  for (const [field, value] of Object.entries(defaults)) {
    if (parent[field] === undefined || parent[field] === "") parent[field] = value;
  }
}

/** A copy one may change. Plain JSON only; a key called `__proto__` stays a key. */
export function copyJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyJson) as T;
  if (!isRecord(value)) return value;
  const copy: Json = {};
  for (const key of Object.keys(value)) setKey(copy, key, copyJson((value as Json)[key]));
  return copy as T;
}

export function draftOf(object: KubeObject): Draft {
  return copyJson(object) as unknown as Draft;
}

/** Sets a key even if it is called `__proto__`. */
export function setKey(target: Json, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** Whether two JSON values say the same; the order of keys does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (Array.isArray(b)) return false;
  const [left, right] = [a as Json, b as Json];
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]));
}
