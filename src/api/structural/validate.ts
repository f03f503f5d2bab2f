import { RE2JS } from "re2js";
import { canonicalJson } from "../../util/canonical-json.ts";
import { describeValue, isIntegerWithin, isSameJson, shortJson } from "../json.ts";
import { patternMismatch } from "../kinds/pattern-mismatch.ts";
import { isRecord } from "../object.ts";
import type { FieldPath, Problem, ProblemCode } from "../problem.ts";
import { isSupportedFormat, matchesFormat } from "./formats.ts";
import { fieldSchema, rootFields, type StructuralSchema } from "./schema.ts";

/** Compiled patterns by text. RE2 as in the API server: it takes linear time, so no pattern can hang. */
export class PatternCache {
  readonly #compiled = new Map<string, RE2JS | undefined>();

  /** A pattern that does not compile matches everything; the API server rejects such CRDs. */
  matches(pattern: string, text: string): boolean {
    if (!this.#compiled.has(pattern)) this.#compiled.set(pattern, compile(pattern));
    return this.#compiled.get(pattern)?.test(text) ?? true;
  }
}

function compile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return undefined;
  }
}

/** Layer S: all violations of the structural schema. (01 §0.1) */
export function validateSchema(value: unknown, schema: StructuralSchema, patterns: PatternCache): readonly Problem[] {
  const check = new SchemaCheck(patterns);
  check.value(value, schema, []);
  return check.problems;
}

class SchemaCheck {
  readonly problems: Problem[] = [];
  readonly #patterns: PatternCache;

  constructor(patterns: PatternCache) {
    this.#patterns = patterns;
  }

  value(value: unknown, schema: StructuralSchema, path: FieldPath): void {
    if (
      value === null &&
      (schema.nullable === true || (schema.type === undefined && !schema["x-kubernetes-int-or-string"]))
    )
      return;
    const expected = expectedType(schema);
    if (expected !== undefined && !hasType(value, schema)) {
      this.#add("type", path, `must be ${article(expected)}, not ${describeValue(value)}`, expected);
      return;
    }
    if (schema.enum !== undefined && !schema.enum.some((one) => isSameJson(one, value))) {
      const choices = schema.enum.map((one) => JSON.stringify(one)).join(", ");
      this.#add("enum", path, `unsupported value ${shortJson(value)}`, `one of ${choices}`);
    }
    if (typeof value === "string") this.#text(value, schema, path);
    else if (typeof value === "number") this.#number(value, schema, path);
    else if (Array.isArray(value)) this.#list(value, schema, path);
    else if (isRecord(value)) this.#object(value, schema, path);
    this.#combinations(value, schema, path);
  }

