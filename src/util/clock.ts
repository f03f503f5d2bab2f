/** A scheduled callback. */
export interface Timer {
  /** Has no effect after the timer fired. */
  cancel(): void;
}

/**
 * Source of time, always passed as an argument: nothing else in the program reads a clock or waits.
 * (docs/designs/interfaces.md)
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when aborted before. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` once after `ms`; zero or less means as soon as possible, never before this call returns. */
  setTimer(ms: number, run: () => void): Timer;
}

export interface AcceleratedClockOptions {
  /** How many times faster than the underlying clock: at 60 a minute passes in a second. */
  readonly speed: number;
  /** The underlying clock; the system's, unless given. */
  readonly clock?: Clock;
  /** The time at the start; the underlying clock's, unless given. */
  readonly startAt?: number;
}

/** The longest delay of `setTimeout`, which fires longer ones immediately. */
const maxTimeoutMs = 2 ** 31 - 1;

/** The real time. */
export function systemClock(): Clock {
  return withSleep({ now: () => Date.now(), setTimer: setSystemTimer });
}

/** Time that runs `speed` times faster than another clock. */
export function acceleratedClock({ speed, clock = systemClock(), startAt }: AcceleratedClockOptions): Clock {
  if (!(speed > 0 && speed < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`cannot run a clock at speed ${speed}: expected a number above 0`);
  }
  const origin = clock.now();
  const start = startAt ?? origin;
  const now = () => start + (clock.now() - origin) * speed;

  const setTimer = (ms: number, run: () => void): Timer => {
    const dueAt = now() + ms;
    // Rounded up: a millisecond too early on the underlying clock is `speed` milliseconds too early on this one.
    const arm = () => clock.setTimer(Math.ceil((dueAt - now()) / speed), fire);
    const fire = () => {
      if (now() < dueAt) underlying = arm();
      else run();
    };
    let underlying = arm();
    return { cancel: () => underlying.cancel() };
  };
  return withSleep({ now, setTimer });
}

/** Adds sleep() to a clock that has timers. */
function withSleep(base: Pick<Clock, "now" | "setTimer">): Clock {
  return { ...base, sleep: (ms, signal) => sleepOn(base, { ms, signal }) };
}

export function sleepOn(
  clock: Pick<Clock, "setTimer">,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.setTimer(ms, () => {
      signal?.removeEventListener("abort", abort); // a signal may live as long as the process
      resolve();
    });
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** Waits longer than `setTimeout` can are several timeouts in a row. */
function setSystemTimer(ms: number, run: () => void): Timer {
  let leftMs = ms;
  const arm = () => {
    const stepMs = Math.min(leftMs, maxTimeoutMs);
    leftMs -= stepMs;
    return setTimeout(fire, stepMs);
  };
  const fire = () => {
    if (leftMs > 0) handle = arm();
    else run();
  };
  let handle = arm();
  return { cancel: () => clearTimeout(handle) };
}
