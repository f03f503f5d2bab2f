import type { KubeObject } from "../../api/object.ts";

/** One committed write. */
export interface StoreChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: number;
  readonly key: string;
  /** The object after the write; for a deletion its last state, with the resourceVersion of the deletion. */
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

/** The latest changes of a collection, for watches to resume. */
export class ChangeLog {
  readonly #windowSize: number;
  #changes: StoreChange[] = [];
  /** Changes up to this revision are no longer kept. */
  #forgottenTo = 0;

  constructor(windowSize: number) {
    this.#windowSize = windowSize;
  }

  append(change: StoreChange): void {
    this.#changes.push(change);
    if (this.#changes.length < this.#windowSize * 2) return;
    const dropped = this.#changes.length - this.#windowSize;
    this.#forgottenTo = (this.#changes[dropped - 1] as StoreChange).revision;
    this.#changes = this.#changes.slice(dropped);
  }

  /** After a restart the log is empty. */
  forgetTo(revision: number): void {
    this.#changes = this.#changes.filter((change) => change.revision > revision);
    this.#forgottenTo = Math.max(this.#forgottenTo, revision);
  }

  /** The changes after a revision; undefined if they are no longer kept. */
  since(revision: number): readonly StoreChange[] | undefined {
    if (revision < this.#forgottenTo) return undefined;
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle] as StoreChange).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#changes.slice(low);
  }
}
