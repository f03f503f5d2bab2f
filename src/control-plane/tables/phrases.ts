import { isRecord } from "../../api/object.ts";
import { at, listAt, textAt, textsAt } from "./read.ts";

/** `a=1,b=2`, keys in order. */
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

/** A label selector as one would type it after `-l`; empty when it selects everything or nothing. */
export function selectorText(selector: unknown): string {
  const expressions = listAt(selector, "matchExpressions").map((one) => ({
    key: textAt(one, "key"),
    text: expressionText(one),
  }));
  const labels = equalities(at(selector, "matchLabels")).map((text) => ({ key: text.split("=", 1)[0] ?? "", text }));
  return [...labels, ...expressions]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(",");
}

export function selectorPhrase(selector: unknown): string {
  return selectorText(selector) || "<none>";
}

function expressionText(expression: unknown): string {
  const key = textAt(expression, "key");
  const values = [...textsAt(expression, "values")].sort().join(",");
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

/** The names and images of the containers of a pod template. */
export function containersOf(podSpec: unknown): { readonly names: string; readonly images: string } {
  const containers = listAt(podSpec, "containers");
  return {
    names: containers.map((container) => textAt(container, "name")).join(","),
    images: containers.map((container) => textAt(container, "image")).join(","),
  };
}

/** At most `most` of them, and how many there are besides. */
export function firstFew(items: readonly string[], most: number): string {
  const shown = items.slice(0, most).join(",");
  return items.length > most ? `${shown} + ${items.length - most} more...` : shown;
}

export function trueFalse(value: unknown): string {
  return value === undefined || value === null ? "<unset>" : value === true ? "True" : "False";
}
