import { isRecord } from "../object.ts";
import { formatPath, type Problem } from "../problem.ts";
import { fieldPath, valueAt } from "./conversion-draft.ts";

/** Problems of objects that need no conversion. */

/** v1 pools with fields of older versions: the schema would only report unknown and missing fields. */
export function v1MistakeProblems(object: unknown): readonly Problem[] {
  if (!isRecord(object) || object["kind"] !== "NodePool") return [];
  return [...misplacedClassRefProblems(object), ...operatorOutProblems(object)];
}

function misplacedClassRefProblems(object: unknown): readonly Problem[] {
  const wrong = fieldPath("spec.nodeClassRef");
  const right = fieldPath("spec.template.spec.nodeClassRef");
  if (valueAt(object, wrong) === undefined || valueAt(object, right) !== undefined) return [];
  const message = `${formatPath(wrong)} is not a field of a NodePool; the reference belongs at ${formatPath(right)}`;
  return [{ code: "unknown-field", rule: "01 §1.2", path: wrong, message, expected: formatPath(right) }];
}

function operatorOutProblems(object: unknown): readonly Problem[] {
  const path = fieldPath("spec.template.spec.requirements");
  const items = valueAt(object, path);
  if (!Array.isArray(items)) return [];
  return items.flatMap((item, index): Problem[] => {
    if (!isRecord(item) || item["operator"] !== "Out") return [];
    const message = "unknown operator Out; did you mean NotIn?";
    return [
      { code: "unknown-operator", rule: "01 §4.1", path: [...path, index, "operator"], message, expected: "NotIn" },
    ];
  });
}

/** A Pod without a name or containers is an excerpt from documentation, not a complete object. (01 §7.9 M18) */
export function incompletePodProblems(object: unknown): readonly Problem[] {
  if (!isRecord(object) || object["apiVersion"] !== "v1" || object["kind"] !== "Pod") return [];
  const named = valueAt(object, fieldPath("metadata.name")) ?? valueAt(object, fieldPath("metadata.generateName"));
  const containers = valueAt(object, fieldPath("spec.containers"));
  const problems: Problem[] = [];
  if (named === undefined) {
    problems.push({
      code: "required",
      rule: "01 §7.9",
      path: fieldPath("metadata.name"),
      message: "is required: this is a fragment, not a complete Pod",
      expected: "a name",
    });
  }
  if (!Array.isArray(containers) || containers.length === 0) {
    const message = "is required: this is a fragment, not a complete Pod";
    problems.push({
      code: "required",
      rule: "01 §7.9",
      path: fieldPath("spec.containers"),
      message,
      expected: "at least one container",
    });
  }
  return problems;
}
