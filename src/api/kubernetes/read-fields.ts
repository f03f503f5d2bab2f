import { Quantity } from "../../util/quantity.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import { copyJson, isIntegerWithin, setOwnKey } from "../json.ts";
import { isRecord } from "../object.ts";
import type { FieldPath, ProblemCode } from "../problem.ts";
import { matchesFormat } from "../structural/formats.ts";
import type { FieldSchema, LeafType, ObjectFieldSchema } from "./field-schema.ts";

/** What is wrong with one field, as data. */
export interface FieldProblem {
  readonly code: Extract<ProblemCode, "type" | "format" | "required" | "too-small" | "too-large" | "too-few">;
  readonly path: FieldPath;
  readonly value: unknown;
  /** What it must be; absent for a missing field. */
  readonly expected?: string;
}

export interface ReadFields {
  /** A fresh copy with only known fields, each of its type. Undefined parts are those with problems. */
  readonly value: unknown;
  readonly problems: readonly FieldProblem[];
  /** The fields the kind does not have; they are dropped. */
  readonly unknown: readonly FieldPath[];
}

/** What the field table cannot say about an object of one definition. */
interface FieldRule {
  /** Fields that must be there. */
  readonly required?: readonly string[];
  /** Lists that must not be empty. */
  readonly notEmpty?: readonly string[];
  /** Bounds of numbers and quantities; those of a map hold for its values. */
  readonly bounds?: Readonly<Record<string, FieldBounds>>;
}

interface FieldBounds {
  readonly least: number;
  readonly most?: number;
}

/** By definition, e.g. `core.v1.PodSpec`. */
export type FieldRules = Readonly<Record<string, FieldRule>>;

/**
 * Reads a value as a typed API server would: unknown fields are dropped, nulls, empty maps and empty lists are absent,
 * quantities and times get their canonical form. Every problem is reported.
 */
export function readFields(value: unknown, schema: FieldSchema, rules: FieldRules = {}): ReadFields {
  const reader = new FieldReader(rules);
  return { value: reader.value(value, schema), problems: reader.problems, unknown: reader.unknown };
}

class FieldReader {
  readonly problems: FieldProblem[] = [];
  readonly unknown: FieldPath[] = [];
  readonly #path: (string | number)[] = [];
  readonly #rules: FieldRules;

  constructor(rules: FieldRules) {
    this.#rules = rules;
  }

  value(value: unknown, schema: FieldSchema): unknown {
    switch (schema.is) {
      case "object":
        return this.#object(value, schema);
      case "map":
        return this.#map(value, schema.of);
      case "list":
        return this.#list(value, schema.of);
      case "any":
        return copyJson(value);
      default:
        return this.#leaf(value, schema.is);
    }
  }

  #object(value: unknown, schema: ObjectFieldSchema): unknown {
    if (!isRecord(value)) return this.#mismatch(value, "an object");
    const read: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      const field = schema.field(name);
      if (field === undefined) this.unknown.push([...this.#path, name]);
      else if (isPresent(value[name], field)) setOwnKey(read, name, this.#within(name, value[name], field));
    }
    const rule = schema.definition === undefined ? undefined : this.#rules[schema.definition];
    if (rule !== undefined) this.#check(value, rule);
    return read;
  }

  #map(value: unknown, of: FieldSchema): unknown {
    if (!isRecord(value)) return this.#mismatch(value, "an object");
    const read: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      if (isPresent(value[name], of)) setOwnKey(read, name, this.#within(name, value[name], of));
    }
    return read;
  }

