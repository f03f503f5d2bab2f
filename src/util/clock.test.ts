import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { acceleratedClock, type Clock, systemClock } from "./clock.ts";
import { VirtualClock } from "./virtual-clock.ts";

interface Harness {
  readonly clock: Clock;
  /** Advances the clock's own time. */
  readonly pass: (ms: number) => Promise<unknown>;
  /** How many timers are pending on the underlying clock. */
  readonly waiting: () => number;
}

const startAt = Date.UTC(2025, 0, 1);
const dayMs = 86_400_000;

/** Real timers would make the suite slow and flaky; these keep `setTimeout`'s limit of 2^31-1 ms. */
function fakeSystem() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: startAt });
}

const harnesses: Readonly<Record<string, () => Harness>> = {
  system: () => ({
    clock: systemClock(),
    pass: (ms) => vi.advanceTimersByTimeAsync(ms),
    waiting: () => vi.getTimerCount(),
  }),
  virtual: () => {
    const clock = new VirtualClock({ startAt });
    return { clock, pass: (ms) => clock.advance(ms), waiting: () => clock.pending };
  },
  "accelerated system": () => ({
    clock: acceleratedClock({ speed: 10 }),
    pass: (ms) => vi.advanceTimersByTimeAsync(ms / 10),
    waiting: () => vi.getTimerCount(),
  }),
  "accelerated virtual": () => {
    const clock = new VirtualClock({ startAt: 7 });
    const fast = acceleratedClock({ speed: 1_000, clock, startAt });
    return { clock: fast, pass: (ms) => clock.advance(ms / 1_000), waiting: () => clock.pending };
  },
};

beforeEach(fakeSystem);
afterEach(() => {
  vi.useRealTimers();
});

describe.each(Object.entries(harnesses))("docs/designs/interfaces.md the %s clock", (_, harness) => {
  it("tells the time and lets it pass", async () => {
    const { clock, pass } = harness();
    expect(clock.now()).toBe(startAt);
    await pass(5_000);
    expect(clock.now()).toBe(startAt + 5_000);
  });

  it("fires timers when they are due, earliest first, and not within the call that sets them", async () => {
    const { clock, pass } = harness();
    const log: string[] = [];
    const note = (name: string) => () => log.push(name);
    clock.setTimer(2_000, note("second"));
    clock.setTimer(1_000, note("first"));
    clock.setTimer(9_000, note("later"));
    clock.setTimer(-5, note("overdue"));
    expect(log).toEqual([]);
    await pass(1_000);
    await pass(3_000);
    expect(log).toEqual(["overdue", "first", "second"]);
    await pass(6_000);
    expect(log).toEqual(["overdue", "first", "second", "later"]);
  });

  it("never fires a cancelled timer, and allows cancelling twice or too late", async () => {
    const { clock, pass } = harness();
    const run = vi.fn();
    const cancelled = clock.setTimer(1_000, () => run("cancelled"));
    const fired = clock.setTimer(1_000, () => run("fired"));
    cancelled.cancel();
    cancelled.cancel();
    await pass(2_000);
    fired.cancel();
    expect(run.mock.calls).toEqual([["fired"]]);
  });

  it("waits longer than setTimeout can", async () => {
    const { clock, pass } = harness();
    const run = vi.fn();
    clock.setTimer(100 * dayMs, () => run("fired"));
    const cancelled = clock.setTimer(100 * dayMs, () => run("cancelled"));
    await pass(99 * dayMs);
    cancelled.cancel();
    expect(run).not.toHaveBeenCalled();
    await pass(1 * dayMs);
    expect(run.mock.calls).toEqual([["fired"]]);
  });

  it("sleeps", async () => {
    const { clock, pass } = harness();
    const woken = vi.fn();
    void clock.sleep(3_000).then(() => woken(clock.now()));
    await pass(2_000);
    expect(woken).not.toHaveBeenCalled();
    await pass(1_000);
    expect(woken.mock.calls).toEqual([[startAt + 3_000]]);
  });

  it("rejects a sleep at once when aborted, with the reason, and cancels its timer", async () => {
    const { clock, waiting } = harness();
    const stop = new AbortController();
    const slept = clock.sleep(3_000, stop.signal);
    stop.abort(new Error("shutting down"));
    await expect(slept).rejects.toThrow("shutting down");
    await expect(clock.sleep(3_000, stop.signal)).rejects.toThrow("shutting down");
    expect(waiting()).toBe(0);
  });

  it("removes its listener from the signal after a sleep", async () => {
    const { clock, pass } = harness();
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, "addEventListener");
    const remove = vi.spyOn(signal, "removeEventListener");
    const slept = clock.sleep(1_000, signal);
    await pass(1_000);
    await slept;
    expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(add.mock.calls.map(([, listener]) => listener));
  });
});

describe("the accelerated clock", () => {
  it("runs an hour in a minute", async () => {
    const clock = acceleratedClock({ speed: 60, startAt: 0 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(clock.now()).toBe(3_600_000);
  });

  it.each([0.5, 3, 7, 60, 999.9, 86_400])(
    "never fires early at speed %d, and less than a real millisecond late",
    async (speed) => {
      const below = new VirtualClock({ startAt });
      const clock = acceleratedClock({ speed, clock: below });
      const late: number[] = [];
      for (let ms = 0; ms < 200; ms++) {
        const dueAt = clock.now() + ms;
        clock.setTimer(ms, () => late.push(clock.now() - dueAt));
      }
      await below.runUntilIdle();
      expect(late).toHaveLength(200);
      expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...late)).toBeLessThanOrEqual(speed);
    },
  );

  it("waits longer when the underlying clock fires early, and can still be cancelled then", async () => {
    const below = new VirtualClock();
    const early: Clock = {
      now: () => below.now(),
      sleep: (ms) => below.sleep(ms),
      setTimer: (ms, run) => below.setTimer(Math.ceil(ms / 2), run),
    };
    const clock = acceleratedClock({ speed: 10, clock: early });
    const firedAt: number[] = [];
    clock.setTimer(100, () => firedAt.push(clock.now()));
    const cancelled = clock.setTimer(100, () => firedAt.push(-1));
    await below.advance(9);
    expect(firedAt).toEqual([]);
    cancelled.cancel();
    await below.runUntilIdle();
    expect(firedAt).toEqual([100]);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("refuses speed %d", (speed) => {
    expect(() => acceleratedClock({ speed })).toThrow(RangeError);
  });
});
