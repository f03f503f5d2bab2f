import { Bitset } from "../../util/bitset.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import type { Requirements } from "../requirements.ts";
import type { RequirementId, RequirementTable } from "./requirement-table.ts";

/** In place of a requirement id: no requirement on the key. */
const noRequirement = -1;

/** Requirements of many instance types or offerings as bitmaps by label: matching is bit operations. (02 §10.3-4) */
export class LabelBitmaps {
  /** Every key with a requirement. */
  readonly keys: ReadonlySet<string>;
  readonly #all: readonly Requirements[];
  readonly #table: RequirementTable;
  readonly #idsByKey = new Map<string, Int32Array>();
  readonly #matching = new Map<RequirementId, Bitset>();
  readonly #allowingMissingLabel = new Map<string, Bitset>();

  private constructor(all: readonly Requirements[], { keys, table }: Pick<LabelBitmaps, "keys"> & LabelBitmapsOptions) {
    this.#all = all;
    this.keys = keys;
    this.#table = table;
  }

  static *create(all: readonly Requirements[], { table }: LabelBitmapsOptions): Steps<LabelBitmaps> {
    const keys = new Set<string>();
    yield* forEachInSteps(all, (requirements) => {
      for (const key of requirements.keys()) keys.add(key);
    });
    return new LabelBitmaps(all, { keys, table });
  }

  /** Reads every key now instead of during the pass. */
  *readAllKeys(): Steps<void> {
    for (const key of this.keys) {
      this.#idsOf(key);
      yield;
    }
  }

  /** Those whose requirement intersects, or that have none on the key. (02:R-25) */
  matching(id: RequirementId): Bitset {
    const known = this.#matching.get(id);
    if (known !== undefined) return known;
    const row = this.#bitmapOf(this.#table.keyOf(id), (own) => !this.#table.areDisjoint(own, id));
    this.#matching.set(id, row);
    return row;
  }

  /** Those that accept a node without the label. (02:R-26) */
  allowingMissingLabel(key: string): Bitset {
    const known = this.#allowingMissingLabel.get(key);
    if (known !== undefined) return known;
    const row = this.#bitmapOf(key, (own) => this.#table.get(own).isNegative);
    this.#allowingMissingLabel.set(key, row);
    return row;
  }

  /** There are few distinct requirements: each is checked once. */
  #bitmapOf(key: string, matches: (id: RequirementId) => boolean): Bitset {
    const ids = this.#idsOf(key);
    const checked = new Map<RequirementId, boolean>([[noRequirement, true]]);
    const row = Bitset.empty(ids.length);
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index] as RequirementId;
      const isMatch = checked.get(id) ?? matches(id);
      checked.set(id, isMatch);
      if (isMatch) row.add(index);
    }
    return row;
  }

  #idsOf(key: string): Int32Array {
    const known = this.#idsByKey.get(key);
    if (known !== undefined) return known;
    const ids = Int32Array.from(this.#all, (one) => (one.has(key) ? this.#table.idOf(one.get(key)) : noRequirement));
    this.#idsByKey.set(key, ids);
    return ids;
  }
}

interface LabelBitmapsOptions {
  readonly table: RequirementTable;
}
