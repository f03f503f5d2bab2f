import { isRecord } from "../../api/object.ts";

/** The value at a path of field names; undefined where the path leads nowhere. Objects may hold anything. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found: unknown = value;
  for (const step of path) found = isRecord(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  return found;
}

export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

export function numberAt(value: unknown, ...path: readonly string[]): number {
  const found = at(value, ...path);
  return typeof found === "number" ? found : 0;
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function recordAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> {
  const found = at(value, ...path);
  return isRecord(found) ? found : {};
}

export function textsAt(value: unknown, ...path: readonly string[]): readonly string[] {
  return listAt(value, ...path).filter((one) => typeof one === "string");
}

/** The condition of that type, if the object has it. */
export function conditionOf(object: unknown, type: string): unknown {
  return listAt(object, "status", "conditions").find((condition) => textAt(condition, "type") === type);
}

export function hasTrueCondition(object: unknown, type: string): boolean {
  return textAt(conditionOf(object, type), "status") === "True";
}
