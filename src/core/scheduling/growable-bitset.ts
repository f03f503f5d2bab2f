/** A set of small integers that grows as needed. */
export class GrowableBitset {
  #words = new Uint32Array(4);

  has(index: number): boolean {
    const word = index >>> 5;
    return word < this.#words.length && (((this.#words[word] as number) >>> (index & 31)) & 1) === 1;
  }

  /** The first integer from `from` on that is not in the set. */
  nextMissing(from: number): number {
    let word = from >>> 5;
    if (word >= this.#words.length) return from;
    let missing = ~(this.#words[word] as number) & (0xffffffff << (from & 31));
    while (missing === 0) {
      if (++word >= this.#words.length) return word << 5;
      missing = ~(this.#words[word] as number);
    }
    return (word << 5) + 31 - Math.clz32(missing & -missing);
  }

  add(index: number): void {
    const word = index >>> 5;
    if (word >= this.#words.length) {
      const larger = new Uint32Array(Math.max(word + 1, this.#words.length * 2));
      larger.set(this.#words);
      this.#words = larger;
    }
    (this.#words[word] as number) |= 1 << (index & 31);
  }

  delete(index: number): void {
    const word = index >>> 5;
    if (word < this.#words.length) (this.#words[word] as number) &= ~(1 << (index & 31));
  }
}
