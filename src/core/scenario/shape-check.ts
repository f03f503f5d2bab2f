import { isRecord } from "../../api/object.ts";
import type { FieldPath, Problem } from "../../api/problem.ts";
import { Quantity } from "../../util/quantity.ts";

/** Says what is wrong with the form of a value; nothing when it will do. Absent values are not asked. */
export type ShapeCheck = (value: unknown, path: FieldPath, found: Problem[]) => void;

export const anyShape: ShapeCheck = () => undefined;
export const stringShape: ShapeCheck = primitive("string", "text");
export const booleanShape: ShapeCheck = primitive("boolean", "true or false");

export const integerShape: ShapeCheck = (value, path, found) => {
  if (!Number.isSafeInteger(value)) found.push(wrongType(value, path, "a whole number"));
};

export const countShape: ShapeCheck = (value, path, found) => {
  integerShape(value, path, found);
  if (typeof value === "number" && value < 0) {
    found.push({ code: "too-small", path, message: `${value} is below zero`, expected: "zero or more" });
  }
};

/** How many of something to make, up to what anybody means. */
export function countShapeUpTo(most: number): ShapeCheck {
  return (value, path, found) => {
    countShape(value, path, found);
    if (typeof value === "number" && value > most) {
      const expected = `at most ${most.toLocaleString("en-US")}`;
      found.push({ code: "too-large", path, message: `${value} is more than a plan can hold`, expected });
    }
  };
}

export const intOrStringShape: ShapeCheck = (value, path, found) => {
  if (typeof value !== "string" && !Number.isSafeInteger(value)) {
    found.push(wrongType(value, path, "text or a whole number"));
  }
};

export const timeShape: ShapeCheck = (value, path, found) => {
  stringShape(value, path, found);
  if (typeof value === "string" && Number.isNaN(Date.parse(value))) {
    found.push({
      code: "format",
      path,
      message: `${JSON.stringify(value)} is no time`,
      expected: "2026-01-15T12:00:00Z",
    });
  }
};

export const quantityShape: ShapeCheck = (value, path, found) => {
  if (typeof value !== "string" && typeof value !== "number") {
    found.push(wrongType(value, path, "a quantity"));
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

export function listShape(item: ShapeCheck, { least = 0 }: { readonly least?: number } = {}): ShapeCheck {
  return (value, path, found) => {
    if (!Array.isArray(value)) {
      found.push(wrongType(value, path, "a list"));
      return;
    }
    if (value.length < least) found.push({ code: "too-few", path, message: "is empty", expected: "one item or more" });
    for (let index = 0; index < value.length; index++) item(value[index], [...path, index], found);
  };
}

export function mapShape(item: ShapeCheck): ShapeCheck {
  return (value, path, found) => {
    if (!isRecord(value)) {
      found.push(wrongType(value, path, "a map"));
      return;
    }
    for (const key of Object.keys(value)) item(value[key], [...path, key], found);
  };
}

export interface ObjectShapeFields {
  /** Must be there. */
  readonly required?: Readonly<Record<string, ShapeCheck>>;
  /** May be there. */
  readonly optional?: Readonly<Record<string, ShapeCheck>>;
  /** Fields we know and do not read; absent: any other field may be there. */
  readonly others?: readonly string[];
}

/** An object. Fields nobody knows are told, if all of them are known. */
export function objectShape({ required = {}, optional = {}, others }: ObjectShapeFields): ShapeCheck {
  const must = Object.entries(required);
  const all = new Map([...must, ...Object.entries(optional)]);
  const known = others === undefined ? undefined : new Set([...all.keys(), ...others]);
  return (value, path, found) => {
    if (!isRecord(value)) {
      found.push(wrongType(value, path, "an object"));
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

function unknownField(path: FieldPath, name: string): Problem {
  return { code: "unknown-field", path, message: `${JSON.stringify(name)} is no field we know; it has no effect here` };
}

function primitive(type: "string" | "boolean", expected: string): ShapeCheck {
  return (value, path, found) => {
    if (typeof value !== type) found.push(wrongType(value, path, expected));
  };
}

function wrongType(value: unknown, path: FieldPath, expected: string): Problem {
  const is = Array.isArray(value) ? "a list" : value === null ? "null" : `${article(typeof value)}`;
  const hint = expected === "text" && typeof value !== "object" ? `; put it in quotes: "${String(value)}"` : "";
  return { code: "type", path, message: `is ${is}${hint}`, expected };
}

function article(type: string): string {
  return type === "object" ? "an object" : `a ${type}`;
}
