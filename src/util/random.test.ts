import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import { Random } from "./random.ts";

const numRuns = runs(10_000);
const seeds = fc.oneof(fc.string(), fc.integer());

/** How often each of `sides` came up. */
function tally(sides: number, { draws, roll }: { draws: number; roll: () => number }): number[] {
  const counts = Array<number>(sides).fill(0);
  for (let i = 0; i < draws; i++) {
    const side = roll();
    counts[side] = (counts[side] ?? 0) + 1;
  }
  return counts;
}

/** Pearson's chi-squared statistic against a uniform distribution. */
function chiSquared(counts: readonly number[]): number {
  const expected = counts.reduce((a, b) => a + b) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

describe("Random", () => {
  it("draws the same numbers from the same seed in every version", () => {
    const random = new Random("karpenter");
    expect([random.next(), random.int(1_000), random.int(2 ** 40)]).toEqual([0.8968877766451595, 742, 888319280799]);
    expect(random.hex(12)).toBe("9823f4cab2b7");
    expect(random.shuffle(["a", "b", "c", "d", "e"])).toEqual(["b", "a", "d", "c", "e"]);
    expect(random.alphanumeric(10)).toBe("xsktb8rth6");
    expect(random.uuid()).toBe("a4f4ee0c-925b-4029-9488-dd65ffa6c3aa");
    expect(random.fork("cloud").hex(16)).toBe("6d06e9d579bdfb1f");
    expect([new Random(0).hex(16), new Random("").hex(16)]).toEqual(["7e01230a56c4e9ed", "8473af46f905fb7f"]);
  });

  it("forks by name: the stream depends on seed and name alone", () => {
    fc.assert(
      fc.property(seeds, fc.string(), fc.nat(20), (seed, name, draws) => {
        const busy = new Random(seed);
        for (let i = 0; i < draws; i++) busy.next();
        const fork = busy.fork(name).hex(16);
        expect(new Random(seed).fork(name).hex(16)).toBe(fork);
        expect(new Random(seed).hex(16)).not.toBe(fork);
        expect(new Random(seed).fork(`${name}2`).hex(16)).not.toBe(fork);
      }),
      { numRuns },
    );
  });

  it("gives neighbouring seeds unrelated streams", () => {
    const streams = Array.from({ length: 2_000 }, (_, seed) => new Random(seed).hex(8));
    expect(new Set(streams).size).toBe(2_000);
    // For 16 sides, 99.99% of fair dice stay below 44.3.
    const firsts = tally(16, {
      draws: 2_000,
      roll: dealt(streams.map((stream) => Number.parseInt(stream[0] ?? "", 16))),
    });
    expect(chiSquared(firsts)).toBeLessThan(44.3);
  });

  it.each([2, 3, 7, 10, 27, 100])("draws below %d evenly", (sides) => {
    const random = new Random(`sides ${sides}`);
    const counts = tally(sides, { draws: 20_000, roll: () => random.int(sides) });
    // Six standard deviations above the mean of the chi-squared distribution.
    expect(chiSquared(counts)).toBeLessThan(sides - 1 + 6 * Math.sqrt(2 * (sides - 1)));
  });

  it("does not favour small numbers where the range does not divide the generator's", () => {
    const random = new Random("thirds");
    const third = 2 ** 30;
    const counts = tally(3, { draws: 3_000, roll: () => Math.floor(random.int(3 * third) / third) });
    expect(chiSquared(counts)).toBeLessThan(2 + 6 * Math.sqrt(4));
  });

  it("draws numbers in range", () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (seed, max) => {
        const random = new Random(seed);
        const [float, int] = [random.next(), random.int(max)];
        expect(float >= 0 && float < 1).toBe(true);
        expect(Number.isInteger(int) && int >= 0 && int < max).toBe(true);
      }),
      { numRuns },
    );
  });

  it("has a mean of a half and the variance of an even spread", () => {
    const random = new Random("mean");
    const draws = Array.from({ length: 20_000 }, () => random.next());
    const mean = draws.reduce((a, b) => a + b) / draws.length;
    const variance = draws.reduce((sum, x) => sum + (x - mean) ** 2, 0) / draws.length;
    expect(mean).toBeCloseTo(1 / 2, 1.7);
    expect(variance).toBeCloseTo(1 / 12, 2);
  });

  it("shuffles into a new array with the same items, every order possible", () => {
    const random = new Random("orders");
    const items = Object.freeze(["a", "b", "c"]);
    const orders = Array.from({ length: 600 }, () => random.shuffle(items).join(""));
    const counts = ["abc", "acb", "bac", "bca", "cab", "cba"].map((order) => orders.filter((o) => o === order).length);
    expect(counts.reduce((a, b) => a + b)).toBe(600);
    expect(chiSquared(counts)).toBeLessThan(5 + 6 * Math.sqrt(10));
  });

  it("picks one of the items and refuses to pick from none", () => {
    const random = new Random("pick");
    expect(new Set(Array.from({ length: 100 }, () => random.pick([1, 2, 3])))).toEqual(new Set([1, 2, 3]));
    expect(() => random.pick([])).toThrow("cannot pick from nothing");
    for (const max of [0, -1, 1.5, Number.NaN, 2 ** 53]) expect(() => random.int(max)).toThrow(RangeError);
  });

  it("writes names and uids in their alphabets", () => {
    fc.assert(
      fc.property(seeds, fc.nat(40), (seed, length) => {
        const random = new Random(seed);
        expect(random.hex(length)).toMatch(new RegExp(`^[0-9a-f]{${length}}$`));
        expect(random.alphanumeric(length)).toMatch(new RegExp(`^[bcdfghjklmnpqrstvwxz2456789]{${length}}$`));
        expect(random.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }),
      { numRuns },
    );
  });
});

/** A die that shows the given numbers in turn. */
function dealt(numbers: readonly number[]): () => number {
  const rest = numbers.values();
  return () => rest.next().value ?? 0;
}
