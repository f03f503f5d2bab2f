import {
  type Controller,
  type RunningControllers,
  type StartControllersOptions,
  startControllers,
} from "../kube/controller.ts";
import { viewProjections } from "../state/view-projections.ts";
import { whenAborted } from "../util/abort.ts";
import type { Logger } from "../util/logger.ts";
import { controllerFailureLogger } from "./controller-failure-logger.ts";

export interface ControllerRunOptions
  extends Pick<StartControllersOptions, "client" | "clock" | "random" | "observe" | "pause"> {
  readonly log: Logger;
}

/** The controllers while they work: watching is one thing, acting on it another. */
export class ControllerRun {
  readonly started: Promise<void>;
  hasStarted = false;
  readonly #options: ControllerRunOptions;
  readonly #controllers: readonly Controller[];
  readonly #leading: Promise<void>;
  #resolveLeading: () => void = () => {};
  #resolveStarted: () => void = () => {};
  #running: RunningControllers | undefined;

  constructor(options: ControllerRunOptions, controllers: readonly Controller[]) {
    this.#options = options;
    this.#controllers = controllers;
    this.started = new Promise((resolve) => {
      this.#resolveStarted = resolve;
    });
    this.#leading = new Promise((resolve) => {
      this.#resolveLeading = resolve;
    });
  }

  get isWatching(): boolean {
    return this.#running !== undefined;
  }

  /** Cluster state follows the cluster; everybody else waits for the crown. */
  watch(): void {
    const { client, clock, random, log, observe, pause } = this.#options;
    const [stateController, ...others] = this.#controllers;
    this.#running ??= startControllers({
      client,
      clock,
      random: random.fork("controllers"),
      controllers: [
        ...(stateController ? [stateController] : []),
        ...others.map((controller) => startAfter(this.#leading, controller)),
      ],
      projections: viewProjections(),
      pause,
      eventSource: { component: "karpenter", limits: { Nominated: { perSecond: 5, burst: 10 } } }, // (02:L-21)
      log: controllerFailureLogger(log),
      observe,
    });
    void this.#running.started.then(() => {
      this.hasStarted = true;
    });
  }

  startLeading(): void {
    this.watch();
    this.#resolveLeading();
    void this.#running?.started.then(this.#resolveStarted);
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }
}

/** The loop, begun only after the promise. */
function startAfter(started: Promise<void>, controller: Controller): Controller {
  return {
    ...controller,
    run: async (context, signal) => {
      await Promise.race([started, whenAborted(signal)]);
      if (!signal.aborted) await controller.run(context, signal);
    },
  };
}
