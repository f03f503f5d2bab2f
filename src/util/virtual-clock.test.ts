import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import { Random } from "./random.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** Runs timers of the given delays to the end and returns the order in which they fired. */
async function orderOf(delays: readonly number[], clock: VirtualClock): Promise<number[]> {
  const fired: number[] = [];
  delays.forEach((ms, i) => {
    clock.setTimer(ms, () => fired.push(i));
  });
  await clock.runUntilIdle();
  return fired;
}

describe("VirtualClock", () => {
  it("fires in order of time, ties in the order they were set, cancelled ones never", async () => {
    const plans = fc.array(fc.record({ ms: fc.nat(10), isCancelled: fc.boolean() }), { maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const clock = new VirtualClock();
        const fired: number[] = [];
        const timers = plan.map(({ ms }, i) => clock.setTimer(ms, () => fired.push(i)));
        timers.forEach((timer, i) => {
          if (plan[i]?.isCancelled) timer.cancel();
        });
        const expected = plan
          .map(({ ms, isCancelled }, i) => ({ ms, isCancelled, i }))
          .filter(({ isCancelled }) => !isCancelled)
          .sort((a, b) => a.ms - b.ms || a.i - b.i);
        expect(clock.pending).toBe(expected.length);
        expect(clock.nextDueAt()).toBe(expected[0]?.ms);
        expect(await clock.runUntilIdle()).toEqual({ stoppedBy: "idle", timersRun: expected.length });
        expect(fired).toEqual(expected.map(({ i }) => i));
        expect(clock.now()).toBe(expected.at(-1)?.ms ?? 0);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it("breaks ties by the seed when asked", async () => {
    const delays = [...Array(20).fill(5), ...Array(20).fill(3)];
    const shuffled = (seed: number) => orderOf(delays, new VirtualClock({ shuffle: new Random(seed) }));
    const order = await shuffled(1);
    expect(await shuffled(1)).toEqual(order);
    expect(await shuffled(2)).not.toEqual(order);
    expect(order.slice(0, 20).every((i) => i >= 20)).toBe(true);
    expect(order.toSorted((a, b) => a - b)).toEqual([...delays.keys()]);
    expect(order.slice(20)).not.toEqual([...Array(20).keys()]);
  });

  it("does not advance until every promise continuation has run", async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    const work = async (name: string) => {
      for (let hop = 0; hop < 50; hop++) await undefined;
      log.push(`${name} at ${clock.now()}`);
      await clock.sleep(10);
      for (let hop = 0; hop < 50; hop++) await undefined;
      log.push(`${name} at ${clock.now()}`);
    };
    void work("a");
    void clock.sleep(5).then(() => work("b"));
    await clock.runUntilIdle();
    expect(log).toEqual(["a at 0", "b at 5", "a at 10", "b at 15"]);
  });

  it("does not advance while turns of the event loop keep setting timers", async () => {
    const clock = new VirtualClock();
    const log: number[] = [];
    const hop = (left: number) => {
      clock.setTimer(left, () => log.push(left));
      if (left > 1) setImmediate(() => hop(left - 1));
    };
    hop(5);
    await clock.runUntilIdle();
    expect(log).toEqual([1, 2, 3, 4, 5]);
  });

  it("lets one timer's continuations finish before the next timer of the instant", async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    for (const name of ["a", "b"]) {
      clock.setTimer(1, async () => {
        log.push(`${name} begins`);
        await Promise.resolve();
        log.push(`${name} ends`);
      });
    }
    await clock.runUntilIdle();
    expect(log).toEqual(["a begins", "a ends", "b begins", "b ends"]);
  });

  it("advances exactly by the given time, also when timers set more timers", async () => {
    const clock = new VirtualClock({ startAt: 1_000 });
    const ticks: number[] = [];
    const tick = () => {
      ticks.push(clock.now());
      clock.setTimer(10, tick);
    };
    clock.setTimer(10, tick);
    expect(await clock.advance(35)).toEqual({ stoppedBy: "time", timersRun: 3 });
    expect(clock.now()).toBe(1_035);
    expect(await clock.advance(5)).toEqual({ stoppedBy: "time", timersRun: 1 });
    expect(ticks).toEqual([1_010, 1_020, 1_030, 1_040]);
  });

  it("advances over nothing at all", async () => {
    const clock = new VirtualClock();
    expect(await clock.advance(50)).toEqual({ stoppedBy: "idle", timersRun: 0 });
    expect(clock.now()).toBe(50);
  });

  it("stops at a time, and after a number of timers", async () => {
    const clock = new VirtualClock();
    const tick = () => {
      clock.setTimer(10, tick);
    };
    tick();
    expect(await clock.runUntilIdle({ untilMs: 25 })).toEqual({ stoppedBy: "time", timersRun: 2 });
    expect(clock.now()).toBe(25);
    expect(await clock.runUntilIdle({ maxTimers: 3 })).toEqual({ stoppedBy: "timers", timersRun: 3 });
    expect(clock.now()).toBe(50);
    expect(await clock.runUntilIdle({ untilMs: 10 })).toEqual({ stoppedBy: "time", timersRun: 0 });
    expect(clock.now()).toBe(50);
  });

  it("is idle when all timers are due at infinity", async () => {
    const clock = new VirtualClock();
    clock.setTimer(Number.POSITIVE_INFINITY, () => {});
    clock.setTimer(Number.POSITIVE_INFINITY, () => {});
    clock.setTimer(5, () => {});
    expect(await clock.runUntilIdle()).toEqual({ stoppedBy: "idle", timersRun: 1 });
    expect(clock.now()).toBe(5);
  });

  it("stops with the error of a timer that throws, and continues with the others afterwards", async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    clock.setTimer(1, () => log.push("before"));
    clock.setTimer(2, () => {
      throw new Error("boom");
    });
    clock.setTimer(2, () => log.push("same instant"));
    clock.setTimer(3, () => log.push("after"));
    await expect(clock.advance(10)).rejects.toThrow("boom");
    expect({ log, now: clock.now(), pending: clock.pending }).toEqual({ log: ["before"], now: 2, pending: 2 });
    expect(await clock.runUntilIdle()).toEqual({ stoppedBy: "idle", timersRun: 2 });
    expect(log).toEqual(["before", "same instant", "after"]);
  });

  it("refuses two concurrent runs", async () => {
    const clock = new VirtualClock();
    const first = clock.advance(10);
    await expect(clock.runUntilIdle()).rejects.toThrow("already running");
    await first;
    expect(clock.now()).toBe(10);
  });

  it("drops cancelled timers, so that deadlines that are never reached cost nothing", async () => {
    const clock = new VirtualClock();
    const fired: string[] = [];
    clock.setTimer(2, () => fired.push("kept"));
    for (let i = 0; i < 10_000; i++) clock.setTimer(1, () => fired.push("cancelled")).cancel();
    expect(clock.pending).toBe(1);
    expect(await clock.runUntilIdle()).toEqual({ stoppedBy: "idle", timersRun: 1 });
    expect(fired).toEqual(["kept"]);
  });
});
