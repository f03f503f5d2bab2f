/**
 * A set of small integers 0..size-1 for hot loops: 32 members a machine word, no allocation in the operations that
 * change it in place. Two sets work together only when their sizes are equal.
 */
export class Bitset {
  readonly size: number;
  // Indexes into `#words` are in range by construction, so the reads below assert a number instead of testing for one.
  readonly #words: Uint32Array;

  private constructor(size: number, words: Uint32Array) {
    this.size = size;
    this.#words = words;
  }

  static empty(size: number): Bitset {
    return new Bitset(size, new Uint32Array((size + 31) >>> 5));
  }

  static full(size: number): Bitset {
    const set = Bitset.empty(size);
    set.#words.fill(0xffffffff);
    // Bits past the end stay clear, so that counting and comparing need not mask.
    if (size & 31) set.#words[size >>> 5] = 0xffffffff >>> (32 - (size & 31));
    return set;
  }

  static from(indexes: Iterable<number>, size: number): Bitset {
    const set = Bitset.empty(size);
    for (const index of indexes) set.add(index);
    return set;
  }

  /** False for anything outside 0..size-1. */
  has(index: number): boolean {
    return (((this.#words[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1;
  }

  add(index: number): this {
    if (!(index >= 0 && index < this.size)) throw new RangeError(`index ${index} is outside a bitset of ${this.size}`);
    (this.#words[index >>> 5] as number) |= 1 << (index & 31);
    return this;
  }

  delete(index: number): this {
    if (this.has(index)) (this.#words[index >>> 5] as number) &= ~(1 << (index & 31));
    return this;
  }

  clear(): this {
    this.#words.fill(0);
    return this;
  }

  clone(): Bitset {
    return new Bitset(this.size, this.#words.slice());
  }

  /** Keeps what is also in `other`; changes this set. */
  and(other: Bitset): this {
    const words = this.#words;
    const others = this.#wordsOf(other);
    for (let i = 0; i < words.length; i++) (words[i] as number) &= others[i] as number;
    return this;
  }

  /** Adds what is in `other`; changes this set. */
  or(other: Bitset): this {
    const words = this.#words;
    const others = this.#wordsOf(other);
    for (let i = 0; i < words.length; i++) (words[i] as number) |= others[i] as number;
    return this;
  }

  /** Removes what is in `other`; changes this set. */
  andNot(other: Bitset): this {
    const words = this.#words;
    const others = this.#wordsOf(other);
    for (let i = 0; i < words.length; i++) (words[i] as number) &= ~(others[i] as number);
    return this;
  }

  /** A new set of what is in both. */
  intersection(other: Bitset): Bitset {
    return this.clone().and(other);
  }

  /** Whether the two share a member. */
  intersects(other: Bitset): boolean {
    const words = this.#words;
    const others = this.#wordsOf(other);
    for (let i = 0; i < words.length; i++) if (((words[i] as number) & (others[i] as number)) !== 0) return true;
    return false;
  }

  isSubsetOf(other: Bitset): boolean {
    const words = this.#words;
    const others = this.#wordsOf(other);
    for (let i = 0; i < words.length; i++) if (((words[i] as number) & ~(others[i] as number)) !== 0) return false;
    return true;
  }

  equals(other: Bitset): boolean {
    const words = this.#words;
    const others = this.#wordsOf(other);
    for (let i = 0; i < words.length; i++) if (words[i] !== others[i]) return false;
    return true;
  }

  count(): number {
    let count = 0;
    for (let i = 0; i < this.#words.length; i++) count += bitCount(this.#words[i] as number);
    return count;
  }

  isEmpty(): boolean {
    for (let i = 0; i < this.#words.length; i++) if (this.#words[i] !== 0) return false;
    return true;
  }

  /** Every member, ascending. Members added during the walk may or may not be visited. */
  forEach(visit: (index: number) => void): void {
    for (let i = 0; i < this.#words.length; i++) {
      for (let word = this.#words[i] as number; word !== 0; word &= word - 1) visit((i << 5) + lowestBit(word));
    }
  }

  /** The first member at or after `from`, -1 when there is none. */
  next(from: number): number {
    if (from >= this.size) return -1;
    const start = Math.max(0, from);
    let i = start >>> 5;
    let word = (this.#words[i] as number) & (0xffffffff << (start & 31));
    while (word === 0) {
      if (++i >= this.#words.length) return -1;
      word = this.#words[i] as number;
    }
    return (i << 5) + lowestBit(word);
  }

  toArray(): number[] {
    const members: number[] = [];
    this.forEach((index) => {
      members.push(index);
    });
    return members;
  }

  #wordsOf(other: Bitset): Uint32Array {
    if (other.size !== this.size) throw new RangeError(`bitsets of ${this.size} and ${other.size} do not match`);
    return other.#words;
  }
}

function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}

/** Adds neighbouring bits, then pairs, then nibbles; the multiplication sums the four bytes. */
function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
