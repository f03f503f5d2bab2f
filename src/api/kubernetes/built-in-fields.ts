import {
  anyFieldSchema,
  type FieldSchema,
  type LeafType,
  type ObjectFieldSchema,
  type PatchRule,
} from "./field-schema.ts";
import { fieldTable } from "./fields-data.ts";

/**
 * The notation of the table. A definition is a line: its name, `~` if it is owned whole, then `field#number:type`s. The
 * number is the field's in protobuf, `2.3` within an inlined message, with `!` where JSON keeps a zero. A type is a leaf,
 * `$definition`, `[item]` or `{value}`; after a list `~` atomic, `!` a set, `@keys` by keys; then how strategic patches
 * treat it: `+key` merged by key, `+` merged as a set, `=` replaced.
 */
const leafTypeByLetter: Readonly<Record<string, LeafType>> = {
  s: "string",
  i: "int32",
  l: "int64",
  n: "number",
  b: "boolean",
  y: "bytes",
  q: "quantity",
  x: "int-or-string",
  t: "time",
  u: "micro-time",
  "*": "any",
};

/** A field as protobuf has it. */
export interface WireField {
  readonly name: string;
  /** Its number; more than one where it belongs to an inlined message. */
  readonly path: readonly number[];
  readonly type: FieldSchema;
  /** Whether a zero is kept: in Go the field is a pointer or has no omitempty. */
  readonly keepsZero: boolean;
}

/** The name of a kind's definition. The table names groups by their first word: `rbac.v1.Role`. */
export function builtInDefinition({
  group,
  version,
  kind,
}: Readonly<Record<"group" | "version" | "kind", string>>): string {
  return `${group === "" ? "core" : group.split(".", 1)[0]}.${version}.${kind}`;
}

/** The fields of the built-in kinds; a definition is parsed when it is first asked for. */
export class BuiltInFields {
  readonly #lines = new Map<string, string>();
  readonly #known = new Map<string, ObjectFieldSchema>();

  constructor() {
    for (const line of fieldTable.split("\n")) {
      const space = line.indexOf(" ");
      if (space > 0) this.#lines.set(line.slice(0, space), line.slice(space + 1));
    }
  }

  has(name: string): boolean {
    return this.#lines.has(name);
  }

  /** By short name, e.g. `core.v1.Pod`. */
  definition(name: string): ObjectFieldSchema {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const line = this.#lines.get(name);
    if (line === undefined) throw new Error(`no field table for ${name}`);
    const made = this.#object(name, line);
    this.#known.set(name, made);
    return made;
  }

  /** The names of a definition's fields. */
  fieldNames(definition: string): readonly string[] {
    return fieldEntries(this.#lines.get(definition) ?? "").map(([name]) => name);
  }

  /** The fields of a definition that have a number in protobuf. */
  wireFields(definition: string): readonly WireField[] {
    const schema = this.definition(definition);
    const fields = fieldEntries(this.#lines.get(definition) ?? "");
    return fields.flatMap(([name, , number]) => {
      const type = schema.field(name);
      if (number === undefined || type === undefined) return [];
      const path = number.replace("!", "").split(".").map(Number);
      return [{ name, path, type, keepsZero: number.endsWith("!") }];
    });
  }

  #object(definition: string, line: string): ObjectFieldSchema {
    const isAtomic = line.startsWith("~ ");
    const types = new Map<string, string | FieldSchema>(fieldEntries(line).map(([name, type]) => [name, type]));
    const field = (name: string): FieldSchema | undefined => {
      const type = types.get(name);
      if (typeof type !== "string") return type;
      const made = this.#type(type);
      types.set(name, made);
      return made;
    };
    return { is: "object", definition, isAtomic, field };
  }

  #type(text: string): FieldSchema {
    const [head, tail] = splitModifiers(text);
    const patch = patchRule(tail);
    const extra = patch === undefined ? {} : { patch };
    if (head.startsWith("$")) {
      const definition = this.definition(head.slice(1));
      return patch === undefined ? definition : { ...definition, ...extra };
    }
    const inner = head.slice(1, -1);
    if (head.startsWith("{")) return { is: "map", of: this.#type(inner), isAtomic: tail.startsWith("~"), ...extra };
    if (head.startsWith("[")) return { is: "list", of: this.#type(inner), identity: identity(tail), ...extra };
    const leaf = leafTypeByLetter[head];
    return leaf === undefined ? anyFieldSchema : { is: leaf, ...extra };
  }
}

/** The fields of a line with type and protobuf number, still in the table's notation. */
function fieldEntries(line: string): readonly (readonly [name: string, type: string, number: string | undefined])[] {
  return line.split(" ").flatMap((entry) => {
    const colon = entry.indexOf(":");
    if (colon <= 0) return [];
    const [name = "", number] = entry.slice(0, colon).split("#");
    return [[name, entry.slice(colon + 1), number] as const];
  });
}

/** Splits a type from its modifiers. */
function splitModifiers(text: string): readonly [string, string] {
  const open = text[0];
  if (open === "[" || open === "{") {
    const end = text.lastIndexOf(open === "[" ? "]" : "}") + 1;
    return [text.slice(0, end), text.slice(end)];
  }
  const end = text.search(/[+%=]/);
  return end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end)];
}

function identity(tail: string): "atomic" | "set" | readonly string[] {
  if (tail.startsWith("!")) return "set";
  const keys = /^@([^+%=]+)/.exec(tail)?.[1];
  return keys === undefined ? "atomic" : keys.split(",");
}

function patchRule(tail: string): PatchRule | undefined {
  const mergeKey = /\+([^%=]*)/.exec(tail)?.[1];
  const isReplaced = tail.includes("=");
  return mergeKey === undefined && !isReplaced ? undefined : { mergeKey, isReplaced };
}
