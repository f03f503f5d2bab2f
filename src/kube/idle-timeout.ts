import { onAbort } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";

export interface IdleTimeoutOptions {
  readonly clock: Clock;
  readonly idleMs: number;
  /** Its abort is passed on. */
  readonly parentSignal: AbortSignal;
  readonly onIdle: () => void;
}

export interface IdleTimeout {
  readonly signal: AbortSignal;
  touch(): void;
  stop(): void;
}

/**
 * A connection is considered dead after this long without data: a peer that vanished sends no FIN. The signal aborts
 * then, or when the parent signal does.
 */
export function startIdleTimeout({ clock, idleMs, parentSignal, onIdle }: IdleTimeoutOptions): IdleTimeout {
  const controller = new AbortController();
  let touchedAt = clock.now();
  // touch() only stores the time: there may be thousands of events a second.
  const check = (): void => {
    const leftMs = touchedAt + idleMs - clock.now();
    if (leftMs > 0) {
      timer = clock.setTimer(leftMs, check);
      return;
    }
    onIdle();
    controller.abort();
  };
  let timer = clock.setTimer(idleMs, check);
  const stopListening = onAbort(parentSignal, () => controller.abort(parentSignal.reason));
  return {
    signal: controller.signal,
    touch: () => {
      touchedAt = clock.now();
    },
    stop: () => {
      timer.cancel();
      stopListening();
    },
  };
}
