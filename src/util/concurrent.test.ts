import { describe, expect, it } from "vitest";
import { forEachConcurrent, throwIfAny } from "./concurrent.ts";
import { VirtualClock } from "./virtual-clock.ts";

function* counted(count: number, taken: { count: number }): Generator<number> {
  for (let at = 0; at < count; at++) {
    taken.count += 1;
    yield at;
  }
}

describe("forEachConcurrent", () => {
  it("takes an item only when there is room for it, and ends when all have", async () => {
    const clock = new VirtualClock();
    const taken = { count: 0 };
    let running = 0;
    let most = 0;
    const seen: number[] = [];
    const done = forEachConcurrent(counted(10, taken), {
      limit: 3,
      run: async (item, index) => {
        running += 1;
        most = Math.max(most, running);
        await clock.sleep(1_000 + 100 * (item % 2));
        seen.push(index);
        running -= 1;
      },
    });
    await clock.advance(0);
    expect(taken.count).toBeLessThanOrEqual(4);
    await clock.advance(60_000);
    expect(await done).toEqual([]);
    expect([taken.count, most, running]).toEqual([10, 3, 0]);
    expect(seen.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("a failure affects its item alone, also one that is thrown before the first await", async () => {
    const done: number[] = [];
    const errors = await forEachConcurrent([0, 1, 2, 3], {
      limit: 2,
      run: (item) => {
        if (item === 1) throw new Error("one");
        if (item === 2) return Promise.reject(new Error("two"));
        done.push(item);
        return Promise.resolve();
      },
    });
    expect(done).toEqual([0, 3]);
    expect(errors.map(String)).toEqual(["Error: one", "Error: two"]);
    expect(() => throwIfAny(errors, "both")).toThrow("both");
    expect(() => throwIfAny([], "none")).not.toThrow();
  });

  it("pauses before each item", async () => {
    const order: string[] = [];
    await forEachConcurrent(["a", "b"], {
      limit: 5,
      pause: async () => void order.push("pause"),
      run: async (item) => void order.push(item),
    });
    expect(order).toEqual(["pause", "a", "pause", "b"]);
  });
});
