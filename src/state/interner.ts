/**
 * Gives equal values one object: ten thousand replicas share one list of containers. What was not asked for while
 * `limit` others were is forgotten, so that the table never outgrows what is alive; it is then shared anew.
 */
export class Interner {
  readonly #limit: number;
  #recent = new Map<string, unknown>();
  #older = new Map<string, unknown>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The value known by this text, which says all of it; never undefined. */
  intern<T>(text: string, make: () => T): T {
    const known = this.#recent.get(text);
    if (known !== undefined) return known as T;
    const found = (this.#older.get(text) as T | undefined) ?? make();
    if (this.#recent.size >= this.#limit) [this.#older, this.#recent] = [this.#recent, new Map()];
    this.#recent.set(text, found);
    return found;
  }

  /** The one copy of a text. */
  internText<T extends string | undefined>(text: T): T {
    return text === undefined ? text : this.intern(text, () => text);
  }

  /** The one copy of JSON. */
  internJson<T extends object | undefined>(value: T): T {
    return value === undefined ? value : this.intern(JSON.stringify(value), () => value);
  }

  get size(): number {
    return this.#recent.size + this.#older.size;
  }
}