  #text(value: string, schema: StructuralSchema, path: FieldPath): void {
    const { maxLength, minLength, pattern, format } = schema;
    const tooLong = maxLength !== undefined && value.length > maxLength && [...value].length > maxLength;
    if (tooLong)
      this.#add("too-long", path, `is longer than ${maxLength} characters`, `at most ${maxLength} characters`);
    if (minLength !== undefined && [...value].length < minLength) {
      this.#add("too-short", path, `is shorter than ${minLength} characters`, `at least ${minLength} characters`);
    }
    if (pattern !== undefined && !this.#patterns.matches(pattern, value)) {
      const { message, expected } = patternMismatch(pattern, value);
      this.#add("pattern", path, message, expected);
    }
    if (
      format !== undefined &&
      schema.type === "string" &&
      isSupportedFormat(format) &&
      !matchesFormat(format, value)
    ) {
      this.#add("format", path, `${shortJson(value)} is not a valid ${format}`, `a ${format}`);
    }
  }

  #number(value: number, schema: StructuralSchema, path: FieldPath): void {
    const { minimum, maximum, multipleOf } = schema;
    const below = minimum !== undefined && (schema.exclusiveMinimum === true ? value <= minimum : value < minimum);
    const above = maximum !== undefined && (schema.exclusiveMaximum === true ? value >= maximum : value > maximum);
    if (schema.format === "int32" && (value < -(2 ** 31) || value >= 2 ** 31)) {
      this.#add("format", path, `${value} does not fit in 32 bits`, "a 32-bit integer");
    }
    if (below) this.#add("too-small", path, `${value} is too small`, `at least ${minimum}`);
    if (above) this.#add("too-large", path, `${value} is too large`, `at most ${maximum}`);
    if (multipleOf !== undefined && value % multipleOf !== 0) {
      this.#add("too-small", path, `${value} is not a multiple of ${multipleOf}`, `a multiple of ${multipleOf}`);
    }
  }

  #list(value: readonly unknown[], schema: StructuralSchema, path: FieldPath): void {
    const { maxItems, minItems, items } = schema;
    if (maxItems !== undefined && value.length > maxItems) {
      this.#add("too-many", path, `has ${value.length} items`, `at most ${maxItems} items`);
    }
    if (minItems !== undefined && value.length < minItems) {
      this.#add("too-few", path, `has ${value.length} items`, `at least ${minItems}`);
    }
    if (items !== undefined) for (const [index, item] of value.entries()) this.value(item, items, [...path, index]);
    this.#duplicates(value, schema, path);
  }

  #duplicates(value: readonly unknown[], schema: StructuralSchema, path: FieldPath): void {
    const keyOf = identityOf(schema);
    if (keyOf === undefined) return;
    const seen = new Set<string>();
    for (const [index, item] of value.entries()) {
      const key = keyOf(item);
      if (seen.has(key)) this.#add("duplicate-item", [...path, index], `duplicate of an earlier item: ${key}`);
      seen.add(key);
    }
  }

  #object(value: Readonly<Record<string, unknown>>, schema: StructuralSchema, path: FieldPath): void {
    for (const field of schema.required ?? []) {
      if (!Object.hasOwn(value, field)) this.#add("required", [...path, field], "is required");
    }
    const fields = Object.keys(value);
    const { maxProperties, minProperties } = schema;
    if (maxProperties !== undefined && fields.length > maxProperties) {
      this.#add("too-many", path, `has ${fields.length} entries`, `at most ${maxProperties} entries`);
    }
    if (minProperties !== undefined && fields.length < minProperties) {
      this.#add("too-few", path, `has ${fields.length} entries`, `at least ${minProperties}`);
    }
    for (const field of fields) {
      if (path.length === 0 && rootFields.has(field)) continue; // object metadata has rules of its own
      const known = fieldSchema(schema, field);
      if (known !== undefined) this.value(value[field], known, [...path, field]);
    }
  }

  #combinations(value: unknown, schema: StructuralSchema, path: FieldPath): void {
    if (schema["x-kubernetes-int-or-string"] === true && schema.anyOf !== undefined && hasType(value, schema)) return;
    for (const one of schema.allOf ?? []) this.value(value, one, path);
    if (schema.anyOf !== undefined && !schema.anyOf.some((one) => this.#accepts(value, one))) {
      this.#add("type", path, "has none of the allowed forms");
    }
    if (schema.oneOf !== undefined && schema.oneOf.filter((one) => this.#accepts(value, one)).length !== 1) {
      this.#add("type", path, "must have exactly one of the allowed forms");
    }
    if (schema.not !== undefined && this.#accepts(value, schema.not))
      this.#add("type", path, "has a form that is not allowed");
  }

  #accepts(value: unknown, schema: StructuralSchema): boolean {
    return validateSchema(value, schema, this.#patterns).length === 0;
  }

  #add(code: ProblemCode, path: FieldPath, message: string, expected?: string): void {
    this.problems.push(expected === undefined ? { code, path, message } : { code, path, message, expected });
  }
}

function expectedType(schema: StructuralSchema): string | undefined {
  return schema["x-kubernetes-int-or-string"] === true ? "integer or string" : schema.type;
}

function hasType(value: unknown, schema: StructuralSchema): boolean {
  if (schema["x-kubernetes-int-or-string"] === true)
    return typeof value === "string" || isIntegerWithin(value, 2 ** 63);
  switch (schema.type) {
    case "object":
      return isRecord(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return isIntegerWithin(value, 2 ** 63);
    default:
      return typeof value === schema.type;
  }
}

/** The identity of items of a set or map list; undefined where duplicates are allowed. */
function identityOf(schema: StructuralSchema): ((item: unknown) => string) | undefined {
  if (schema["x-kubernetes-list-type"] === "set") return canonicalJson;
  if (schema["x-kubernetes-list-type"] !== "map") return undefined;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return (item) => JSON.stringify(keys.map((key) => (isRecord(item) ? item[key] : undefined)));
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
