import { describe, expect, it } from "vitest";
import { TokenBucket } from "./token-bucket.ts";
import { VirtualClock } from "./virtual-clock.ts";

describe("TokenBucket", () => {
  it("allows a burst, then its rate, and never accumulates more than a burst", async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket({ perSecond: 4, burst: 3 }, clock);
    const take = (count: number) =>
      Array.from({ length: count }, () => bucket.tryTake()).filter((taken) => taken).length;
    expect(take(10)).toBe(3);
    await clock.advance(500);
    expect(take(10)).toBe(2);
    await clock.advance(3_600_000);
    expect(take(10)).toBe(3);
  });

  it("03 §6.4 serves waiting callers in order", async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 }, clock);
    const times: number[] = [];
    for (let i = 0; i < 6; i++) void bucket.take().then(() => times.push(clock.now()));
    await clock.runUntilIdle();
    expect(times).toEqual([0, 0, 100, 200, 300, 400]);
    expect(bucket.tryTake()).toBe(false);
  });

  it("reserves tokens ahead of time", async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 }, clock);
    expect([1, 2, 3, 4].map(() => bucket.reserve())).toEqual([0, 0, 100, 200]);
    await clock.advance(150);
    expect(bucket.reserve()).toBe(150);
  });
});
