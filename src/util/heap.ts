/** Negative when `a` comes out before `b`. */
export type Compare<T> = (a: T, b: T) => number;

/**
 * A binary heap: the smallest item by `compare` comes out first, in O(log n).
 *
 * Not stable: items that compare equal come out in an order that depends on what else was pushed (the same pushes and
 * pops always give the same order). Where ties matter, let `compare` end with a sequence number.
 */
export class Heap<T> {
  readonly #compare: Compare<T>;
  #items: T[];

  constructor(compare: Compare<T>, items: Iterable<T> = []) {
    this.#compare = compare;
    this.#items = [...items];
    this.#order();
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#rise(this.#items.length - 1);
  }

  pop(): T | undefined {
    const top = this.#items[0];
    const last = this.#items.pop();
    if (this.#items.length > 0) {
      this.#items[0] = last as T;
      this.#sink(0);
    }
    return top;
  }

  /** Removes all items and returns them in order. */
  drain(): T[] {
    return Array.from({ length: this.size }, () => this.pop() as T);
  }

  /** Removes the items that are not wanted, in O(n). */
  retain(isWanted: (item: T) => boolean): void {
    this.#items = this.#items.filter(isWanted);
    this.#order();
  }

  #order(): void {
    for (let at = (this.#items.length >> 1) - 1; at >= 0; at--) this.#sink(at);
  }

  #rise(from: number): void {
    const items = this.#items;
    const item = items[from] as T;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as T;
      if (this.#compare(item, above) >= 0) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  #sink(from: number): void {
    const items = this.#items;
    const item = items[from] as T;
    let at = from;
    for (let child = this.#smallerChild(at); child !== -1; child = this.#smallerChild(at)) {
      const below = items[child] as T;
      if (this.#compare(below, item) >= 0) break;
      items[at] = below;
      at = child;
    }
    items[at] = item;
  }

  #smallerChild(parent: number): number {
    const left = 2 * parent + 1;
    const right = left + 1;
    if (left >= this.#items.length) return -1;
    if (right >= this.#items.length) return left;
    return this.#compare(this.#items[right] as T, this.#items[left] as T) < 0 ? right : left;
  }
}
