import type { Clock } from "../util/clock.ts";

export interface SilenceOptions {
  readonly clock: Clock;
  readonly silenceMs: number;
  /** Aborts the guarded work as well. */
  readonly outer: AbortSignal;
  readonly onSilence: () => void;
}

export interface SilenceGuard {
  readonly signal: AbortSignal;
  heard(): void;
  stop(): void;
}

/** A signal that aborts when nothing was heard for too long: how a dead connection shows that never says so. */
export function guardAgainstSilence({ clock, silenceMs, outer, onSilence }: SilenceOptions): SilenceGuard {
  const controller = new AbortController();
  let heardAt = clock.now();
  // Hearing something moves no timer: there may be thousands of events a second.
  const check = (): void => {
    const leftMs = heardAt + silenceMs - clock.now();
    if (leftMs > 0) {
      timer = clock.setTimer(leftMs, check);
      return;
    }
    onSilence();
    controller.abort();
  };
  let timer = clock.setTimer(silenceMs, check);
  const abort = (): void => controller.abort(outer.reason);
  if (outer.aborted) abort();
  else outer.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    heard: () => {
      heardAt = clock.now();
    },
    stop: () => {
      timer.cancel();
      outer.removeEventListener("abort", abort);
    },
  };
}
