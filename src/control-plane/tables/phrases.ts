import { isRecord } from "../../api/object.ts";
import { fieldAt, itemsAt, stringsAt, textOrEmpty } from "./object-fields.ts";

/** `a=1,b=2`, sorted by key. */
export function labelsPhrase(labels: unknown): string {
  const pairs = equalities(labels);
  return pairs.length === 0 ? "<none>" : pairs.join(",");
}

function equalities(labels: unknown): readonly string[] {
  if (!isRecord(labels)) return [];
  return Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`);
}

/** A label selector as one would type it after `-l`; empty if it selects everything or nothing. */
export function labelSelectorText(selector: unknown): string {
  const expressions = itemsAt(selector, "matchExpressions").map((one) => ({
    key: textOrEmpty(one, "key"),
    text: expressionText(one),
  }));
  const labels = equalities(fieldAt(selector, "matchLabels")).map((text) => ({
    key: text.split("=", 1)[0] ?? "",
    text,
  }));
  return [...labels, ...expressions]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(",");
}

export function selectorPhrase(selector: unknown): string {
  return labelSelectorText(selector) || "<none>";
}

function expressionText(expression: unknown): string {
  const key = textOrEmpty(expression, "key");
  const values = [...stringsAt(expression, "values")].sort().join(",");
  switch (textOrEmpty(expression, "operator")) {
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

/** The names and images of the containers of a pod template. */
export function containersOf(podSpec: unknown): { readonly names: string; readonly images: string } {
  const containers = itemsAt(podSpec, "containers");
  return {
    names: containers.map((container) => textOrEmpty(container, "name")).join(","),
    images: containers.map((container) => textOrEmpty(container, "image")).join(","),
  };
}

/** The first `most` of them, and how many more there are. */
export function firstAndMore(items: readonly string[], most: number): string {
  const shown = items.slice(0, most).join(",");
  return items.length > most ? `${shown} + ${items.length - most} more...` : shown;
}

export function trueFalseText(value: unknown): string {
  return value === undefined || value === null ? "<unset>" : value === true ? "True" : "False";
}
