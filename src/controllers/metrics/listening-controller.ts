import type { ResourceType } from "../../kube/client.ts";
import type { Controller } from "../../kube/controller.ts";
import { whenAborted } from "../../util/abort.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, withDependencies } from "../karpenter-context.ts";

export interface ListeningControllerOptions {
  readonly name: string;
  readonly kinds: readonly ResourceType[];
  readonly reads?: Controller["reads"];
  /** Returns how to stop what it started. */
  readonly listen: (context: KarpenterContext) => readonly (() => void)[];
}

/**
 * A controller that writes nothing: it subscribes, and computes when metrics are read. Nothing has to be retried, so
 * fifty thousand pods need no queue and no timers.
 */
export function listeningController(
  dependencies: ControllerDependencies,
  { name, kinds, reads, listen }: ListeningControllerOptions,
): Controller {
  const run = async (context: KarpenterContext, signal: AbortSignal): Promise<void> => {
    const stops = listen(context);
    await whenAborted(signal);
    for (const stop of stops) stop();
  };
  return withDependencies({ name, kinds, reads, run }, dependencies);
}

/** Never negative: timestamps of the API are whole seconds, ours are not. */
export function secondsSince(time: string | number | undefined, now: number): number {
  const from = typeof time === "number" ? time : Date.parse(time ?? "");
  return Number.isNaN(from) ? 0 : Math.max(0, now - from) / 1_000;
}
