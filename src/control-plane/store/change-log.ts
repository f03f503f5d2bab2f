import type { KubeObject } from "../../api/object.ts";
import type { Clock } from "../../util/clock.ts";

/** One committed write. */
export interface StoreChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: number;
  readonly key: string;
  /** The object after the write; for a deletion its last state, with the resourceVersion of the deletion. */
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
  /** About how many bytes of memory the object takes. */
  readonly memory: number;
}

/** The latest changes of a collection, for watches to resume. */
export class ChangeLog {
  readonly #windowSize: number;
  readonly #history: ChangeHistory;
  #changes: StoreChange[] = [];
  /** Changes up to this revision are no longer kept. */
  #forgottenTo = 0;

  constructor(options: { readonly windowSize: number; readonly history: ChangeHistory }) {
    this.#windowSize = options.windowSize;
    this.#history = options.history;
  }

  append(change: StoreChange): void {
    this.#changes.push(change);
    this.#history.add(this, change);
    if (this.#changes.length < this.#windowSize * 2) return;
    const last = this.#changes[this.#changes.length - this.#windowSize - 1] as StoreChange;
    this.forgetTo(last.revision);
  }

  /** Forgets changes up to a revision; after a restart the log is empty. */
  forgetTo(revision: number): void {
    const kept = this.#after(revision);
    for (const change of this.#changes.slice(0, kept)) this.#history.onForgotten(change);
    this.#changes = this.#changes.slice(kept);
    this.#forgottenTo = Math.max(this.#forgottenTo, revision);
  }

  /** The changes after a revision; undefined if they are no longer kept. */
  since(revision: number): readonly StoreChange[] | undefined {
    return revision < this.#forgottenTo ? undefined : this.#changes.slice(this.#after(revision));
  }

  keeps(revision: number): boolean {
    return revision > this.#forgottenTo;
  }

  /** The index of the first change after a revision. */
  #after(revision: number): number {
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle] as StoreChange).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

interface HistoryEntry {
  readonly log: ChangeLog;
  readonly revision: number;
  readonly memory: number;
  readonly atMs: number;
}

export interface ChangeHistoryOptions {
  readonly maxMemory: number;
  /** Tells how old changes are; without it they are kept whatever their age. */
  readonly clock?: Clock | undefined;
}

/** Real servers compact etcd every five minutes; longer here, as in an accelerated sandbox clients seem slow. */
const maxAgeMs = 30 * 60_000;

/**
 * How old the changes of all collections may be, and how much memory they may take together; the oldest go first.
 * (05:CP-S3)
 */
export class ChangeHistory {
  readonly #maxMemory: number;
  readonly #clock: Clock | undefined;
  /** In order of revision; entries whose log has forgotten them already are removed now and then. */
  #entries: HistoryEntry[] = [];
  #kept = 0;
  #memory = 0;

  constructor({ maxMemory, clock }: ChangeHistoryOptions) {
    this.#maxMemory = maxMemory;
    this.#clock = clock;
  }

  add(log: ChangeLog, { revision, memory }: StoreChange): void {
    const now = this.#clock?.now() ?? 0;
    this.#entries.push({ log, revision, memory, atMs: now });
    this.#kept += 1;
    this.#memory += memory;
    if (this.#memory > this.#maxMemory) this.#forgetQuarter();
    // All of an interval at once, because a log copies what it keeps.
    if (now - (this.#entries[0]?.atMs ?? now) > 2 * maxAgeMs) this.#forgetWhile(({ atMs }) => now - atMs > maxAgeMs);
    if (this.#entries.length > 2 * this.#kept + 1000) this.#removeForgotten();
  }

  /** Called by a log for every change it forgets. */
  onForgotten({ memory }: StoreChange): void {
    this.#kept -= 1;
    this.#memory -= memory;
  }

  /** A quarter at once, because a log copies what it keeps. */
  #forgetQuarter(): void {
    this.#removeForgotten();
    let memory = this.#memory;
    this.#forgetWhile((entry) => {
      if (memory <= this.#maxMemory * 0.75) return false;
      memory -= entry.memory;
      return true;
    });
  }

  /** Forgets from the oldest on. The latest change always stays. */
  #forgetWhile(isTooMuch: (entry: HistoryEntry) => boolean): void {
    const forgottenTo = new Map<ChangeLog, number>();
    for (const entry of this.#entries.slice(0, -1)) {
      if (!isTooMuch(entry)) break;
      forgottenTo.set(entry.log, entry.revision);
    }
    for (const [log, revision] of forgottenTo) log.forgetTo(revision);
    this.#removeForgotten();
  }

  #removeForgotten(): void {
    this.#entries = this.#entries.filter(({ log, revision }) => log.keeps(revision));
  }
}
