import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import { Random } from "../util/random.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import { WorkQueue } from "./work-queue.ts";

function setUp(observe = {}) {
  const clock = new VirtualClock();
  const queue = new WorkQueue<string>({ clock, random: new Random(1), backOff: { baseMs: 10, maxMs: 1_000 }, observe });
  return { clock, queue };
}

/** Takes all queued keys, without waiting for more. */
async function drain(queue: WorkQueue<string>): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth > 0) {
    const key = (await queue.take()) ?? "";
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

describe("WorkQueue", () => {
  it("hands out each key once, in order of arrival", async () => {
    const { queue } = setUp();
    for (const key of ["b", "a", "b", "c", "a"]) queue.add(key);
    expect(queue.depth).toBe(3);
    expect(await drain(queue)).toEqual(["b", "a", "c"]);
    expect(queue.isIdle).toBe(true);
  });

  it("never hands out a key twice at a time, and again when it was added meanwhile", async () => {
    const { queue } = setUp();
    queue.add("a");
    expect(await queue.take()).toBe("a");
    queue.add("a");
    queue.add("a");
    expect(queue.depth).toBe(0);
    queue.add("b");
    queue.done("a");
    expect(await drain(queue)).toEqual(["b", "a"]);
  });

  it("wakes waiting takers in order", async () => {
    const { queue } = setUp();
    const [first, second] = [queue.take(), queue.take()];
    queue.add("a");
    queue.add("b");
    expect(await Promise.all([first, second])).toEqual(["a", "b"]);
  });

  it("adds after a delay, the earliest of several", async () => {
    const { clock, queue } = setUp();
    queue.addAfter("a", 50);
    queue.addAfter("a", 20);
    queue.addAfter("a", 90);
    queue.addAfter("b", 0);
    expect(queue.depth).toBe(0);
    await clock.advance(0);
    expect(await drain(queue)).toEqual(["b"]);
    await clock.advance(19);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(await drain(queue)).toEqual(["a"]);
    await clock.advance(1_000);
    expect([queue.depth, queue.isIdle, clock.pending]).toEqual([0, true, 0]);
  });

  it("retries a key with back-off until it is forgotten, and never sooner than asked", async () => {
    const { clock, queue } = setUp();
    const waitFor = async (options = {}) => {
      const before = clock.now();
      queue.retry("a", options);
      const key = queue.take();
      await clock.runUntilIdle();
      queue.done((await key) ?? "");
      return clock.now() - before;
    };
    for (const full of [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]) {
      const ms = await waitFor();
      expect(ms).toBeGreaterThanOrEqual(full / 2);
      expect(ms).toBeLessThanOrEqual(full);
    }
    expect(queue.failuresOf("a")).toBe(9);
    queue.forget("a");
    expect(await waitFor()).toBeLessThanOrEqual(10);
    expect(await waitFor({ atLeastMs: 5_000 })).toBe(5_000);
  });

  it("stops: takers return, nothing more is added, no timer stays", async () => {
    const { clock, queue } = setUp();
    const taker = queue.take();
    queue.addAfter("a", 10);
    queue.stop();
    queue.add("b");
    queue.addAfter("b", 1);
    expect([await taker, await queue.take(), queue.depth, clock.pending]).toEqual([undefined, undefined, 0, 0]);
  });

  it("stops with keys in every state: none is handed out or waits any more", async () => {
    const { clock, queue } = setUp();
    for (const key of ["a", "b"]) queue.add(key);
    expect(await queue.take()).toBe("a");
    queue.add("a"); // once more, when it is done
    queue.addAfter("c", 10);
    queue.retry("d");
    queue.stop();
    queue.done("a");
    await clock.advance(60_000);
    expect([await queue.take(), queue.depth, queue.isIdle, clock.pending]).toEqual([undefined, 0, true, 0]);
  });

  it("reports its metrics", async () => {
    const log: unknown[] = [];
    const { clock, queue } = setUp({
      added: (depth: number) => log.push(["added", depth]),
      taken: (ms: number, depth: number) => log.push(["taken", ms, depth]),
      retried: () => log.push(["retried"]),
    });
    queue.add("a");
    queue.add("a");
    await clock.advance(30);
    await drain(queue);
    queue.retry("a");
    expect(log).toEqual([["added", 1], ["taken", 30, 0], ["retried"]]);
  });

  it("loses no key and never runs one twice at a time, in any order of operations", async () => {
    const step = fc.record({ key: fc.constantFrom("a", "b", "c"), ms: fc.nat(5), doneAfterMs: fc.nat(5) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { clock, queue } = setUp();
        const active = new Set<string>();
        const lastLook = new Map<string, number>();
        const worker = async (): Promise<void> => {
          for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
            expect(active.has(key)).toBe(false);
            active.add(key);
            lastLook.set(key, clock.now());
            await clock.sleep(3);
            active.delete(key);
            queue.done(key);
          }
        };
        const workers = [worker(), worker()];
        const lastAdd = new Map<string, number>();
        for (const { key, ms, doneAfterMs } of steps) {
          queue.addAfter(key, ms);
          queue.add(key);
          lastAdd.set(key, clock.now());
          await clock.advance(doneAfterMs);
        }
        await clock.runUntilIdle();
        expect(queue.isIdle).toBe(true);
        for (const [key, at] of lastAdd) expect(lastLook.get(key)).toBeGreaterThanOrEqual(at); // processed since
        queue.stop();
        await Promise.all(workers);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
