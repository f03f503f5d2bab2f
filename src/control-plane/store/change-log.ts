import type { KubeObject } from "../../api/object.ts";

/** One committed write. */
export interface StoreChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: number;
  readonly key: string;
  /** As it is now; for a deletion as it last was, with the deletion's resourceVersion. */
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

/** The latest changes of a collection, for watches to resume. */
export class ChangeLog {
  readonly #windowSize: number;
  #changes: StoreChange[] = [];
  /** Changes up to here are forgotten. */
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

  /** What happened after a revision, or undefined where that is no longer known. */
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
