import { isRecord } from "../../api/object.ts";

/** The value at a path of field names; undefined if there is none. Objects may contain anything. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let found: unknown = value;
  for (const step of path) found = isRecord(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  return found;
}

export function textOrEmpty(value: unknown, ...path: readonly string[]): string {
  const found = fieldAt(value, ...path);
  return typeof found === "string" ? found : "";
}

export function numberOrZero(value: unknown, ...path: readonly string[]): number {
  const found = fieldAt(value, ...path);
  return typeof found === "number" ? found : 0;
}

export function itemsAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = fieldAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function recordOrEmpty(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> {
  const found = fieldAt(value, ...path);
  return isRecord(found) ? found : {};
}

export function stringsAt(value: unknown, ...path: readonly string[]): readonly string[] {
  return itemsAt(value, ...path).filter((one) => typeof one === "string");
}

/** The condition of this type, if the object has it. */
export function statusCondition(object: unknown, type: string): unknown {
  return itemsAt(object, "status", "conditions").find((condition) => textOrEmpty(condition, "type") === type);
}

export function hasTrueCondition(object: unknown, type: string): boolean {
  return textOrEmpty(statusCondition(object, type), "status") === "True";
}
