import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import { fieldSchema, type StructuralSchema } from "./schema.ts";

/** What a rule may cost at most by its schema, and all rules of a schema together, as in Kubernetes. (05:CP-S3) */
export const estimatedCostLimits = { perRule: 10_000_000, perSchema: 100_000_000 } as const;

const maxRequestBytes = 3 * 1024 * 1024;

/** The estimated cost of one rule and where it is. */
export interface RuleEstimate {
  readonly path: FieldPath;
  readonly cost: number;
}

/**
 * The most each rule of a schema can cost: what it costs once, times how often its part of the schema can occur in an
 * object. Texts are left out, so the estimate is never above that of Kubernetes. Rules that cannot be parsed are left out too.
 */
export function estimateRules(
  schema: StructuralSchema,
  parse: (expression: string) => unknown,
): readonly RuleEstimate[] {
  const estimates: RuleEstimate[] = [];
  const visit = (node: StructuralSchema, path: FieldPath, occurrences: number): void => {
    for (const [index, { rule }] of (node["x-kubernetes-validations"] ?? []).entries()) {
      const root = parse(rule);
      const scope = new Map([
        ["self", node],
        ["oldSelf", node],
      ]);
      const cost = root === undefined ? 0 : estimate(root, scope).cost;
      estimates.push({ path: [...path, "x-kubernetes-validations", index, "rule"], cost: cost * occurrences });
    }
    for (const [field, child] of Object.entries(node.properties ?? {}))
      visit(child, [...path, "properties", field], occurrences);
    const { items, additionalProperties } = node;
    const within = (child: StructuralSchema) => Math.min(occurrences * maxElements(node), mostOccurrences(child));
    if (items !== undefined) visit(items, [...path, "items"], within(items));
    if (typeof additionalProperties === "object")
      visit(additionalProperties, [...path, "additionalProperties"], within(additionalProperties));
  };
  visit(schema, [], 1);
  return estimates;
}

/** How often a value of this schema fits into the largest request. */
function mostOccurrences(schema: StructuralSchema): number {
  return Math.floor(maxRequestBytes / (minBytes(schema) + 1));
}

/** How many items or fields a value can have. */
function maxElements({ items, additionalProperties, maxItems, maxProperties }: StructuralSchema): number {
  if (items !== undefined) return maxItems ?? mostOccurrences(items);
  if (typeof additionalProperties !== "object") return 1;
  return maxProperties ?? Math.floor(maxRequestBytes / (minBytes(additionalProperties) + 6));
}

/** The shortest JSON of a value. */
function minBytes(schema: StructuralSchema): number {
  const { type, properties = {}, required = [] } = schema;
  if (type === "integer" || type === "number" || schema["x-kubernetes-int-or-string"] === true) return 1;
  if (type === "boolean") return 4;
  return required.reduce((sum, field) => {
    const child = Object.hasOwn(properties, field) ? properties[field] : undefined;
    return child === undefined || child.default !== undefined ? sum : sum + field.length + 4 + minBytes(child);
  }, 2);
}

interface Estimate {
  readonly cost: number;
  /** The schema of the value, where it is known. */
  readonly schema?: StructuralSchema | undefined;
}

type Scope = ReadonlyMap<string, StructuralSchema | undefined>;

interface Comprehension {
  readonly iterable: unknown;
  readonly iterVarName: string;
  readonly step: unknown;
}

function estimate(part: unknown, scope: Scope): Estimate {
  if (Array.isArray(part)) return { cost: sumOf(part, scope) };
  if (!isRecord(part) || typeof part["op"] !== "string") return { cost: 0 };
  const { op, args, meta } = part;
  const alternate = isRecord(meta) ? meta["alternate"] : undefined;
  if (alternate !== undefined) return estimate(alternate, scope);
  switch (op) {
    case "value":
      return { cost: 0 };
    case "id":
      return { cost: 1, schema: scope.get(String(args)) };
    case ".":
    case "[]":
      return access(args as readonly unknown[], scope);
    case "comprehension":
      return loop(args as Comprehension, scope);
    default:
      return { cost: 1 + sumOf(Array.isArray(args) ? args : [args], scope) };
  }
}

function sumOf(parts: readonly unknown[], scope: Scope): number {
  return parts.reduce<number>((sum, part) => sum + estimate(part, scope).cost, 0);
}

function access([left, right]: readonly unknown[], scope: Scope): Estimate {
  const { cost, schema } = estimate(left, scope);
  const field = typeof right === "string" ? right : undefined;
  const child = field === undefined ? elementOf(schema) : fieldSchema(schema, field);
  return { cost: cost + 1 + (field === undefined ? estimate(right, scope).cost : 0), schema: child };
}

function elementOf(schema: StructuralSchema | undefined): StructuralSchema | undefined {
  const additional = schema?.additionalProperties;
  return schema?.items ?? (typeof additional === "object" ? additional : undefined);
}

/** `all`, `exists`, `map` and `filter`; what `filter` leaves is still a list of the same items. */
function loop({ iterable, iterVarName, step }: Comprehension, scope: Scope): Estimate {
  const range = estimate(iterable, scope);
  const count = range.schema === undefined ? 1 : maxElements(range.schema);
  // The names of a map's fields are texts, about which nothing is known.
  const inner = new Map(scope).set(iterVarName, range.schema?.items);
  return { cost: range.cost + count * (1 + estimate(step, inner).cost), schema: range.schema };
}
