import { describeValue, shortJson } from "../../api/json.ts";
import { type BuiltInFields, builtInDefinition } from "../../api/kubernetes/built-in-fields.ts";
import { fieldSchemaOf } from "../../api/kubernetes/field-schema.ts";
import { type FieldProblem, readFields } from "../../api/kubernetes/read-fields.ts";
import { apiGroupOf, isRecord, type KubeObject } from "../../api/object.ts";
import type { FieldPath, Problem } from "../../api/problem.ts";
import type { StructuralSchema } from "../../api/structural/schema.ts";
import { inputRules } from "./input-rules.ts";

/** An object as an API server would read it, and what is wrong with its form. */
export interface ReadInput {
  readonly object: KubeObject;
  /** Wrong types, missing fields and, as `unknown-field`, fields Kubernetes does not have. */
  readonly problems: readonly Problem[];
}

export function readInputObject(object: KubeObject, fields: BuiltInFields): ReadInput {
  const definition = definitionOf(object);
  if (!fields.has(definition)) return { object, problems: karpenterKindProblems(object, fields) };
  const { value, problems, unknown } = readFields(object, fields.definition(definition), inputRules);
  return { object: value as KubeObject, problems: [...problems.map(problemOf), ...unknown.map(unknownField)] };
}

function definitionOf({ apiVersion, kind }: KubeObject): string {
  return builtInDefinition({ group: apiGroupOf(apiVersion), version: "v1", kind }); // older versions are read alike
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

function unknownField(path: FieldPath): Problem {
  return { code: "unknown-field", path, message: "unknown field; it is ignored" };
}
