import { BuiltInFields, builtInDefinition } from "../../api/kubernetes/built-in-fields.ts";
import { anyFieldSchema, type FieldSchema, type LeafType } from "../../api/kubernetes/field-schema.ts";
import type { ServedKind } from "../kinds/served-kind.ts";

/** Leaves of the field table, as OpenAPI has them. */
const leaves: Readonly<Record<LeafType, unknown>> = {
  string: { type: "string" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  number: { type: "number", format: "double" },
  boolean: { type: "boolean" },
  bytes: { type: "string", format: "byte" },
  quantity: { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity" },
  "int-or-string": { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString" },
  time: { type: "string", format: "date-time" },
  "micro-time": { type: "string", format: "date-time" },
  any: { type: "object" },
};

const leafSchemas: Readonly<Record<string, unknown>> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { oneOf: [{ type: "string" }, { type: "number" }] },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
    format: "int-or-string",
    oneOf: [{ type: "integer" }, { type: "string" }],
  },
};

/** OpenAPI schemas of the built-in kinds: names and types of their fields, for `kubectl explain`. */
export class BuiltInSchemas {
  readonly #fields = new BuiltInFields();

  /** The schemas of these kinds and of all definitions they use, by component name. */
  of(kinds: readonly ServedKind[]): Readonly<Record<string, unknown>> {
    const schemas = new Map<string, unknown>();
    const waiting = kinds.map(builtInDefinition).filter((name) => this.#fields.has(name));
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (!schemas.has(componentName(name))) schemas.set(componentName(name), this.#objectSchema(name, waiting));
    }
    return { ...Object.fromEntries(schemas), ...leafSchemas };
  }

  /** Definitions it refers to are added to `used`. */
  #objectSchema(definition: string, used: string[]): unknown {
    const { field } = this.#fields.definition(definition);
    const properties = this.#fields.fieldNames(definition).map((name) => {
      const type = field(name) ?? anyFieldSchema;
      const schema = typeSchema(type, used);
      return [name, type.is === "object" ? { allOf: [schema] } : schema] as const; // as upstream writes references
    });
    return { type: "object", properties: Object.fromEntries(properties) };
  }
}

/** The component of a kind whose fields are in the table. */
export function builtInComponent(kind: ServedKind): string {
  return componentName(builtInDefinition(kind));
}

function componentName(definition: string): string {
  return definition.startsWith("meta.") ? `io.k8s.apimachinery.pkg.apis.${definition}` : `io.k8s.api.${definition}`;
}

function typeSchema(schema: FieldSchema, used: string[]): unknown {
  switch (schema.is) {
    case "list":
      return { type: "array", items: typeSchema(schema.of, used) };
    case "map":
      return { type: "object", additionalProperties: typeSchema(schema.of, used) };
    case "object":
      used.push(schema.definition ?? "");
      return { $ref: `#/components/schemas/${componentName(schema.definition ?? "")}` };
    default:
      return leaves[schema.is];
  }
}
