/** A map whose values come in the order of its keys: loops ask for them far more often than they change. */
export class SortedMap<T> {
  readonly #keys: string[] = [];
  readonly #values: T[] = [];
  readonly #known = new Map<string, T>();

  get size(): number {
    return this.#known.size;
  }

  get(key: string): T | undefined {
    return this.#known.get(key);
  }

  set(key: string, value: T): this {
    const at = this.#placeOf(key);
    if (this.#known.has(key)) this.#values[at] = value;
    else {
      this.#keys.splice(at, 0, key);
      this.#values.splice(at, 0, value);
    }
    this.#known.set(key, value);
    return this;
  }

  delete(key: string): void {
    if (!this.#known.delete(key)) return;
    const at = this.#placeOf(key);
    this.#keys.splice(at, 1);
    this.#values.splice(at, 1);
  }

  /** As they are now: what changes later does not show. */
  values(): readonly T[] {
    return this.#values.slice();
  }

  /** Where it is, or would be. */
  #placeOf(key: string): number {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
