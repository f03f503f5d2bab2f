/**
 * The characters of generated Kubernetes names: no vowels and no lookalikes, so that they neither form words nor are
 * misread.
 */
const nameAlphabet = "bcdfghjklmnpqrstvwxz2456789";
const hexAlphabet = "0123456789abcdef";

const twoTo32 = 2 ** 32;

/**
 * A seeded generator: the same seed gives the same draws on every machine. Not for secrets.
 *
 * The generator is xoshiro128**, its state a hash of the seed.
 */
export class Random {
  readonly seed: string;
  readonly #state: Uint32Array;

  constructor(seed: string | number) {
    this.seed = String(seed);
    this.#state = Uint32Array.of(...[1, 2, 3, 4].map((lane) => hash(this.seed, lane)));
    if (this.#state.every((word) => word === 0)) this.#state[0] = 1; // the state zero would never change
  }

  /**
   * An independent stream that does not depend on how many numbers were drawn here, so that another draw in one place
   * does not change others. Forks of the same name are the same stream.
   */
  fork(name: string): Random {
    return new Random(`${this.seed}/${name}`);
  }

  /** 0 <= x < 1, with all 53 bits of a double. */
  next(): number {
    const high = this.#draw() >>> 5;
    const low = this.#draw() >>> 6;
    return (high * 2 ** 26 + low) / 2 ** 53;
  }

  /** 0 <= n < maxExclusive, every n equally likely. */
  int(maxExclusive: number): number {
    if (!Number.isSafeInteger(maxExclusive) || maxExclusive < 1) {
      throw new RangeError(`cannot draw below ${maxExclusive}: expected a whole number of at least 1`);
    }
    if (maxExclusive > twoTo32) return Math.floor(this.next() * maxExclusive);
    const fair = twoTo32 - (twoTo32 % maxExclusive); // larger draws would favour small numbers
    let draw = this.#draw();
    while (draw >= fair) draw = this.#draw();
    return draw % maxExclusive;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("cannot pick from nothing");
    return items[this.int(items.length)] as T;
  }

  /** Returns a new array. */
  shuffle<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    for (let last = shuffled.length - 1; last > 0; last--) {
      const at = this.int(last + 1);
      [shuffled[last], shuffled[at]] = [shuffled[at] as T, shuffled[last] as T];
    }
    return shuffled;
  }

  hex(length: number): string {
    return this.#characters(hexAlphabet, length);
  }

  /** The random suffix of a generated name. */
  alphanumeric(length: number): string {
    return this.#characters(nameAlphabet, length);
  }

  /** In the form of a version 4 UUID. */
  uuid(): string {
    const variant = this.pick(["8", "9", "a", "b"]);
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-${variant}${this.hex(3)}-${this.hex(12)}`;
  }

  #characters(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet[this.int(alphabet.length)]).join("");
  }

  /** 32 random bits. */
  #draw(): number {
    const state = this.#state;
    const b = state[1] as number;
    const c = (state[2] as number) ^ (state[0] as number);
    const d = (state[3] as number) ^ b;
    state[0] = (state[0] as number) ^ d;
    state[1] = b ^ c;
    state[2] = c ^ (b << 9);
    state[3] = rotate(d, 11);
    return Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
  }
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

/** A 32-bit hash of the text, different for each lane: Murmur3's mixing, one UTF-16 unit at a time. */
function hash(text: string, lane: number): number {
  let h = Math.imul(lane, 0x9e3779b9);
  for (let i = 0; i < text.length; i++) {
    const k = Math.imul(rotate(Math.imul(text.charCodeAt(i), 0xcc9e2d51), 15), 0x1b873593);
    h = Math.imul(rotate(h ^ k, 13), 5) + 0xe6546b64;
  }
  h ^= text.length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
