import { isRecord } from "../object.ts";
import type { FieldPath, Problem } from "../problem.ts";
import { type CelPrograms, toCel } from "./cel.ts";
import { celCostLimits } from "./cel-cost.ts";
import { type CelRule, fieldSchema, type StructuralSchema } from "./schema.ts";

export interface RuleInput {
  readonly object: unknown;
  /** The stored object on update: transition rules run only then. */
  readonly old?: unknown;
  readonly schema: StructuralSchema;
}

/** Layer C: every CEL rule of the schema that fails. Only for objects that passed the schema itself. (01 §0.1) */
export function validateRules({ object, old, schema }: RuleInput, programs: CelPrograms): readonly Problem[] {
  const check = new RuleCheck(programs);
  check.visit({ value: object, before: old, node: schema, path: [] });
  return check.problems;
}

/** A value, its old value and its schema. */
interface RuleTarget {
  readonly value: unknown;
  readonly before: unknown;
  readonly node: StructuralSchema;
  readonly path: FieldPath;
}

class RuleCheck {
  readonly problems: Problem[] = [];
  readonly #programs: CelPrograms;
  #budget: number = celCostLimits.perObject;
  #isStopped = false;

  constructor(programs: CelPrograms) {
    this.#programs = programs;
  }

  visit(target: RuleTarget): void {
    const { value, before, node, path } = target;
    this.#checkRules(target);
    if (!this.#programs.hasRulesBelow(node)) return;
    if (Array.isArray(value) && node.items !== undefined) {
      const counterpart = correlate(before, node);
      for (const [index, item] of value.entries()) {
        if (this.#isStopped) return;
        this.visit({ value: item, before: counterpart(item), node: node.items, path: [...path, index] });
      }
    } else if (isRecord(value)) {
      for (const field of Object.keys(value)) {
        if (this.#isStopped) return;
        const child = fieldSchema(node, field);
        const earlier = isRecord(before) && Object.hasOwn(before, field) ? before[field] : undefined;
        if (child !== undefined)
          this.visit({ value: value[field], before: earlier, node: child, path: [...path, field] });
      }
    }
  }

  #checkRules({ value, before, node, path }: RuleTarget): void {
    const rules = (node["x-kubernetes-validations"] ?? []).filter(
      ({ rule }) => before !== undefined || !isTransition(rule),
    );
    if (rules.length === 0) return;
    const context: Record<string, unknown> = { self: this.#toCel(value, node) };
    if (before !== undefined && rules.some(({ rule }) => isTransition(rule)))
      context["oldSelf"] = this.#toCel(before, node);
    for (const rule of rules) {
      if (this.#budget < 0) this.#stop(path, budgetExhausted);
      if (this.#isStopped) return;
      this.#checkRule(rule, context, path);
    }
  }

  /** Converting a large value at many levels costs as much as the rules do. */
  #toCel(value: unknown, node: StructuralSchema): unknown {
    const converted = { values: 0 };
    const made = toCel(value, node, converted);
    this.#budget -= converted.values * 3;
    return made;
  }

  /** No further rule is run. */
  #stop(path: FieldPath, message: string): void {
    if (!this.#isStopped) this.problems.push({ code: "rule", path, message });
    this.#isStopped = true;
  }

  #checkRule(rule: CelRule, context: Record<string, unknown>, path: FieldPath): void {
    const { perRule } = celCostLimits;
    const { outcome, cost } = this.#programs.evaluate(rule.rule, context, Math.min(perRule, this.#budget));
    const isBudgetLower = this.#budget < perRule;
    this.#budget -= cost;
    if (outcome.kind === "value" && outcome.value === true) return;
    if (outcome.kind === "over-budget") {
      this.#stop(path, isBudgetLower ? budgetExhausted : `${ruleCancelled}: ${rule.message ?? rule.rule}`);
      return;
    }
    const reason = outcome.kind === "error" ? ` (${outcome.because})` : "";
    const message = (rule.message ?? `failed rule: ${rule.rule}`) + reason;
    const problem: Problem = { code: "rule", path: [...path, ...fieldSteps(rule.fieldPath)], message };
    this.problems.push(rule.id === undefined ? problem : { ...problem, rule: `01:${rule.id}` });
  }
}

/** The words of Kubernetes. */
const ruleCancelled =
  "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule";
const budgetExhausted = "validation failed due to running out of cost budget, no further validation rules will be run";

function isTransition(rule: string): boolean {
  return /\boldSelf\b/.test(rule);
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

function fieldSteps(fieldPath: string | undefined): FieldPath {
  return fieldPath === undefined ? [] : fieldPath.split(".").filter((step) => step !== "");
}
