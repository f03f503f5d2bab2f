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
  apiVersion: { type: "string", description: "The group and version of the schema this object is written in." },
  kind: { type: "string", description: "Which kind of object this is." },
  metadata: {
    description: "What all objects carry: name, labels, annotations, owners.",
    default: {},
    allOf: [{ $ref: `#/components/schemas/${objectMeta}` }],
  },
};

const texts = { type: "object", additionalProperties: { type: "string", default: "" } };
const time = { type: "string", format: "date-time" };

const objectMetaSchema = {
  type: "object",
  description: "What all objects carry.",
  properties: {
    annotations: { ...texts, description: "Notes of tools and people; not for selecting." },
    creationTimestamp: { ...time, description: "When the server stored the object first." },
    deletionGracePeriodSeconds: { type: "integer", format: "int64", description: "How long it may take to stop." },
    deletionTimestamp: { ...time, description: "When deletion was asked for; set by the server." },
    finalizers: {
      type: "array",
      items: { type: "string", default: "" },
      description: "Who must agree before it goes.",
    },
    generateName: { type: "string", description: "Beginning of a name that the server completes." },
    generation: { type: "integer", format: "int64", description: "Counts the changes of what is asked for." },
    labels: { ...texts, description: "Names and values to select objects by." },
    managedFields: { type: "array", items: { type: "object" }, description: "Who manages which fields." },
    name: { type: "string", description: "Unique among objects of a kind in a namespace." },
    namespace: { type: "string", description: "The space the name is unique in." },
    ownerReferences: { type: "array", items: { type: "object" }, description: "Objects this one goes with." },
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
