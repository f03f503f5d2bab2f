import { fieldTable } from "../kinds/fields-data.ts";
import type { ServedKind } from "../kinds/served-kind.ts";

/** OpenAPI types of the field table's leaves. */
const leaves: Readonly<Record<string, unknown>> = {
  s: { type: "string" },
  i: { type: "integer", format: "int32" },
  l: { type: "integer", format: "int64" },
  n: { type: "number", format: "double" },
  b: { type: "boolean" },
  y: { type: "string", format: "byte" },
  q: { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity" },
  x: { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString" },
  t: { type: "string", format: "date-time" },
  u: { type: "string", format: "date-time" },
  "*": { type: "object" },
};

const leafSchemas: Readonly<Record<string, unknown>> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { oneOf: [{ type: "string" }, { type: "number" }] },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
    format: "int-or-string",
    oneOf: [{ type: "integer" }, { type: "string" }],
  },
};

/** OpenAPI schemas of built-in kinds: names and types of fields, for kubectl explain. */
export class BuiltInSchemas {
  readonly #lines = new Map<string, string>();

  constructor() {
    for (const line of fieldTable.split("\n")) {
      const space = line.indexOf(" ");
      if (space > 0) this.#lines.set(line.slice(0, space), line.slice(space + 1));
    }
  }

  /** The schemas of these kinds and of everything they refer to, by component name. */
  of(kinds: readonly ServedKind[]): Readonly<Record<string, unknown>> {
    const schemas = new Map<string, unknown>();
    const waiting = kinds.map(definitionOf).filter((name) => this.#lines.has(name));
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (schemas.has(componentName(name))) continue;
      const line = this.#lines.get(name) ?? "";
      schemas.set(componentName(name), objectSchema(line));
      for (const [, used = ""] of line.matchAll(/\$([\w.]+)/g)) waiting.push(used);
    }
    return { ...Object.fromEntries(schemas), ...leafSchemas };
  }
}

/** The field table names a group by its first word: `rbac.v1.Role`. */
function definitionOf({ group, version, kind }: ServedKind): string {
  return `${group === "" ? "core" : group.split(".", 1)[0]}.${version}.${kind}`;
}

/** The component name of a kind in the field table. */
export function builtInComponent(kind: ServedKind): string {
  return componentName(definitionOf(kind));
}

function componentName(definition: string): string {
  return definition.startsWith("meta.") ? `io.k8s.apimachinery.pkg.apis.${definition}` : `io.k8s.api.${definition}`;
}

function objectSchema(line: string): unknown {
  const properties = line
    .split(" ")
    .filter((entry) => entry.includes(":"))
    .map((entry) => {
      const colon = entry.indexOf(":");
      return [entry.slice(0, colon), typeSchema(entry.slice(colon + 1))] as const;
    });
  return { type: "object", properties: Object.fromEntries(properties) };
}

/** A type is `$definition`, `[item]`, `{value}` or a leaf; the merge rules after it are not needed here. */
function typeSchema(text: string): unknown {
  if (text.startsWith("$")) return { allOf: [reference(/^\$([\w.]+)/.exec(text)?.[1] ?? "")] };
  if (text.startsWith("[")) return { type: "array", items: itemSchema(inside(text, "]")) };
  if (text.startsWith("{")) return { type: "object", additionalProperties: itemSchema(inside(text, "}")) };
  return leaves[text[0] ?? ""] ?? { type: "object" };
}

function itemSchema(text: string): unknown {
  return text.startsWith("$") ? reference(text.slice(1)) : typeSchema(text);
}

function inside(text: string, closing: string): string {
  return text.slice(1, text.lastIndexOf(closing));
}

function reference(definition: string): unknown {
  return { $ref: `#/components/schemas/${componentName(definition)}` };
}
