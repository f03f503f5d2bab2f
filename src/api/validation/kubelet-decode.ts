import { parseDurationMs } from "../../util/duration.ts";
import { Quantity } from "../../util/quantity.ts";
import { isRecord } from "../object.ts";
import type { FieldPath, Problem } from "../problem.ts";
import { type KubeletFields, type KubeletFieldType, kubeletFields } from "./kubelet-fields.ts";
import { shortText } from "./names.ts";

export type KubeletConfiguration = Readonly<Record<string, unknown>>;

export const kubeletPath: FieldPath = ["spec", "kubelet"];

/**
 * Reads the block as the kubelet would, strictly. A wrong type ends the reading, so it is reported alone; unknown fields
 * at any depth are reported together. (01 §1.6.4.1)
 */
export function kubeletDecodeProblems(block: KubeletConfiguration): readonly Problem[] {
  const found = [...fieldProblems(block, { fields: withoutExpression(block), path: kubeletPath })];
  const wrongType = found.find(({ code }) => code === "type");
  return wrongType === undefined ? found : [wrongType];
}

// A string in maxPods is an expression, checked elsewhere; it must not hide problems of other fields.
function withoutExpression({ maxPods }: KubeletConfiguration): KubeletFields {
  return typeof maxPods === "string" ? { ...kubeletFields, maxPods: "string" } : kubeletFields;
}

function* fieldProblems(
  block: KubeletConfiguration,
  { fields, path }: { fields: KubeletFields; path: FieldPath },
): Generator<Problem> {
  for (const [name, value] of Object.entries(block)) {
    const at = [...path, name];
    const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (type === undefined) yield unknownField(name, { fields, path: at });
    else yield* valueProblems(value, { type, path: at });
  }
}

function* valueProblems(
  value: unknown,
  { type, path }: { type: KubeletFieldType; path: FieldPath },
): Generator<Problem> {
  if (value === undefined || (value === null && type !== "duration")) return; // the same as leaving it out
  if (typeof type === "string") {
    if (!fieldTypeChecks[type](value)) yield wrongType(value, { expected: fieldTypeDescriptions[type], path });
  } else if ("list" in type) {
    if (!Array.isArray(value)) yield wrongType(value, { expected: "a list", path });
    else for (const [at, item] of value.entries()) yield* valueProblems(item, { type: type.list, path: [...path, at] });
  } else if (!isRecord(value)) {
    yield wrongType(value, { expected: "fields", path });
  } else if ("fields" in type) {
    yield* fieldProblems(value, { fields: type.fields, path });
  } else {
    for (const [key, item] of Object.entries(value))
      yield* valueProblems(item, { type: type.map, path: [...path, key] });
  }
}

type ScalarFieldType = Extract<KubeletFieldType, string>;

const fieldTypeChecks: Readonly<Record<ScalarFieldType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  bool: (value) => typeof value === "boolean",
  int32: (value) => isWholeWithin(value, -(2 ** 31), 2 ** 31 - 1),
  int64: (value) => isWholeWithin(value, -(2 ** 63), 2 ** 63),
  uint32: (value) => isWholeWithin(value, 0, 2 ** 32 - 1),
  float: (value) => typeof value === "number",
  duration: isDuration,
  "nullable-duration": isDuration,
  "duration-or-nanos": (value) => isDuration(value) || isWholeWithin(value, -(2 ** 63), 2 ** 63),
  quantity: (value) =>
    (typeof value === "string" || typeof value === "number") && Quantity.tryParse(value) !== undefined,
  time: (value) => typeof value === "string" && rfc3339.test(value) && !Number.isNaN(Date.parse(value)),
};

const fieldTypeDescriptions: Readonly<Record<ScalarFieldType, string>> = {
  string: "text",
  bool: "true or false",
  int32: "a 32-bit whole number",
  int64: "a whole number",
  uint32: "a whole number from 0 to 4294967295",
  float: "a number",
  duration: "a duration like 1m30s",
  "nullable-duration": "a duration like 1m30s",
  "duration-or-nanos": "a duration like 5s, or nanoseconds",
  quantity: "a quantity like 100Mi",
  time: "a time like 2026-01-31T00:00:00Z",
};

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function isWholeWithin(value: unknown, min: number, max: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}

function isDuration(value: unknown): boolean {
  return typeof value === "string" && parseDurationMs(value) !== undefined;
}

function wrongType(value: unknown, { expected, path }: { expected: string; path: FieldPath }): Problem {
  const got = shortText(JSON.stringify(value) ?? typeof value);
  return { code: "type", path, message: `expected ${expected}, got ${got}`, expected, rule: "01 §1.6.4" };
}

function unknownField(name: string, { fields, path }: { fields: KubeletFields; path: FieldPath }): Problem {
  // Usually only the case of some letters is wrong; other hints would be guesses.
  const meant = Object.keys(fields).find((known) => known.toLowerCase() === name.toLowerCase());
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
  return {
    code: "unknown-field",
    path,
    message: `the kubelet has no field ${shortText(name)} here${hint}`,
    rule: "01 §1.6.4",
  };
}
