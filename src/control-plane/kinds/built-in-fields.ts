import { anyFieldSchema, type FieldSchema, type LeafType, type PatchRule } from "./field-schema.ts";
import { fieldTable } from "./fields-data.ts";

/**
 * The table's letters. A definition is a line: its name, `~` if it is owned whole, then `field:type`s. A type is a leaf,
 * `$definition`, `[item]` or `{value}`; behind a list `~` whole, `!` a set, `@keys` by keys; then how strategic patches
 * treat it: `+key` merged by key, `+` merged as a set, `%` retains keys, `=` replaced.
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

/** The fields of the built-in kinds, read from the table as they are asked for. */
export class BuiltInFields {
  readonly #lines = new Map<string, string>();
  readonly #known = new Map<string, FieldSchema>();

  constructor() {
    for (const line of fieldTable.split("\n")) {
      const space = line.indexOf(" ");
      if (space > 0) this.#lines.set(line.slice(0, space), line.slice(space + 1));
    }
  }

  /** By short name, e.g. `core.v1.Pod`. */
  definition(name: string): FieldSchema {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const line = this.#lines.get(name);
    if (line === undefined) throw new Error(`no field table for ${name}`);
    const made = this.#object(line);
    this.#known.set(name, made);
    return made;
  }

  #object(line: string, patch?: PatchRule): FieldSchema {
    const isAtomic = line.startsWith("~ ");
    const types = new Map<string, string | FieldSchema>();
    for (const entry of (isAtomic ? line.slice(2) : line).split(" ")) {
      const colon = entry.indexOf(":");
      if (colon > 0) types.set(entry.slice(0, colon), entry.slice(colon + 1));
    }
    const field = (name: string): FieldSchema | undefined => {
      const type = types.get(name);
      if (typeof type !== "string") return type;
      const made = this.#type(type);
      types.set(name, made);
      return made;
    };
    return { is: "object", isAtomic, field, ...(patch && { patch }) };
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

/** Splits a type from what is said about it. */
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
  const retainsKeys = tail.includes("%");
  const isReplaced = tail.includes("=");
  if (mergeKey === undefined && !retainsKeys && !isReplaced) return undefined;
  return { mergeKey, retainsKeys, isReplaced };
}
