import { labels, legacyNames } from "../labels.ts";
import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import { type ConversionDraft, valueText } from "./conversion-draft.ts";

/** Keys without meaning in v1: every node of the pool matches the first, and no node has the second. */
const droppedKeys: ReadonlyMap<unknown, string> = new Map([
  [legacyNames.provisionerName, `every node of the pool carries ${labels.nodePool} instead`],
  [legacyNames.instancePods, "v1beta1 removed the label"],
]);

/** Requirements of any older version: the list is kept, operators that never existed are read as what was meant. */
export function convertRequirements(
  draft: ConversionDraft,
  { from, to }: { readonly from: FieldPath; readonly to: FieldPath },
): void {
  const items = draft.sourceValue(from);
  if (!Array.isArray(items)) {
    draft.copyField(from, to);
    return;
  }
  const kept: unknown[] = [];
  items.forEach((item: unknown, index) => {
    const path = [...from, index];
    const reason = isRecord(item) ? droppedKeys.get(item["key"]) : undefined;
    if (isRecord(item) && reason !== undefined) {
      const message = `dropped the requirement on ${valueText(item["key"])}: ${reason}`;
      draft.warn({ code: "field-dropped", path, message, advice: "remove it" });
      return;
    }
    draft.moves.push({ from: path, to: [...to, kept.length] });
    kept.push(withKnownOperator(draft, item, path));
  });
  draft.setField(to, kept, from);
}

/** Some documents use an operator `Out`, which never existed. (01 §7.9) */
function withKnownOperator(draft: ConversionDraft, item: unknown, path: FieldPath): unknown {
  if (!isRecord(item) || item["operator"] !== "Out") return structuredClone(item);
  draft.assume({
    code: "operator-assumed",
    path: [...path, "operator"],
    message: "the operator Out does not exist; read it as NotIn",
    advice: "write NotIn",
    strictProblem: {
      code: "unknown-operator",
      rule: "01 §4.1",
      message: "unknown operator Out; did you mean NotIn?",
      expected: "NotIn",
    },
  });
  return { ...structuredClone(item), operator: "NotIn" };
}
