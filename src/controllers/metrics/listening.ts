import type { ResourceType } from "../../kube/client.ts";
import { aborted, type Loop, type LoopWorld } from "../../kube/loop.ts";

export interface ListeningOptions {
  readonly name: string;
  readonly kinds: readonly ResourceType[];
  /** Returns how to stop what it began. */
  readonly listen: (world: LoopWorld) => readonly (() => void)[];
}

/**
 * A loop that writes nothing: it listens, and answers when metrics are read. So there is nothing to try again, and
 * fifty thousand pods cost no queue and no timers.
 */
export function listeningLoop({ name, kinds, listen }: ListeningOptions): Loop {
  return {
    name,
    kinds,
    run: async (world, signal) => {
      const stops = listen(world);
      await aborted(signal);
      for (const stop of stops) stop();
    },
  };
}

/** Since a time of the API; never less than none, as its times have whole seconds and ours do not. */
export function secondsSince(time: string | number | undefined, now: number): number {
  const from = typeof time === "number" ? time : Date.parse(time ?? "");
  return Number.isNaN(from) ? 0 : Math.max(0, now - from) / 1_000;
}
