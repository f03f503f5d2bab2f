import { Bitset } from "../../util/bitset.ts";
import { each, type Steps } from "../../util/steps.ts";
import type { Requirements } from "../requirements.ts";
import type { RequirementId, RequirementTable } from "./requirement-table.ts";

/** In place of a requirement: nothing is said of the key. */
const silent = -1;

/** What many things say of labels, laid out so that "which of them suit a requirement" is bits. (02 §10.3-4) */
export class LabelRows {
  /** Every key one of them speaks of. */
  readonly keys: ReadonlySet<string>;
  readonly #all: readonly Requirements[];
  readonly #table: RequirementTable;
  readonly #idsBy = new Map<string, Int32Array>();
  readonly #suiting = new Map<RequirementId, Bitset>();
  readonly #contentWithout = new Map<string, Bitset>();

  private constructor(all: readonly Requirements[], { keys, table }: Pick<LabelRows, "keys"> & Tables) {
    this.#all = all;
    this.keys = keys;
    this.#table = table;
  }

  static *opening(all: readonly Requirements[], { table }: Tables): Steps<LabelRows> {
    const keys = new Set<string>();
    yield* each(all, (requirements) => {
      for (const key of requirements.keys()) keys.add(key);
    });
    return new LabelRows(all, { keys, table });
  }

  /** Reads everything now: later there is less time. */
  *reading(): Steps<void> {
    for (const key of this.keys) {
      this.#idsOf(key);
      yield;
    }
  }

  /** Those with a value in common with a requirement, or silent on its key. (02:R-25) */
  suiting(id: RequirementId): Bitset {
    const known = this.#suiting.get(id);
    if (known !== undefined) return known;
    const row = this.#row(this.#table.keyOf(id), (own) => !this.#table.areDisjoint(own, id));
    this.#suiting.set(id, row);
    return row;
  }

  /** Those that do not mind a node without the label. (02:R-26) */
  contentWithout(key: string): Bitset {
    const known = this.#contentWithout.get(key);
    if (known !== undefined) return known;
    const row = this.#row(key, (own) => this.#table.get(own).isNegative);
    this.#contentWithout.set(key, row);
    return row;
  }

  /** There are few distinct requirements: each is judged once. */
  #row(key: string, suits: (id: RequirementId) => boolean): Bitset {
    const ids = this.#idsOf(key);
    const judged = new Map<RequirementId, boolean>([[silent, true]]);
    const row = Bitset.empty(ids.length);
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index] as RequirementId;
      const isSuited = judged.get(id) ?? suits(id);
      judged.set(id, isSuited);
      if (isSuited) row.add(index);
    }
    return row;
  }

  #idsOf(key: string): Int32Array {
    const known = this.#idsBy.get(key);
    if (known !== undefined) return known;
    const ids = Int32Array.from(this.#all, (one) => (one.has(key) ? this.#table.idOf(one.get(key)) : silent));
    this.#idsBy.set(key, ids);
    return ids;
  }
}

interface Tables {
  readonly table: RequirementTable;
}
