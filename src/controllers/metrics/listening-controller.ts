import type { ResourceType } from "../../kube/client.ts";
import type { Controller, ControllerContext } from "../../kube/controller.ts";
import { whenAborted } from "../../util/abort.ts";

export interface ListeningControllerOptions {
  readonly name: string;
  readonly kinds: readonly ResourceType[];
  /** Returns how to stop what it began. */
  readonly listen: (context: ControllerContext) => readonly (() => void)[];
}

/**
 * A loop that writes nothing: it listens, and answers when metrics are read. So there is nothing to try again, and
 * fifty thousand pods cost no queue and no timers.
 */
export function listeningController({ name, kinds, listen }: ListeningControllerOptions): Controller {
  return {
    name,
    kinds,
    run: async (context, signal) => {
      const stops = listen(context);
      await whenAborted(signal);
      for (const stop of stops) stop();
    },
  };
}

/** Since a time of the API; never less than none, as its times have whole seconds and ours do not. */
export function secondsSince(time: string | number | undefined, now: number): number {
  const from = typeof time === "number" ? time : Date.parse(time ?? "");
  return Number.isNaN(from) ? 0 : Math.max(0, now - from) / 1_000;
}
