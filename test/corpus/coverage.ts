import type { KarpenterKind } from "../../src/api/kinds/karpenter-kinds.ts";
import { isRecord } from "../../src/api/object.ts";
import type { FieldPath, Problem, ProblemCode } from "../../src/api/problem.ts";
import { isSupportedFormat } from "../../src/api/structural/formats.ts";
import { fieldSchema, type StructuralSchema } from "../../src/api/structural/schema.ts";

/** One thing a schema can refuse: a bound or a rule at a place. */
export interface Bound {
  readonly kind: string;
  /** Where, with `*` for list items and map values. */
  readonly place: string;
  readonly code: ProblemCode;
  /** The rule's message, when it is a CEL rule. */
  readonly message?: string;
}

const codesByKeyword = {
  type: "type",
  enum: "enum",
  pattern: "pattern",
  minLength: "too-short",
  maxLength: "too-long",
  minimum: "too-small",
  maximum: "too-large",
  minItems: "too-few",
  maxItems: "too-many",
  maxProperties: "too-many",
} as const satisfies Partial<Record<keyof StructuralSchema, ProblemCode>>;

/** Every bound and rule of a schema, status included. */
export function boundsOf(kind: KarpenterKind, schema: StructuralSchema): readonly Bound[] {
  const bounds: Bound[] = [];
  const visit = (node: StructuralSchema, place: readonly string[]): void => {
    const at = place.join(".");
    for (const [keyword, code] of Object.entries(codesByKeyword)) {
      // Bounds on the wrong type never fire: the inert length and pattern of requirement values. (01 §9.6)
      if (Object.hasOwn(node, keyword) && applies(keyword, node)) bounds.push({ kind: kind.kind, place: at, code });
    }
    // A 32-bit field with a maximum is refused by that first.
    const is32Bit = node.format === "int32" && node.maximum === undefined;
    const isFormatted = node.type === "string" ? isSupportedFormat(node.format ?? "") : is32Bit;
    if (isFormatted) bounds.push({ kind: kind.kind, place: at, code: "format" });
    if (node["x-kubernetes-int-or-string"]) bounds.push({ kind: kind.kind, place: at, code: "type" });
    if (node["x-kubernetes-list-type"] === "set" || node["x-kubernetes-list-type"] === "map") {
      bounds.push({ kind: kind.kind, place: `${at}.*`, code: "duplicate-item" });
    }
    for (const field of node.required ?? [])
      bounds.push({ kind: kind.kind, place: [...place, field].join("."), code: "required" });
    for (const { message } of node["x-kubernetes-validations"] ?? []) {
      if (message !== undefined) bounds.push({ kind: kind.kind, place: at, code: "rule", message });
    }
    for (const [field, child] of Object.entries(node.properties ?? {})) {
      if (place.length > 0 || field === "spec" || field === "status") visit(child, [...place, field]);
    }
    if (node.items !== undefined) visit(node.items, [...place, "*"]);
    if (typeof node.additionalProperties === "object") visit(node.additionalProperties, [...place, "*"]);
  };
  visit(schema, []);
  return bounds.filter((bound) => bound.place !== "" || bound.code === "rule");
}

function applies(keyword: string, node: StructuralSchema): boolean {
  if (keyword === "pattern" || keyword === "maxLength" || keyword === "minLength") return node.type !== "array";
  return true;
}

/** A path with list indexes and map keys replaced by `*`, as `Bound.place` has it. */
function placeOf(path: FieldPath, schema: StructuralSchema): string {
  let node: StructuralSchema | undefined = schema;
  const place: string[] = [];
  for (const step of path) {
    const isProperty: boolean = typeof step === "string" && Object.hasOwn(node?.properties ?? {}, step);
    place.push(isProperty ? String(step) : "*");
    node = typeof step === "number" ? node?.items : fieldSchema(node, step);
  }
  return place.join(".");
}

export function isHit(bound: Bound, problem: Problem, schema: StructuralSchema): boolean {
  if (problem.code !== bound.code || placeOf(problem.path, schema) !== bound.place) return false;
  return bound.message === undefined || problem.message.startsWith(bound.message);
}

/** Places an object has a value at: an accepted object vouches for every bound there. */
export function placesOf(value: unknown, schema: StructuralSchema): ReadonlySet<string> {
  const places = new Set<string>();
  const visit = (part: unknown, path: FieldPath): void => {
    places.add(placeOf(path, schema));
    if (Array.isArray(part)) for (const [index, item] of part.entries()) visit(item, [...path, index]);
    else if (isRecord(part)) for (const [field, child] of Object.entries(part)) visit(child, [...path, field]);
  };
  visit(value, []);
  return places;
}
