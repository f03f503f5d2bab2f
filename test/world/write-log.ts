import type { Journal, JournalEntry } from "../../src/control-plane/store/journal.ts";

/** One API write as the event log has it. */
export interface LoggedWrite {
  /** When, what and which, on one line, to see where two runs differ. */
  readonly line: string;
  /** The object as it was written; empty for a deletion. */
  readonly body: string;
}

/**
 * Every API write with its time: the fingerprint of a run. Two runs are equal when their logs are. (05:CP-T3, docs/designs/determinism.md)
 * It is a journal that stores nothing; the API server calls it for every write, in order.
 */
export class WriteLog implements Journal {
  readonly #now: () => number;
  readonly #onWrite: (write: LoggedWrite) => void;

  constructor({ now, onWrite }: { readonly now: () => number; readonly onWrite: (write: LoggedWrite) => void }) {
    this.#now = now;
    this.#onWrite = onWrite;
  }

  append(entry: JournalEntry): Promise<void> {
    const { op, revision, storage = "", key = "" } = entry;
    const line = `${this.#now()} ${revision} ${op} ${storage} ${key}`;
    this.#onWrite({ line, body: entry.op === "put" ? JSON.stringify(entry.object) : "" });
    return Promise.resolve();
  }
}
