import { describeValue } from "../../api/json.ts";
import type { FieldSchema } from "../../api/kubernetes/field-schema.ts";
import { readFields } from "../../api/kubernetes/read-fields.ts";
import { formatPath } from "../../api/problem.ts";
import { badRequest } from "../api/api-errors.ts";

export interface DecodedFields {
  /** A fresh copy with only known fields, each of its type. */
  readonly value: unknown;
  /** The paths of the fields that were dropped. */
  readonly unknown: readonly string[];
}

/** Reads what a client sent; the first value of a wrong type is a bad request. */
export function decodeFields(written: unknown, schema: FieldSchema, what: string): DecodedFields {
  const { value, problems, unknown } = readFields(written, schema);
  const [first] = problems;
  if (first !== undefined) {
    const place = first.path.length === 0 ? "" : `${formatPath(first.path)}: `;
    throw badRequest(`${what}: ${place}expected ${first.expected}, got ${describeValue(first.value)}`);
  }
  return { value, unknown: unknown.map(formatPath) };
}
