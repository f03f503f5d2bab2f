import { isRecord } from "../../api/object.ts";
import type { ServedKind } from "../kinds/served-kind.ts";
import type { BuiltInSchemas } from "./built-in-schemas.ts";
import { openApiDocument } from "./openapi-document.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * The OpenAPI v2 document of all kinds. kubectl validates a `List` by it, and clients before 1.27 everything. It says what
 * the v3 documents say, as far as version 2 can. (05 §2)
 */
export function openApiV2Document(kinds: readonly ServedKind[], builtIns: BuiltInSchemas): Json {
  const { info, paths, components } = openApiDocument(kinds, builtIns) as Readonly<Record<string, Json>>;
  const schemas = recordOf(components?.["schemas"]);
  return {
    swagger: "2.0",
    info: { ...info, version: "v1" },
    paths: mapValues(paths ?? {}, (item) => mapValues(recordOf(item), (operation) => v2Operation(recordOf(operation)))),
    definitions: { ...mapValues(schemas, v2Schema), ...leafDefinitions },
  };
}

/** Either of two types, which version 2 cannot say: kubectl takes a number for a string. */
const leafDefinitions: Json = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { type: "string" },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { type: "string", format: "int-or-string" },
};

function v2Operation({ parameters, ...operation }: Json): Json {
  const own = Array.isArray(parameters) ? parameters.map(recordOf) : [];
  return { ...operation, parameters: own.map(({ schema, ...rest }) => ({ ...rest, ...recordOf(schema) })) };
}

const preservesUnknownFields = "x-kubernetes-preserve-unknown-fields";
/** Not part of version 2. */
const v3Keywords: readonly string[] = ["allOf", "anyOf", "oneOf", "not", "nullable"];

/**
 * A schema is made weaker where version 2 or kubectl lacks the means: alternatives are dropped, and what may be null or
 * have unknown fields has no type, as in Kubernetes.
 */
function v2Schema(schema: unknown): Json {
  const own = recordOf(schema);
  const reference = referenceIn(own);
  if (reference !== undefined) return { $ref: reference, ...picked(own, ["description", "default"]) };
  const { type, properties, items, additionalProperties, required } = own;
  const rest = Object.entries(own).filter(([key]) => !v3Keywords.includes(key) && !structuralKeywords.includes(key));
  const kept = Object.fromEntries(rest);
  if (own["nullable"] === true || own[preservesUnknownFields] === true) return kept;
  return {
    ...kept,
    ...v2Structure({ type, properties, items, additionalProperties }),
    ...(Array.isArray(required) && { required: required.filter((name) => !isNullable(recordOf(properties)[name])) }),
  };
}

const structuralKeywords: readonly string[] = ["type", "properties", "items", "additionalProperties", "required"];

/** kubectl refuses lists without items, and takes an object without fields for a map. */
function v2Structure({ type, properties, items, additionalProperties }: Json): Json {
  if (type === "array") return isRecord(items) ? { type, items: v2Schema(items) } : {};
  if (type !== "object") return type === undefined ? {} : { type };
  if (isRecord(properties)) return { type, properties: mapValues(properties, v2Schema) };
  if (isRecord(additionalProperties)) return { type, additionalProperties: v2Schema(additionalProperties) };
  return {};
}

/** References are written alone, or as the only part of `allOf`. */
function referenceIn({ $ref, allOf }: Json): string | undefined {
  const written = $ref ?? (Array.isArray(allOf) && allOf.length === 1 ? recordOf(allOf[0])["$ref"] : undefined);
  return typeof written === "string" ? written.replace("#/components/schemas/", "#/definitions/") : undefined;
}

function isNullable(schema: unknown): boolean {
  return recordOf(schema)["nullable"] === true;
}

function picked(object: Json, keys: readonly string[]): Json {
  return Object.fromEntries(keys.flatMap((key) => (object[key] === undefined ? [] : [[key, object[key]]])));
}

function mapValues(object: Json, change: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

function recordOf(value: unknown): Json {
  return isRecord(value) ? value : {};
}
