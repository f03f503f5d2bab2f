import { isRecord } from "../../api/object.ts";
import type { ServedKind } from "../kinds/served-kind.ts";
import { type BuiltInSchemas, builtInComponent } from "./built-in-schemas.ts";

/**
 * The OpenAPI v3 document of one group-version. Built-in kinds have only names and types of fields, because kubectl
 * computes patches from the types it was built with. Custom kinds have the schema of their CRD. (05 §2)
 */
export function openApiDocument(kinds: readonly ServedKind[], builtIns: BuiltInSchemas): unknown {
  const [{ group, version } = { group: "", version: "" }] = kinds;
  const shared = builtIns.of(kinds.filter(({ custom }) => custom === undefined));
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version },
    paths: Object.fromEntries(kinds.flatMap((kind) => pathsOf(kind))),
    components: {
      schemas: {
        ...shared,
        ...Object.fromEntries(kinds.map((kind) => [schemaName(kind), schemaOf(kind, shared)])),
        [objectMeta]: objectMetaSchema,
      },
    },
    "x-kubernetes-group-version": { group, version },
  };
}

const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

function schemaName(served: ServedKind): string {
  const { group, version, kind, custom } = served;
  return custom === undefined ? builtInComponent(served) : [...group.split(".").reverse(), version, kind].join(".");
}

function schemaOf(served: ServedKind, shared: Readonly<Record<string, unknown>>): unknown {
  const { group, version, kind, custom } = served;
  const own = custom?.schema ?? shared[schemaName(served)];
  const fields = isRecord(own) && isRecord(own["properties"]) ? own["properties"] : {};
  return {
    type: "object",
    ...(isRecord(own) && own),
    properties: { ...fields, ...rootProperties },
    "x-kubernetes-group-version-kind": [{ group, version, kind }],
  };
}

const rootProperties = {
  apiVersion: { type: "string", description: "The versioned schema of this representation of an object." },
  kind: { type: "string", description: "The kind of this object." },
  metadata: {
    description: "Metadata all objects have: name, labels, annotations, owners.",
    default: {},
    allOf: [{ $ref: `#/components/schemas/${objectMeta}` }],
  },
};

const texts = { type: "object", additionalProperties: { type: "string", default: "" } };
const time = { type: "string", format: "date-time" };

const objectMetaSchema = {
  type: "object",
  description: "Metadata all objects have.",
  properties: {
    annotations: { ...texts, description: "Unstructured metadata; cannot be used in selectors." },
    creationTimestamp: { ...time, description: "When the object was created; set by the server." },
    deletionGracePeriodSeconds: {
      type: "integer",
      format: "int64",
      description: "Seconds the object has to terminate gracefully.",
    },
    deletionTimestamp: { ...time, description: "When the object will be deleted; set by the server." },
    finalizers: {
      type: "array",
      items: { type: "string", default: "" },
      description: "Must be empty before the object is deleted.",
    },
    generateName: { type: "string", description: "Prefix of a name the server generates." },
    generation: { type: "integer", format: "int64", description: "Incremented when the spec changes." },
    labels: { ...texts, description: "Keys and values to organize and select objects." },
    managedFields: { type: "array", items: { type: "object" }, description: "Which manager owns which fields." },
    name: { type: "string", description: "Unique among objects of a kind in a namespace." },
    namespace: { type: "string", description: "The namespace of the object." },
    ownerReferences: { type: "array", items: { type: "object" }, description: "Objects this one is deleted with." },
    resourceVersion: { type: "string", description: "Changes with every write; guards against lost updates." },
    uid: { type: "string", description: "Unique over time and space; set by the server." },
  },
};

type Method = "get" | "post" | "put" | "patch" | "delete";

function pathsOf(served: ServedKind): readonly (readonly [string, unknown])[] {
  const { group, version, plural, namespaced } = served;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const collection = `${root}${namespaced ? "/namespaces/{namespace}" : ""}/${plural}`;
  return [
    [collection, pathItem(served, ["get", "post"])],
    [`${collection}/{name}`, pathItem(served, ["get", "put", "patch", "delete"])],
  ];
}

function pathItem(served: ServedKind, methods: readonly Method[]): unknown {
  return Object.fromEntries(methods.map((method) => [method, operation(served, method)]));
}

const writes: ReadonlySet<Method> = new Set<Method>(["post", "put", "patch"]);

/** Strategic merge is not listed, so that kubectl computes such patches from the types it was built with. */
function operation(served: ServedKind, method: Method): unknown {
  const { group, version, kind } = served;
  return {
    operationId: `${method}_${schemaName(served)}`,
    parameters: (writes.has(method) ? ["dryRun", "fieldManager", "fieldValidation"] : []).map((name) => ({
      name,
      in: "query",
      schema: { type: "string", uniqueItems: true },
    })),
    responses: { "200": { description: "OK" } },
    "x-kubernetes-action": method,
    "x-kubernetes-group-version-kind": { group, version, kind },
  };
}