  #within(step: string | number, value: unknown, schema: FieldSchema): unknown {
    if (schema.is === "string" && typeof value === "string") return value; // most fields are
    this.#path.push(step);
    const read = this.value(value, schema);
    this.#path.pop();
    return read;
  }

  #list(value: unknown, of: FieldSchema): unknown {
    if (!Array.isArray(value)) return this.#mismatch(value, "a list");
    return value.map((item: unknown, index) =>
      item === null && of.is !== "any" ? this.#zero(of, index) : this.#within(index, item, of),
    );
  }

  #leaf(value: unknown, type: Exclude<LeafType, "any">): unknown {
    const { expected, read, isText = false } = leaves[type];
    return read(value) ?? this.#mismatch(value, expected, isText && typeof value === "string" ? "format" : "type");
  }

  /** What Go makes of null in a list: a value with nothing in it. */
  #zero(schema: FieldSchema, index: number): unknown {
    if (schema.is === "object" || schema.is === "map") return this.#within(index, {}, schema);
    return schema.is === "list" ? [] : schema.is === "any" ? null : leaves[schema.is].zero;
  }

  #mismatch(value: unknown, expected: string, code: FieldProblem["code"] = "type"): undefined {
    this.problems.push({ code, path: [...this.#path], value, expected });
  }

  #check(value: Readonly<Record<string, unknown>>, rule: FieldRule): void {
    for (const name of rule.required ?? []) {
      if (value[name] === undefined || value[name] === null) {
        this.problems.push({ code: "required", path: [...this.#path, name], value: undefined });
      }
    }
    for (const name of rule.notEmpty ?? []) {
      const list = value[name];
      if (Array.isArray(list) && list.length === 0) {
        this.problems.push({ code: "too-few", path: [...this.#path, name], value: list, expected: "one item or more" });
      }
    }
    for (const name in rule.bounds) {
      const bounds = rule.bounds[name];
      if (bounds !== undefined && value[name] !== undefined) this.#checkBounds(value[name], bounds, name);
    }
  }

  #checkBounds(value: unknown, bounds: FieldBounds, name: string): void {
    if (isRecord(value)) {
      this.#path.push(name);
      for (const key of Object.keys(value)) this.#checkBounds(value[key], bounds, key);
      this.#path.pop();
      return;
    }
    const { least, most = Number.POSITIVE_INFINITY } = bounds;
    const number = typeof value === "string" ? quantitySign(value) : value; // quantities have no bound but zero
    if (typeof number !== "number") return; // its type is reported already
    const path = [...this.#path, name];
    if (number < least) this.problems.push({ code: "too-small", path, value, expected: `at least ${least}` });
    if (number > most) {
      this.problems.push({ code: "too-large", path, value, expected: `at most ${most.toLocaleString("en-US")}` });
    }
  }
}

interface Leaf {
  readonly expected: string;
  /** Its canonical form; undefined: it is none. */
  read(value: unknown): unknown;
  readonly zero: unknown;
  /** A text that must have a certain form. */
  readonly isText?: boolean;
}

const leaves: Readonly<Record<Exclude<LeafType, "any">, Leaf>> = {
  string: { expected: "text", zero: "", read: (value) => (typeof value === "string" ? value : undefined) },
  boolean: {
    expected: "true or false",
    zero: false,
    read: (value) => (typeof value === "boolean" ? value : undefined),
  },
  number: { expected: "a number", zero: 0, read: (value) => (typeof value === "number" ? value : undefined) },
  int32: { expected: "a 32-bit integer", zero: 0, read: int32 },
  int64: {
    expected: "a 64-bit integer",
    zero: 0,
    read: (value) => (isIntegerWithin(value, 2 ** 63) ? value : undefined),
  },
  "int-or-string": {
    expected: "a 32-bit integer or text",
    zero: 0,
    read: (value) => (typeof value === "string" ? value : int32(value)),
  },
  bytes: {
    expected: "base64 text",
    zero: "",
    isText: true,
    read: (value) => (typeof value === "string" && matchesFormat("byte", value) ? value : undefined),
  },
  quantity: {
    expected: "a quantity like 500m or 1.5Gi",
    zero: "0",
    isText: true,
    read: (value) =>
      typeof value === "string" || typeof value === "number" ? Quantity.tryParse(value)?.toString() : undefined,
  },
  time: {
    expected: "a time like 2006-01-02T15:04:05Z",
    zero: "",
    isText: true,
    read: (value) => (typeof value === "string" ? canonicalTime(value, 0) : undefined),
  },
  "micro-time": {
    expected: "a time like 2006-01-02T15:04:05.000000Z",
    zero: "",
    isText: true,
    read: (value) => (typeof value === "string" ? canonicalTime(value, 6) : undefined),
  },
};

function int32(value: unknown): unknown {
  return isIntegerWithin(value, 2 ** 31) ? value : undefined;
}

/** Nulls, empty maps and empty lists are as good as absent; empty objects are not, because `emptyDir: {}` means something. */
function isPresent(value: unknown, schema: FieldSchema): boolean {
  if (value === null || value === undefined) return false;
  if (schema.is === "list") return !Array.isArray(value) || value.length > 0;
  return schema.is !== "map" || !isRecord(value) || Object.keys(value).length > 0;
}

/** Undefined for text that is not a quantity. Only a leading minus sign makes one negative. */
function quantitySign(text: string): number | undefined {
  return text.startsWith("-") ? Quantity.tryParse(text)?.sign() : 1;
}

const rfc3339Form = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/** In UTC, with no fraction or six digits of it. */
function canonicalTime(text: string, digits: 0 | 6): string | undefined {
  const [, whole, fraction = "", zone] = rfc3339Form.exec(text) ?? [];
  if (whole === undefined || zone === undefined) return undefined;
  const ms = Date.parse(`${whole}${zone}`);
  if (Number.isNaN(ms)) return undefined;
  if (digits === 0) return rfc3339(ms);
  return fraction.length === digits ? `${rfc3339(ms).slice(0, -1)}.${fraction}Z` : undefined; // Go reads no other precision here
}
