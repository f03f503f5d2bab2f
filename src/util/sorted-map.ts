/**
 * A map with values sorted by key. Sorting is done on read: a list of fifty thousand that changes a thousand times a
 * second is sorted when it is read, not on each change.
 */
export class SortedMap<T> {
  readonly #known = new Map<string, T>();
  #keys: readonly string[] = [];
  #values: readonly T[] = [];
  /** Keys whose position in the lists is outdated; undefined if all are. */
  #changed: Set<string> | undefined;

  get size(): number {
    return this.#known.size;
  }

  get(key: string): T | undefined {
    return this.#known.get(key);
  }

  has(key: string): boolean {
    return this.#known.has(key);
  }

  set(key: string, value: T): this {
    this.#known.set(key, value);
    this.#change(key);
    return this;
  }

  delete(key: string): boolean {
    const wasThere = this.#known.delete(key);
    if (wasThere) this.#change(key);
    return wasThere;
  }

  /** How many keys changed since values() was last called; all, if it never was. */
  get unsortedCount(): number {
    return this.#changed?.size ?? this.size;
  }

  /** A list that later changes do not affect; the same one as long as nothing changes. */
  values(): readonly T[] {
    if (this.#changed === undefined) this.#orderAll();
    else if (this.#changed.size > 0) this.#orderChanged(this.#changed);
    return this.#values;
  }

  /** While nobody reads the values, neither their order nor the changes are kept. */
  #change(key: string): void {
    if (this.#changed === undefined) return;
    this.#changed.add(key);
    if (this.#changed.size > this.#known.size) [this.#keys, this.#values, this.#changed] = [[], [], undefined];
  }

  #orderAll(): void {
    this.#keys = [...this.#known.keys()].sort();
    this.#values = this.#keys.map((key) => this.#known.get(key) as T);
    this.#changed = new Set();
  }

  #orderChanged(changed: Set<string>): void {
    const replaced = this.#replaced(changed);
    if (replaced === undefined) this.#merge([...changed].sort());
    else this.#values = replaced;
    changed.clear();
  }

  /** The new values if the set of keys is unchanged, else undefined. */
  #replaced(changed: ReadonlySet<string>): readonly T[] | undefined {
    const values = this.#values.slice();
    for (const key of changed) {
      const place = this.#placeOf(key, 0);
      if (this.#keys[place] !== key || !this.#known.has(key)) return undefined;
      values[place] = this.#known.get(key) as T;
    }
    return values;
  }

  /** Copies the ranges between changed keys, which are sorted, and inserts the current values between them. */
  #merge(changed: readonly string[]): void {
    const [keys, values]: [string[], T[]] = [[], []];
    let from = 0;
    for (const key of changed) {
      const place = this.#placeOf(key, from);
      this.#copy({ from, to: place }, { keys, values });
      if (this.#known.has(key)) {
        keys.push(key);
        values.push(this.#known.get(key) as T);
      }
      from = this.#keys[place] === key ? place + 1 : place;
    }
    this.#copy({ from, to: this.#keys.length }, { keys, values });
    [this.#keys, this.#values] = [keys, values];
  }

  #copy({ from, to }: { from: number; to: number }, { keys, values }: { keys: string[]; values: T[] }): void {
    for (let at = from; at < to; at++) {
      keys.push(this.#keys[at] as string);
      values.push(this.#values[at] as T);
    }
  }

  /** The index of the key, or where it would be inserted. */
  #placeOf(key: string, from: number): number {
    let [low, high] = [from, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
