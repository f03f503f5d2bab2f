import { labelPairs, labelSelectorText } from "../api/selectors/label-selector-text.ts";
import { itemsAt, textAt } from "../object-fields.ts";

/** `a=1,b=2`, sorted by key. */
export function labelsPhrase(labels: unknown): string {
  const pairs = labelPairs(labels);
  return pairs.length === 0 ? "<none>" : pairs.join(",");
}

export function selectorPhrase(selector: unknown): string {
  return labelSelectorText(selector) || "<none>";
}

/** The names and images of the containers of a pod template. */
export function containersOf(podSpec: unknown): { readonly names: string; readonly images: string } {
  const containers = itemsAt(podSpec, "containers");
  return {
    names: containers.map((container) => textAt(container, "name")).join(","),
    images: containers.map((container) => textAt(container, "image")).join(","),
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
