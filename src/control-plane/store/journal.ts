import type { KubeObject } from "../../api/object.ts";

/** One write, as it is kept on disk. (05:CP-T5) */
export type JournalEntry =
  | {
      readonly op: "put";
      readonly revision: number;
      readonly storage: string;
      readonly key: string;
      readonly object: KubeObject;
    }
  | { readonly op: "delete"; readonly revision: number; readonly storage: string; readonly key: string }
  /** How far the counter has come: the last write may have been a deletion, of which a snapshot knows nothing. */
  | { readonly op: "revision"; readonly revision: number; readonly storage?: undefined; readonly key?: undefined };

/** Keeps writes before they are acknowledged. Entries arrive in order of revision. */
export interface Journal {
  /** Resolves when the entry is safe, in the order of the calls; a rejection makes the store refuse all later writes. */
  append(entry: JournalEntry): Promise<void>;
}
