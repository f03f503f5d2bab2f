import { isRecord } from "../api/object.ts";

/** The value at a path of field names; undefined if there is none. Objects may contain anything. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let found: unknown = value;
  for (const step of path) found = isRecord(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  return found;
}

/** The text at a path; empty if there is none. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = fieldAt(value, ...path);
  return typeof found === "string" ? found : "";
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = fieldAt(value, ...path);
  return typeof found === "number" ? found : undefined;
}

export function numberOrZero(value: unknown, ...path: readonly string[]): number {
  return numberAt(value, ...path) ?? 0;
}

export function recordAt(value: unknown, ...path: readonly string[]): Record<string, unknown> | undefined {
  const found = fieldAt(value, ...path);
  return isRecord(found) ? found : undefined;
}

export function recordOrEmpty(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> {
  return recordAt(value, ...path) ?? {};
}

/** Everything in the list at a path, of whatever type. */
export function itemsAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = fieldAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The objects in the list at a path. */
export function listAt(value: unknown, ...path: readonly string[]): readonly Record<string, unknown>[] {
  return itemsAt(value, ...path).filter(isRecord);
}

export function stringsAt(value: unknown, ...path: readonly string[]): readonly string[] {
  return itemsAt(value, ...path).filter((one) => typeof one === "string");
}

/** The condition of this type, if the object has it. */
export function statusCondition(object: unknown, type: string): unknown {
  return itemsAt(object, "status", "conditions").find((condition) => textAt(condition, "type") === type);
}

export function hasTrueCondition(object: unknown, type: string): boolean {
  return textAt(statusCondition(object, type), "status") === "True";
}
