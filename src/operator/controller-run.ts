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
  /**
   * Keeps cluster state up to date. It runs from the moment we watch, while the other controllers wait until we lead,
   * and it hears of every change before they do: a controller that is woken by a change finds it in the state.
   */
  readonly stateController: Controller;
  readonly controllers: readonly Controller[];
}

/** The controllers of this process: they watch first, and act when it leads. */
export class ControllerRun {
  readonly started: Promise<void>;
  hasStarted = false;
  readonly #options: ControllerRunOptions;
  readonly #leading: Promise<void>;
  #resolveLeading: () => void = () => {};
  #resolveStarted: () => void = () => {};
  #running: RunningControllers | undefined;

  constructor(options: ControllerRunOptions) {
    this.#options = options;
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

  /** Starts the views and cluster state; the other controllers wait for `startLeading`. */
  watch(): void {
    const { client, clock, random, log, observe, pause, stateController, controllers } = this.#options;
    this.#running ??= startControllers({
      client,
      clock,
      random: random.fork("controllers"),
      controllers: [stateController, ...controllers.map((controller) => startAfter(this.#leading, controller))],
      projections: viewProjections(),
      pause,
      eventSource: { component: "karpenter", limits: { Nominated: { perSecond: 5, burst: 10 } } }, // (02:L-21)
      log,
      onFailure: controllerFailureLogger(log),
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

/** The controller, started only after the promise. */
function startAfter(started: Promise<void>, controller: Controller): Controller {
  return {
    ...controller,
    run: async (context, signal) => {
      await Promise.race([started, whenAborted(signal)]);
      if (!signal.aborted) await controller.run(context, signal);
    },
  };
}
