import type { KubeObject } from "../../../api/object.ts";
import type { ServedKind } from "../../kinds/served-kind.ts";
import type { Collection } from "../../store/collection.ts";
import { type FieldTerm, matchesFields, parseFieldSelector } from "./field-selector.ts";
import { type LabelMatcher, parseLabelSelector } from "./label-selector.ts";

export interface SelectionOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** The objects a list or watch selects. */
export class Selection {
  readonly namespace: string | undefined;
  readonly #labels: LabelMatcher;
  readonly #fields: readonly FieldTerm[];
  readonly #isEverything: boolean;

  constructor(kind: ServedKind, options: SelectionOptions) {
    this.namespace = kind.namespaced && options.namespace !== "" ? options.namespace : undefined;
    this.#labels = parseLabelSelector(options.labelSelector);
    this.#fields = parseFieldSelector(options.fieldSelector, kind);
    this.#isEverything =
      this.namespace === undefined && this.#fields.length === 0 && (options.labelSelector ?? "").trim() === "";
  }

  matches(object: KubeObject): boolean {
    if (this.#isEverything) return true;
    if (this.namespace !== undefined && object.metadata.namespace !== this.namespace) return false;
    return this.#labels(object.metadata.labels) && matchesFields(object, this.#fields);
  }

  /** Every selected key begins with it. */
  get keyPrefix(): string {
    return this.namespace === undefined ? "" : `${this.namespace}/`;
  }

  /** Selected objects of a collection, by key, from a key on. Pods of a node are found by an index. */
  select(collection: Collection, from = ""): readonly (readonly [string, KubeObject])[] {
    const exact = this.#fields.find(({ isEqual, field }) => isEqual && field === "spec.nodeName");
    const indexed = exact && collection.indexed(exact.field, exact.value);
    if (indexed !== undefined) return indexed.filter(([key, object]) => key >= from && this.matches(object));
    const selected: (readonly [string, KubeObject])[] = [];
    collection.scan({ prefix: this.keyPrefix, from }, (key, object) => {
      if (this.matches(object)) selected.push([key, object]);
    });
    return selected;
  }
}
