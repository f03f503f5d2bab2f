import { isRecord } from "../../api/object.ts";
import { type FieldPath, formatPath } from "../../api/problem.ts";
import { Quantity } from "../../util/quantity.ts";
import { badRequest } from "../api/api-errors.ts";
import type { FieldSchema, LeafType } from "./field-schema.ts";
import { type JsonObject, setOwnKey } from "./object-draft.ts";

export interface DecodedFields {
  /** A fresh copy with only known fields, each of its type. */
  readonly value: unknown;
  /** The paths of the fields that were dropped. */
  readonly unknown: readonly string[];
}

/**
 * Reads what a client sent as a typed API server would: unknown fields are dropped, nulls, empty maps and empty lists
 * are absent, quantities and times get their canonical form; a value of the wrong type is a bad request.
 */
export function decodeFields(value: unknown, schema: FieldSchema, what: string): DecodedFields {
  const decoder = new FieldDecoder(what);
  return { value: decoder.value(value, schema), unknown: decoder.unknown };
}

class FieldDecoder {
  readonly unknown: string[] = [];
  readonly #path: (string | number)[] = [];
  readonly #what: string;

  constructor(what: string) {
    this.#what = what;
  }

  value(value: unknown, schema: FieldSchema): unknown {
    switch (schema.is) {
      case "object":
        return this.#object(value, schema.field);
      case "map": {
        const { of } = schema;
        return this.#object(value, () => of);
      }
      case "list":
        return this.#list(value, schema.of);
      default:
        return this.#leaf(value, schema.is);
    }
  }

  #object(value: unknown, field: (name: string) => FieldSchema | undefined): unknown {
    if (!isRecord(value)) return this.#mismatch(value, "an object");
    const read: JsonObject = {};
    for (const name of Object.keys(value)) {
      const schema = field(name);
      const written = value[name];
      if (schema === undefined) {
        this.unknown.push(formatPath([...this.#path, name]));
      } else if (written !== null && written !== undefined && !isEmpty(written, schema)) {
        this.#path.push(name);
        setOwnKey(read, name, this.value(written, schema));
        this.#path.pop();
      }
    }
    return read;
  }

  #list(value: unknown, of: FieldSchema): unknown {
    if (!Array.isArray(value)) return this.#mismatch(value, "a list");
    return value.map((item: unknown, index) => {
      this.#path.push(index);
      const read = item === null && of.is !== "any" ? zeroOf(of) : this.value(item, of);
      this.#path.pop();
      return read;
    });
  }

  #leaf(value: unknown, type: LeafType): unknown {
    switch (type) {
      case "string":
        return typeof value === "string" ? value : this.#mismatch(value, "text");
      case "boolean":
        return typeof value === "boolean" ? value : this.#mismatch(value, "true or false");
      case "number":
        return typeof value === "number" ? value : this.#mismatch(value, "a number");
      case "int32":
        return isWhole(value, 2 ** 31) ? value : this.#mismatch(value, "a 32-bit integer");
      case "int64":
        return isWhole(value, 2 ** 63) ? value : this.#mismatch(value, "a 64-bit integer");
      case "int-or-string":
        return typeof value === "string" || isWhole(value, 2 ** 31)
          ? value
          : this.#mismatch(value, "a 32-bit integer or text");
      case "bytes":
        return typeof value === "string" && isBase64(value) ? value : this.#mismatch(value, "base64 text");
      case "quantity":
        return this.#quantity(value);
      case "time":
        return this.#time(value, 0);
      case "micro-time":
        return this.#time(value, 6);
      case "any":
        return this.#anything(value);
    }
  }

  #quantity(value: unknown): unknown {
    const known = typeof value === "string" || typeof value === "number" ? Quantity.tryParse(value) : undefined;
    return known === undefined ? this.#mismatch(value, "a quantity like 500m or 1.5Gi") : known.toString();
  }

  #time(value: unknown, digits: 0 | 6): unknown {
    const text = typeof value === "string" ? canonicalTime(value, digits) : undefined;
    const example = digits === 0 ? "2006-01-02T15:04:05Z" : "2006-01-02T15:04:05.000000Z";
    return text ?? this.#mismatch(value, `a time like ${example}`);
  }

  #anything(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#anything(item));
    if (!isRecord(value)) return value;
    const copy: JsonObject = {};
    for (const key of Object.keys(value)) setOwnKey(copy, key, this.#anything(value[key]));
    return copy;
  }

  #mismatch(value: unknown, expected: string): never {
    const at = formatPath(this.#path as FieldPath);
    const place = at === "" ? "" : `${at}: `;
    throw badRequest(`${this.#what}: ${place}expected ${expected}, got ${describe(value)}`);
  }
}

function zeroOf(schema: FieldSchema): unknown {
  switch (schema.is) {
    case "object":
    case "map":
      return {};
    case "list":
      return [];
    case "boolean":
      return false;
    case "number":
    case "int32":
    case "int64":
    case "int-or-string":
      return 0;
    case "quantity":
      return "0";
    default:
      return "";
  }
}

/** Maps and lists are left out of JSON when empty; objects are not, since `emptyDir: {}` says something. */
function isEmpty(value: unknown, schema: FieldSchema): boolean {
  if (schema.is === "list") return Array.isArray(value) && value.length === 0;
  return schema.is === "map" && isRecord(value) && Object.keys(value).length === 0;
}

function isWhole(value: unknown, limit: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= -limit && value < limit;
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

const rfc3339 = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/** UTC, with no fraction or six digits of it. */
function canonicalTime(text: string, digits: 0 | 6): string | undefined {
  const [, whole, fraction = "", zone] = rfc3339.exec(text) ?? [];
  if (whole === undefined || zone === undefined) return undefined;
  const ms = Date.parse(`${whole}${zone}`);
  if (Number.isNaN(ms)) return undefined;
  const seconds = new Date(ms).toISOString().slice(0, 19);
  if (digits === 0) return `${seconds}Z`;
  return fraction.length === digits ? `${seconds}.${fraction}Z` : undefined; // Go reads no other precision here
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "an object";
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
