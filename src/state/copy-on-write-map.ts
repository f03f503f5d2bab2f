/** A map that is handed out without a copy, and copied by the next write. */
export class CopyOnWriteMap<T> {
  #map = new Map<string, T>();
  #isShared = false;

  /** The map itself: later changes show. */
  get live(): ReadonlyMap<string, T> {
    return this.#map;
  }

  get(key: string): T | undefined {
    return this.#map.get(key);
  }

  set(key: string, value: T): void {
    this.#writable().set(key, value);
  }

  delete(key: string): void {
    if (this.#map.has(key)) this.#writable().delete(key);
  }

  /** Later changes do not show. */
  snapshot(): ReadonlyMap<string, T> {
    this.#isShared = true;
    return this.#map;
  }

  #writable(): Map<string, T> {
    if (this.#isShared) this.#map = new Map(this.#map);
    this.#isShared = false;
    return this.#map;
  }
}
