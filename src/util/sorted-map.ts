/**
 * A map whose values come in the order of its keys. Changes cost nothing until somebody asks for the values: a list of
 * fifty thousand that changes a thousand times a second is put in order when it is looked at, not a thousand times.
 */
export class SortedMap<T> {
  readonly #known = new Map<string, T>();
  #keys: readonly string[] = [];
  #values: readonly T[] = [];
  /** Keys whose place in the lists is not up to date; undefined where that goes for all of them. */
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

  /** How much has changed since somebody asked for the values; all of it where nobody ever did. */
  get unsortedCount(): number {
    return this.#changed?.size ?? this.size;
  }

  /** As they are now: what changes later does not show. The same list as long as nothing changes. */
  values(): readonly T[] {
    if (this.#changed === undefined) this.#orderAll();
    else if (this.#changed.size > 0) this.#orderChanged(this.#changed);
    return this.#values;
  }

  /** What nobody looks at is not kept in order, nor are its changes counted: they would pile up. */
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

  /** Where the keys are the same as before, their places are too. */
  #replaced(changed: ReadonlySet<string>): readonly T[] | undefined {
    const values = this.#values.slice();
    for (const key of changed) {
      const place = this.#placeOf(key, 0);
      if (this.#keys[place] !== key || !this.#known.has(key)) return undefined;
      values[place] = this.#known.get(key) as T;
    }
    return values;
  }

  /** Copies the stretches between changed keys, which are in order, and puts what is there now between them. */
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

  /** Where it is, or would be. */
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
