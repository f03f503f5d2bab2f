import { isRecord } from "../object.ts";
import type { FieldPath, Problem } from "../problem.ts";
import { type CelPrograms, toCel } from "./cel.ts";
import { type CelRule, fieldSchema, type StructuralSchema } from "./schema.ts";

export interface RuleInput {
  readonly object: unknown;
  /** The stored object on update: transition rules run only then. */
  readonly old?: unknown;
  readonly schema: StructuralSchema;
}

/** Layer C: every CEL rule of the schema that fails. Only for objects that passed the schema itself. (01 §0.1) */
export function validateRules({ object, old, schema }: RuleInput, programs: CelPrograms): readonly Problem[] {
  const problems: Problem[] = [];
  const visit = (value: unknown, before: unknown, node: StructuralSchema, path: FieldPath): void => {
    for (const rule of node["x-kubernetes-validations"] ?? []) {
      const problem = ruleProblem(rule, { value, before, node, path }, programs);
      if (problem !== undefined) problems.push(problem);
    }
    if (!hasRulesBelow(node)) return;
    if (Array.isArray(value) && node.items !== undefined) {
      const counterpart = correlate(before, node);
      for (const [index, item] of value.entries()) visit(item, counterpart(item), node.items, [...path, index]);
    } else if (isRecord(value)) {
      for (const field of Object.keys(value)) {
        const child = fieldSchema(node, field);
        const earlier = isRecord(before) && Object.hasOwn(before, field) ? before[field] : undefined;
        if (child !== undefined) visit(value[field], earlier, child, [...path, field]);
      }
    }
  };
  visit(object, old, schema, []);
  return problems;
}

function ruleProblem(
  rule: CelRule,
  { value, before, node, path }: { value: unknown; before: unknown; node: StructuralSchema; path: FieldPath },
  programs: CelPrograms,
): Problem | undefined {
  const isTransition = /\boldSelf\b/.test(rule.rule);
  if (isTransition && before === undefined) return undefined;
  const context: Record<string, unknown> = { self: toCel(value, node) };
  if (isTransition) context["oldSelf"] = toCel(before, node);
  const outcome = programs.evaluate(rule.rule, context);
  if (outcome.kind === "value" && outcome.value === true) return undefined;
  const reason = outcome.kind === "error" ? ` (${outcome.because})` : "";
  const message = (rule.message ?? `failed rule: ${rule.rule}`) + reason;
  const problem: Problem = { code: "rule", path: [...path, ...fieldSteps(rule.fieldPath)], message };
  return rule.id === undefined ? problem : { ...problem, rule: `01:${rule.id}` };
}

/** The old item of a list item for transition rules; only lists with keys have one. */
function correlate(before: unknown, node: StructuralSchema): (item: unknown) => unknown {
  const keys = node["x-kubernetes-list-map-keys"];
  if (node["x-kubernetes-list-type"] !== "map" || keys === undefined || !Array.isArray(before)) return () => undefined;
  const identity = (item: unknown): string =>
    JSON.stringify(keys.map((key) => (isRecord(item) ? item[key] : undefined)));
  const byKey = new Map(before.map((item) => [identity(item), item as unknown]));
  return (item) => byKey.get(identity(item));
}

/** Most parts of a schema have no rules; skipping them keeps admission fast. */
function hasRulesBelow(node: StructuralSchema): boolean {
  const children = [...Object.values(node.properties ?? {}), node.items, node.additionalProperties];
  return children.some(
    (child) => typeof child === "object" && (child["x-kubernetes-validations"] !== undefined || hasRulesBelow(child)),
  );
}

function fieldSteps(fieldPath: string | undefined): FieldPath {
  return fieldPath === undefined ? [] : fieldPath.split(".").filter((step) => step !== "");
}
