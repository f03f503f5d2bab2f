import { isRecord } from "../../api/object.ts";
import type { Path, Problem } from "../../api/problem.ts";
import { Quantity } from "../../util/quantity.ts";

/** Says what is wrong with the form of a value; nothing when it will do. Absent values are not asked. */
export type Shape = (value: unknown, path: Path, found: Problem[]) => void;

export const anything: Shape = () => undefined;
export const text: Shape = primitive("string", "text");
export const flag: Shape = primitive("boolean", "true or false");

export const integer: Shape = (value, path, found) => {
  if (!Number.isSafeInteger(value)) found.push(mistyped(value, path, "a whole number"));
};

export const count: Shape = (value, path, found) => {
  integer(value, path, found);
  if (typeof value === "number" && value < 0) {
    found.push({ code: "too-small", path, message: `${value} is below zero`, expected: "zero or more" });
  }
};

/** How many of something to make, up to what anybody means. */
export function countUpTo(most: number): Shape {
  return (value, path, found) => {
    count(value, path, found);
    if (typeof value === "number" && value > most) {
      const expected = `at most ${most.toLocaleString("en-US")}`;
      found.push({ code: "too-large", path, message: `${value} is more than a plan can hold`, expected });
    }
  };
}

export const textOrInteger: Shape = (value, path, found) => {
  if (typeof value !== "string" && !Number.isSafeInteger(value)) {
    found.push(mistyped(value, path, "text or a whole number"));
  }
};

export const time: Shape = (value, path, found) => {
  text(value, path, found);
  if (typeof value === "string" && Number.isNaN(Date.parse(value))) {
    found.push({
      code: "format",
      path,
      message: `${JSON.stringify(value)} is no time`,
      expected: "2026-01-15T12:00:00Z",
    });
  }
};

export const quantity: Shape = (value, path, found) => {
  if (typeof value !== "string" && typeof value !== "number") {
    found.push(mistyped(value, path, "a quantity"));
    return;
  }
  const amount = Quantity.tryParse(value);
  const shown = JSON.stringify(value).slice(0, 80);
  if (amount === undefined) {
    found.push({
      code: "format",
      path,
      message: `${shown} is no quantity`,
      expected: "a quantity like 500m, 1.5Gi or 12e6",
    });
  } else if (amount.sign() < 0) {
    found.push({ code: "too-small", path, message: `${shown} is below zero`, expected: "zero or more" });
  }
};

export function listOf(item: Shape, { least = 0 }: { readonly least?: number } = {}): Shape {
  return (value, path, found) => {
    if (!Array.isArray(value)) {
      found.push(mistyped(value, path, "a list"));
      return;
    }
    if (value.length < least) found.push({ code: "too-few", path, message: "is empty", expected: "one item or more" });
    for (let index = 0; index < value.length; index++) item(value[index], [...path, index], found);
  };
}

export function mapOf(item: Shape): Shape {
  return (value, path, found) => {
    if (!isRecord(value)) {
      found.push(mistyped(value, path, "a map"));
      return;
    }
    for (const key of Object.keys(value)) item(value[key], [...path, key], found);
  };
}

export interface Fields {
  /** Must be there. */
  readonly required?: Readonly<Record<string, Shape>>;
  /** May be there. */
  readonly optional?: Readonly<Record<string, Shape>>;
  /** Fields we know and do not read; absent: any other field may be there. */
  readonly others?: readonly string[];
}

/** An object. Fields nobody knows are told, if all of them are known. */
export function fields({ required = {}, optional = {}, others }: Fields): Shape {
  const must = Object.entries(required);
  const all = new Map([...must, ...Object.entries(optional)]);
  const known = others === undefined ? undefined : new Set([...all.keys(), ...others]);
  return (value, path, found) => {
    if (!isRecord(value)) {
      found.push(mistyped(value, path, "an object"));
      return;
    }
    for (const [name] of must) {
      if (value[name] === undefined) found.push({ code: "required", path: [...path, name], message: "is missing" });
    }
    for (const name of Object.keys(value)) {
      const field = value[name];
      const shape = all.get(name);
      if (shape === undefined) {
        if (known?.has(name) === false) found.push(unknownField([...path, name], name));
      } else if (field !== undefined) shape(field, [...path, name], found);
    }
  };
}

function unknownField(path: Path, name: string): Problem {
  return { code: "unknown-field", path, message: `${JSON.stringify(name)} is no field we know; it has no effect here` };
}

function primitive(type: "string" | "boolean", expected: string): Shape {
  return (value, path, found) => {
    if (typeof value !== type) found.push(mistyped(value, path, expected));
  };
}

function mistyped(value: unknown, path: Path, expected: string): Problem {
  const is = Array.isArray(value) ? "a list" : value === null ? "null" : `${article(typeof value)}`;
  const hint = expected === "text" && typeof value !== "object" ? `; put it in quotes: "${String(value)}"` : "";
  return { code: "type", path, message: `is ${is}${hint}`, expected };
}

function article(type: string): string {
  return type === "object" ? "an object" : `a ${type}`;
}
