import { isRecord } from "../../../api/object.ts";
import { fieldAt, itemsAt, stringsAt, textAt } from "../../object-fields.ts";

/** A label selector as one would type it after `-l`; empty if it selects everything or nothing. */
export function labelSelectorText(selector: unknown): string {
  const expressions = itemsAt(selector, "matchExpressions").map((one) => ({
    key: textAt(one, "key"),
    text: expressionText(one),
  }));
  const labels = labelPairs(fieldAt(selector, "matchLabels")).map((text) => ({
    key: text.split("=", 1)[0] ?? "",
    text,
  }));
  return [...labels, ...expressions]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(",");
}

/** `key=value` of each label, sorted by key. */
export function labelPairs(labels: unknown): readonly string[] {
  if (!isRecord(labels)) return [];
  return Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`);
}

function expressionText(expression: unknown): string {
  const key = textAt(expression, "key");
  const values = [...stringsAt(expression, "values")].sort().join(",");
  switch (textAt(expression, "operator")) {
    case "In":
      return `${key} in (${values})`;
    case "NotIn":
      return `${key} notin (${values})`;
    case "Exists":
      return key;
    default:
      return `!${key}`;
  }
}
