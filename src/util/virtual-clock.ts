import { type Clock, sleepOn, type Timer } from "./clock.ts";
import { Heap } from "./heap.ts";
import type { Random } from "./random.ts";

export interface VirtualClockOptions {
  /** The time at the start; the epoch, unless given. */
  readonly startAt?: number;
  /**
   * Orders timers due at the same time randomly; in the order they were set, unless given.
   * (docs/designs/determinism.md)
   */
  readonly shuffle?: Random;
}

export interface ClockRunOptions {
  /** Stops when everything due up to this time has run; the clock then shows it. */
  readonly untilMs?: number;
  /** Stops after this many timers. */
  readonly maxTimers?: number;
}

export interface ClockRunOutcome {
  /** No timer is left, the time is reached, or maxTimers have run. */
  readonly stoppedBy: "idle" | "time" | "timers";
  readonly timersRun: number;
}

interface PendingTimer {
  readonly dueAt: number;
  readonly tie: number;
  readonly sequence: number;
  run: () => void;
  state: "pending" | "fired" | "cancelled";
}

/**
 * Cancelled timers stay in the heap until they surface, or until there are more than this and they are the majority.
 */
const maxCancelledKept = 64;

/**
 * A clock that stands still while anything can run and then jumps to the next timer, so that a week of a cluster passes
 * in seconds and always in the same order. (docs/designs/determinism.md)
 *
 * A timer that throws stops the run with its error; the timers after it stay due, and the next run continues with them.
 */
export class VirtualClock implements Clock {
  readonly #timers = new Heap<PendingTimer>(byTime);
  readonly #shuffle: Random | undefined;
  #now: number;
  #sequence = 0;
  #cancelled = 0;
  #activity = 0; // counts timers set and cancelled, to detect turns of the event loop that did something
  #isRunning = false;

  constructor({ startAt = 0, shuffle }: VirtualClockOptions = {}) {
    this.#now = startAt;
    this.#shuffle = shuffle;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, { ms, signal });
  }

  setTimer(ms: number, run: () => void): Timer {
    const timer: PendingTimer = {
      dueAt: this.#now + Math.max(0, ms || 0),
      tie: this.#shuffle?.int(2 ** 32) ?? 0,
      sequence: this.#sequence++,
      run,
      state: "pending",
    };
    this.#timers.push(timer);
    this.#activity++;
    return { cancel: () => this.#cancel(timer) };
  }

  /** How many timers are pending. */
  get pending(): number {
    return this.#timers.size - this.#cancelled;
  }

  /** When the next timer is due. */
  nextDueAt(): number | undefined {
    return this.#next()?.dueAt;
  }

  /** Advances the time by `ms`, running everything that becomes due, in order. */
  async advance(ms: number): Promise<ClockRunOutcome> {
    return this.#exclusively(async () => {
      const untilMs = this.#now + ms;
      const outcome = await this.#run({ untilMs, maxTimers: Number.POSITIVE_INFINITY });
      this.#now = untilMs;
      return outcome;
    });
  }

  /** Runs timers, jumping from one to the next, until there is none or a limit is reached. */
  async runUntilIdle({ untilMs, maxTimers }: ClockRunOptions = {}): Promise<ClockRunOutcome> {
    return this.#exclusively(() =>
      this.#run({ untilMs: untilMs ?? Number.MAX_VALUE, maxTimers: maxTimers ?? Number.POSITIVE_INFINITY }),
    );
  }

  async #run({ untilMs, maxTimers }: Required<ClockRunOptions>): Promise<ClockRunOutcome> {
    for (let timersRun = 0; ; timersRun++) {
      await this.#settle();
      const timer = this.#next();
      if (timer === undefined || timer.dueAt === Number.POSITIVE_INFINITY) return { stoppedBy: "idle", timersRun };
      if (timer.dueAt > untilMs) {
        this.#now = Math.max(this.#now, untilMs);
        return { stoppedBy: "time", timersRun };
      }
      if (timersRun >= maxTimers) return { stoppedBy: "timers", timersRun };
      this.#fire(timer);
    }
  }

  #fire(timer: PendingTimer): void {
    this.#timers.pop();
    this.#now = timer.dueAt;
    timer.state = "fired";
    timer.run();
  }

  /** Waits until the microtasks have drained and no timer was set or cancelled in a full turn of the event loop. */
  async #settle(): Promise<void> {
    let before: number;
    do {
      before = this.#activity;
      await eventLoopTurn();
    } while (this.#activity !== before);
  }

  #next(): PendingTimer | undefined {
    while (this.#timers.peek()?.state === "cancelled") {
      this.#timers.pop();
      this.#cancelled--;
    }
    return this.#timers.peek();
  }

  #cancel(timer: PendingTimer): void {
    if (timer.state !== "pending") return;
    timer.state = "cancelled";
    timer.run = () => {}; // what it would have run may hold much, and the timer stays for a while
    this.#cancelled++;
    this.#activity++;
    if (this.#cancelled > maxCancelledKept && this.#cancelled > this.#timers.size / 2) {
      this.#timers.retain(({ state }) => state === "pending");
      this.#cancelled = 0;
    }
  }

  /** Two concurrent runs would compete for timers, and the order would depend on the event loop. */
  async #exclusively(run: () => Promise<ClockRunOutcome>): Promise<ClockRunOutcome> {
    if (this.#isRunning) throw new Error("the virtual clock is already running");
    this.#isRunning = true;
    try {
      return await run();
    } finally {
      this.#isRunning = false;
    }
  }
}

function byTime(a: PendingTimer, b: PendingTimer): number {
  // Two timers may both be due at infinity, and infinity minus infinity is NaN.
  if (a.dueAt !== b.dueAt) return a.dueAt < b.dueAt ? -1 : 1;
  return a.tie - b.tie || a.sequence - b.sequence;
}

function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
