import type { RequirementItem } from "../kubernetes/pod.ts";
import { isRestrictedLabel, type LabelPolicy, normalizedKey } from "../label-policy.ts";
import type { FieldPath, Problem } from "../problem.ts";
import { requirementOperators } from "../vocabulary.ts";
import { labelValueError, qualifiedNameError, shortText } from "./names.ts";

/** The result of runtime validation: problems fail the object, notices are only logged. */
export interface ValidationReview {
  readonly problems: readonly Problem[];
  readonly notices: readonly Problem[];
}

const boundOperators: readonly string[] = ["Gt", "Lt", "Gte", "Lte"];
const maxInt64 = 2n ** 63n - 1n;

export interface RequirementRules {
  readonly policy: LabelPolicy;
  /** The path of the list in its object. */
  readonly path: FieldPath;
  /** Operators that need a value. In overlays also `NotIn`, because an empty one would select everything. (01 §1.4) */
  readonly needValues?: readonly string[];
}

/** The runtime checks of all items. (01 §4.2) */
export function reviewRequirements(items: readonly RequirementItem[], rules: RequirementRules): ValidationReview {
  const reviews = items.map((item, at) => reviewRequirement(item, { ...rules, path: [...rules.path, at] }));
  return {
    problems: reviews.flatMap(({ problems }) => problems),
    notices: reviews.flatMap(({ notices }) => notices),
  };
}

function reviewRequirement(written: RequirementItem, rules: RequirementRules): ValidationReview {
  const item = { ...written, key: normalizedKey(rules.policy, written.key) };
  const known = reviewKnownValues(item, rules);
  return {
    problems: [
      ...operatorProblems(item, rules),
      ...keyProblems(item, rules),
      ...known.problems,
      ...valueProblems(item, rules),
      ...countProblems(item, rules),
    ],
    notices: known.notices,
  };
}

function operatorProblems({ operator }: RequirementItem, { path }: RequirementRules): readonly Problem[] {
  if (requirementOperators.some((known) => known === operator)) return [];
  const message = `unknown operator ${JSON.stringify(shortText(operator))}${operator === "Out" ? "; did you mean NotIn?" : ""}`;
  return [
    { code: "unknown-operator", path: [...path, "operator"], message, expected: requirementOperators.join(", ") },
  ];
}

function keyProblems({ key }: RequirementItem, { policy, path }: RequirementRules): readonly Problem[] {
  const error = qualifiedNameError(key);
  return [
    ...(isRestrictedLabel(policy, key) ? [restrictedKeyProblem(key, [...path, "key"])] : []),
    ...(error === undefined ? [] : [invalidKeyProblem(key, error, [...path, "key"])]),
  ];
}

export function restrictedKeyProblem(key: string, path: FieldPath): Problem {
  const message = `label ${key} is restricted: Karpenter or its provider sets it; use a well-known label or one of your own domain`;
  return { code: "restricted-label", path, message, rule: "01 §3.1.3" };
}

export function invalidKeyProblem(key: string, error: string, path: FieldPath): Problem {
  return {
    code: "invalid-key",
    path,
    message: `key ${JSON.stringify(shortText(key))} is not a qualified name: ${error}`,
    rule: "01 §0.2",
  };
}

function valueProblems({ values = [] }: RequirementItem, { path }: RequirementRules): readonly Problem[] {
  return values.flatMap((value, at) => {
    const error = labelValueError(value);
    if (error === undefined) return [];
    const message = `${JSON.stringify(shortText(value))} is not a label value: ${error}`;
    return [{ code: "invalid-value" as const, path: [...path, "values", at], message, rule: "01 §0.2" }];
  });
}

function countProblems(item: RequirementItem, { path, needValues = ["In"] }: RequirementRules): readonly Problem[] {
  const { key, operator, values = [], minValues } = item;
  const at = [...path, "values"];
  const problems: Problem[] = [];
  if (needValues.includes(operator) && values.length === 0) {
    problems.push({
      code: "value-count",
      path: at,
      message: `${operator} on ${key} needs at least one value`,
      rule: "01:NP13",
    });
  }
  if (operator === "In" && minValues !== undefined && values.length < minValues) {
    const message = `minValues ${minValues} on ${key} cannot be met by ${values.length} listed values; list more or lower it`;
    problems.push({ code: "value-count", path: at, message, rule: "01:NP15" });
  }
  if (boundOperators.includes(operator) && !isOneWholeNumber(values)) {
    const message = `${operator} on ${key} needs exactly one value, a whole number from 0 to ${maxInt64}`;
    problems.push({ code: "value-count", path: at, message, rule: "01:NP14" });
  }
  return problems;
}

function isOneWholeNumber(values: readonly string[]): boolean {
  const [value = ""] = values;
  return values.length === 1 && /^\d{1,40}$/.test(value) && BigInt(value) <= maxInt64;
}

// One unknown value among known ones may come from a newer version; only unknown values can never match. (01 §4.2)
function reviewKnownValues(item: RequirementItem, { policy, path }: RequirementRules): ValidationReview {
  const { key, operator, values = [], minValues } = item;
  const known = Object.hasOwn(policy.knownValues, key) ? policy.knownValues[key] : undefined;
  if (known === undefined || operator !== "In" || values.length === 0) return { problems: [], notices: [] };
  const aliases = new Map(Object.entries(policy.valueAliases[key] ?? {}));
  const spelled = (value: string) => aliases.get(value) ?? value;
  const unknown = values.filter((value) => !known.includes(spelled(value)));
  const about = {
    code: "unknown-value",
    path: [...path, "values"],
    expected: known.join(", "),
    rule: "01 §4.2",
  } as const;
  const names = unknown.map(shortText).join(", ");
  if (unknown.length === values.length) {
    return { problems: [{ ...about, message: `none of the values of ${key} is known: ${names}` }], notices: [] };
  }
  const knownCount = values.length - unknown.length;
  const notices = unknown.length === 0 ? [] : [{ ...about, message: `unknown values of ${key} are ignored: ${names}` }];
  if (minValues === undefined || knownCount >= minValues) return { problems: [], notices };
  return {
    problems: [{ ...about, message: `minValues ${minValues} on ${key} cannot be met by ${knownCount} known values` }],
    notices,
  };
}
