import type { KubeObject } from "../../api/object.ts";

/** One write in the journal. (05:CP-T5) */
export type JournalEntry =
  | {
      readonly op: "put";
      readonly revision: number;
      readonly storage: string;
      readonly key: string;
      readonly object: KubeObject;
    }
  | { readonly op: "delete"; readonly revision: number; readonly storage: string; readonly key: string }
  /** The revision counter: a snapshot does not contain the last write if that was a deletion. */
  | { readonly op: "revision"; readonly revision: number; readonly storage?: undefined; readonly key?: undefined };

/** Persists writes before they are acknowledged. Entries arrive in order of revision. */
export interface Journal {
  /** Resolves when the entry is durable, in call order. */
  append(entry: JournalEntry): Promise<void>;
  /** Why nothing can be written any more; absent or undefined: it can. */
  refusal?(): unknown;
  /**
   * The listener is called when no entry that is not durable yet ever will be, before their promises reject. Absent if
   * the journal never fails.
   */
  onFailure?(listener: () => void): void;
}
