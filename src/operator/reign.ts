import { aborted, type Loop, type LoopsOptions, type RunningLoops, startLoops } from "../kube/loop.ts";
import { projections } from "../state/projections.ts";
import type { Logger } from "../util/logger.ts";
import { troubleLog } from "./trouble-log.ts";

export interface ReignOptions extends Pick<LoopsOptions, "client" | "clock" | "random" | "observe" | "pause"> {
  readonly log: Logger;
}

/** The controllers while they work: watching is one thing, acting on it another. */
export class Reign {
  readonly begun: Promise<void>;
  hasBegun = false;
  readonly #options: ReignOptions;
  readonly #loops: readonly Loop[];
  readonly #crowned: Promise<void>;
  #crown: () => void = () => {};
  #begin: () => void = () => {};
  #running: RunningLoops | undefined;

  constructor(options: ReignOptions, loops: readonly Loop[]) {
    this.#options = options;
    this.#loops = loops;
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
    this.#crowned = new Promise((resolve) => {
      this.#crown = resolve;
    });
  }

  get isWatching(): boolean {
    return this.#running !== undefined;
  }

  /** Cluster state follows the cluster; everybody else waits for the crown. */
  watch(): void {
    const { client, clock, random, log, observe, pause } = this.#options;
    const [feed, ...others] = this.#loops;
    this.#running ??= startLoops({
      client,
      clock,
      random: random.fork("controllers"),
      loops: [...(feed ? [feed] : []), ...others.map((loop) => after(this.#crowned, loop))],
      projections: projections(),
      pause,
      voice: { component: "karpenter", limits: { Nominated: { perSecond: 5, burst: 10 } } }, // (02:L-21)
      log: troubleLog(log),
      observe,
    });
    void this.#running.begun.then(() => {
      this.hasBegun = true;
    });
  }

  begin(): void {
    this.watch();
    this.#crown();
    void this.#running?.begun.then(this.#begin);
  }

  async end(): Promise<void> {
    await this.#running?.stop();
  }
}

/** The loop, begun only after the promise. */
function after(moment: Promise<void>, loop: Loop): Loop {
  return {
    ...loop,
    run: async (world, signal) => {
      await Promise.race([moment, aborted(signal)]);
      if (!signal.aborted) await loop.run(world, signal);
    },
  };
}
