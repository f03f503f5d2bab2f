import { Random } from "../../src/util/random.ts";

/** Draws for one problem, all from its seed. */
export class Draw {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = new Random(`differential-${seed}`);
  }

  chance(probability: number): boolean {
    return this.#random.next() < probability;
  }

  /** From `least` to `most`, both included. */
  count(least: number, most: number): number {
    return least + this.#random.int(most - least + 1);
  }

  pick<T>(items: readonly T[]): T {
    return this.#random.pick(items);
  }

  /** So many different items, in random order. */
  some<T>(items: readonly T[], least: number, most: number): T[] {
    return this.#random.shuffle(items).slice(0, Math.min(items.length, this.count(least, most)));
  }

  /** What `make` returns, with the given probability; otherwise nothing to spread into an object. */
  maybe<T extends object>(probability: number, make: () => T): T | Record<string, never> {
    return this.chance(probability) ? make() : {};
  }

  times<T>(count: number, make: (index: number) => T): T[] {
    return Array.from({ length: count }, (_, index) => make(index));
  }
}
