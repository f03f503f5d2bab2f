import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../util/virtual-clock.ts";
import { CachedCalls } from "./cached-calls.ts";

function opened() {
  const clock = new VirtualClock({ startAt: 0 });
  const cache = new CachedCalls<number>(clock, { forMs: 1_000 });
  let calls = 0;
  const get = (key = "a") => cache.get(key, async () => ++calls);
  return { clock, cache, get, calls: () => calls };
}

describe("CachedCalls", () => {
  it("04 §9.3 callers at the same time share one call, per key", async () => {
    const { get } = opened();
    expect(await Promise.all([get(), get(), get("b"), get()])).toEqual([1, 1, 2, 1]);
  });

  it("04 §5.4 an answer is kept for its time", async () => {
    const { clock, get } = opened();
    await get();
    await clock.advance(999);
    expect(await get()).toBe(1);
    await clock.advance(1);
    expect(await get()).toBe(2);
  });

  it("04 §5.4 a failure is not kept", async () => {
    const { cache, get } = opened();
    await expect(cache.get("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await get()).toBe(1);
  });
});
