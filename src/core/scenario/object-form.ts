import { describeValue, shortJson } from "../../api/json.ts";
import { type BuiltInFields, builtInDefinition } from "../../api/kubernetes/built-in-fields.ts";
import {
  anyFieldSchema,
  type FieldSchema,
  fieldSchemaOf,
  type ObjectFieldSchema,
} from "../../api/kubernetes/field-schema.ts";
import { type FieldProblem, readFields } from "../../api/kubernetes/read-fields.ts";
import { closestMatch } from "../../api/manifest/closest-match.ts";
import { apiGroupOf, isRecord, type KubeObject } from "../../api/object.ts";
import type { FieldPath, Problem } from "../../api/problem.ts";
import type { StructuralSchema } from "../../api/structural/schema.ts";
import { inputRules } from "./input-rules.ts";
import { unknownVersionProblem } from "./misnamed-kind.ts";
import { nestedKindSchema } from "./nested-kind-schema.ts";
import { nestedKindOf } from "./nested-kinds.ts";
import { nestedTemplateProblems } from "./nested-workloads.ts";
import { isTemplatedKind } from "./pod-template.ts";
import { scenarioKind } from "./scenario-kind.ts";
import { selectorProblems } from "./selector-problems.ts";

/** An object as an API server would read it, and what is wrong with its form. */
export interface ReadInput {
  readonly object: KubeObject;
  /** Wrong types, missing fields and, as `unknown-field`, fields Kubernetes does not have. */
  readonly problems: readonly Problem[];
}

export function readInputObject(object: KubeObject, fields: BuiltInFields): ReadInput {
  const schema = schemaOf(object, fields);
  if (schema === undefined) {
    const wrongVersion = unknownVersionProblem(object);
    return { object, problems: wrongVersion === undefined ? karpenterKindProblems(object, fields) : [wrongVersion] };
  }
  const { value, problems, unknown } = readFields(object, schema, inputRules);
  const unknownFields = unknown.map((path) => unknownField(path, fieldNamesAt(schema, path, fields)));
  const wrong = problems.map(problemOf);
  const read = value as KubeObject;
  const furtherProblems = wrong.length === 0 ? [...selectorProblems(read), ...nestedTemplateProblems(read)] : [];
  return { object: read, problems: [...wrong, ...furtherProblems, ...unknownFields] };
}

/** The fields of a built-in kind, or of one with a pod template; undefined for our own kinds. */
function schemaOf(object: KubeObject, fields: BuiltInFields): ObjectFieldSchema | undefined {
  const definition = definitionOf(object);
  if (scenarioKind(object) !== undefined) return fields.has(definition) ? fields.definition(definition) : undefined;
  const nested = nestedKindOf(object);
  if (nested !== undefined) return nestedKindSchema(nested, fields);
  return isTemplatedKind(object) ? templatedKindSchema(fields) : undefined;
}

function definitionOf({ apiVersion, kind }: KubeObject): string {
  const [, version = ""] = apiVersion.includes("/") ? apiVersion.split("/", 2) : ["", apiVersion];
  const stable = version.replace(/(alpha|beta)\d+$/, ""); // older versions are read alike
  return builtInDefinition({ group: apiGroupOf(apiVersion), version: stable, kind });
}

/** Of kinds we have no table for: what Deployments and StatefulSets have too; whatever else they have is theirs. */
function templatedKindSchema(fields: BuiltInFields): ObjectFieldSchema {
  const known: Readonly<Record<string, FieldSchema>> = {
    replicas: { is: "int32" },
    template: fields.definition("core.v1.PodTemplateSpec"),
    volumeClaimTemplates: {
      is: "list",
      of: fields.definition("core.v1.PersistentVolumeClaim"),
      identity: "atomic",
    },
  };
  const spec: ObjectFieldSchema = {
    is: "object",
    definition: "TemplatedKindSpec",
    isAtomic: false,
    field: (name) => (Object.hasOwn(known, name) ? known[name] : anyFieldSchema),
  };
  const metadata = fields.definition("meta.v1.ObjectMeta");
  return {
    is: "object",
    definition: "TemplatedKind",
    isAtomic: false,
    field: (name) => (name === "spec" ? spec : name === "metadata" ? metadata : anyFieldSchema),
  };
}

/** The fields an unknown one may have been meant to be: those of the object it is in. */
function fieldNamesAt(schema: FieldSchema, path: FieldPath, fields: BuiltInFields): readonly string[] {
  let at: FieldSchema | undefined = schema;
  for (const step of path.slice(0, -1)) {
    if (at?.is === "object") at = at.field(String(step));
    else at = at?.is === "list" || at?.is === "map" ? at.of : undefined;
  }
  return at?.is === "object" && at.definition !== undefined ? fields.fieldNames(at.definition) : [];
}

/** As much of our own kinds as completion relies on: admission checks them by their own schemas. */
const karpenterKindForm: StructuralSchema = {
  type: "object",
  properties: {
    spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    status: {
      type: "object",
      properties: { conditions: { type: "array", items: { type: "object" } } },
      "x-kubernetes-preserve-unknown-fields": true,
    },
  },
};

function karpenterKindProblems(object: KubeObject, fields: BuiltInFields): readonly Problem[] {
  const schema = fieldSchemaOf(karpenterKindForm, fields.definition("meta.v1.ObjectMeta"));
  const { problems } = readFields(object, { ...schema, definition: object.kind }, inputRules);
  return [...problems.map(problemOf), ...nodeClassRefProblems(object)];
}

function nodeClassRefProblems({ kind, spec }: KubeObject): readonly Problem[] {
  const ref = kind === "NodeClaim" && isRecord(spec) ? spec["nodeClassRef"] : undefined;
  if (!isRecord(ref)) return [];
  const missing = ["group", "kind", "name"].filter((name) => ref[name] === undefined);
  return missing.map((name) => ({ code: "required", path: ["spec", "nodeClassRef", name], message: "is missing" }));
}

function problemOf(problem: FieldProblem): Problem {
  const { code, path, expected } = problem;
  return { code, path, message: messageOf(problem), ...(expected !== undefined && { expected }) };
}

function messageOf({ code, value, expected }: FieldProblem): string {
  switch (code) {
    case "required":
      return "is missing";
    case "too-few":
      return "is empty";
    case "too-small":
      return `${shortJson(value)} is too small`;
    case "too-large":
      return `${shortJson(value)} is too large`;
    default: {
      const isUnquoted = expected === "text" && (typeof value === "number" || typeof value === "boolean");
      return `is ${describeValue(value)}${isUnquoted ? `; put it in quotes: "${value}"` : ""}`;
    }
  }
}

function unknownField(path: FieldPath, others: readonly string[]): Problem {
  const near = closestMatch(String(path.at(-1)), others);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  return { code: "unknown-field", path, message: `unknown field; it is ignored${hint}` };
}
