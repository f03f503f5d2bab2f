/**
 * Gives equal values one object: ten thousand replicas share one list of containers. Entries that were not used while
 * `limit` others were are dropped, so that the table stays small.
 */
export class Interner {
  readonly #limit: number;
  #recent = new Map<string, unknown>();
  #older = new Map<string, unknown>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The value of this key, which must identify it completely; never undefined. */
  intern<T>(text: string, make: () => T): T {
    const known = this.#recent.get(text);
    if (known !== undefined) return known as T;
    const found = (this.#older.get(text) as T | undefined) ?? make();
    if (this.#recent.size >= this.#limit) [this.#older, this.#recent] = [this.#recent, new Map()];
    this.#recent.set(text, found);
    return found;
  }

  /** One copy of a text. */
  internText<T extends string | undefined>(text: T): T {
    return text === undefined ? text : this.intern(text, () => text);
  }

  /** One copy of a JSON value. */
  internJson<T extends object | undefined>(value: T): T {
    return value === undefined ? value : this.intern(JSON.stringify(value), () => value);
  }

  get size(): number {
    return this.#recent.size + this.#older.size;
  }
}
