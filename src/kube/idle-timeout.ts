import { onAbort } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";

export interface IdleTimeoutOptions {
  readonly clock: Clock;
  readonly idleMs: number;
  /** Aborts the guarded work as well. */
  readonly parentSignal: AbortSignal;
  readonly onIdle: () => void;
}

export interface IdleTimeout {
  readonly signal: AbortSignal;
  touch(): void;
  stop(): void;
}

/** A signal that aborts when nothing was heard for too long: how a dead connection shows that never says so. */
export function startIdleTimeout({ clock, idleMs, parentSignal, onIdle }: IdleTimeoutOptions): IdleTimeout {
  const controller = new AbortController();
  let touchedAt = clock.now();
  // Hearing something moves no timer: there may be thousands of events a second.
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
