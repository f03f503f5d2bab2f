/** A map that is handed out as it is, and copied when it changes after that. */
export class CopyOnWriteMap<T> {
  #map = new Map<string, T>();
  #isShared = false;

  /** For a look at once: what changes later shows in it. */
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

  /** What changes later does not show in it. */
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
