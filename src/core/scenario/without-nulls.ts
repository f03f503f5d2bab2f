import { isRecord } from "../../api/object.ts";

/** The value without null fields, which API servers treat as absent; the same object if there are none. */
export function withoutNulls<T>(value: T): T {
  return strip(value) as T;
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return stripList(value);
  return isRecord(value) ? stripRecord(value) : value;
}

function stripList(list: readonly unknown[]): readonly unknown[] {
  const kept = list.map(strip);
  return kept.every((item, index) => item === list[index]) ? list : kept;
}

function stripRecord(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let changed: Record<string, unknown> | undefined;
  for (const key of Object.keys(record)) {
    const before = record[key];
    const after = strip(before);
    if (after === before && before !== null) continue;
    changed ??= { ...record };
    if (before === null) delete changed[key];
    else changed[key] = after;
  }
  return changed ?? record;
}
