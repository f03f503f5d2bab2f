/**
 * Values as text that is equal exactly when they mean the same: lists are sets, maps have no order, what is unset is not
 * written. `undefined` is "absent", and absent stays absent on the way up, so a new optional field disturbs no existing
 * hash. (01 §6.3)
 */
export type Canonical = string | undefined;

/** An optional scalar: an explicit `false` or `0` counts, an empty text does not. */
export function canonicalScalar(value: string | number | boolean | null | undefined): Canonical {
  return value === undefined || value === null || value === "" ? undefined : JSON.stringify(value);
}

/** A scalar whose zero value means absent. */
export function canonicalNonZero(value: string | number | boolean | null | undefined): Canonical {
  return value ? JSON.stringify(value) : undefined;
}

/** A user's map: every entry counts, an empty value too, because a label without a value is still a label. */
export function canonicalMap(entries: Readonly<Record<string, string>> | null | undefined): Canonical {
  const parts = Object.entries(entries ?? {}).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return parts.length === 0 ? undefined : `map{${parts.sort().join()}}`;
}

export function canonicalSet(items: readonly Canonical[] | null | undefined): Canonical {
  const parts = [...new Set((items ?? []).filter((item) => item !== undefined))];
  return parts.length === 0 ? undefined : `set[${parts.sort().join()}]`;
}

export function canonicalStruct(fields: Readonly<Record<string, Canonical>>): Canonical {
  const parts = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name}:${value}`]));
  return parts.length === 0 ? undefined : `{${parts.sort().join()}}`;
}
