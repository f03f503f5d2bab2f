import { setMaxListeners } from "node:events";
import type { KubeObject } from "../api/object.ts";
import { whenAborted } from "../util/abort.ts";
import type { BackOffOptions } from "../util/back-off.ts";
import type { Clock } from "../util/clock.ts";
import { type Logger, silentLogger } from "../util/logger.ts";
import { noPause, type Pause } from "../util/pause.ts";
import type { Random } from "../util/random.ts";
import type { KubeClient, ResourceType } from "./client.ts";
import { referenceTo } from "./event.ts";
import { type EventRecord, EventRecorder, type EventRecorderOptions } from "./event-recorder.ts";
import type { InformerFailure } from "./informer.ts";
import { type ReconcileResult, Reconciler, type ReconcilerObserver } from "./reconciler.ts";
import { SharedViews } from "./shared-views.ts";
import type { ObjectChange, Projections, View } from "./view.ts";

/** A controller: it does one job for as long as it runs. (05 §6) */
export interface Controller<Context extends ControllerContext = ControllerContext> {
  /** Also the source of its events and of its log lines. */
  readonly name: string;
  /** The kinds it reads: it starts when all of them have been listed. */
  readonly kinds: readonly ResourceType[];
  /** What it reads beside the kinds that wake it. */
  readonly reads?: readonly UnwatchedRead[] | undefined;
  /** Runs until the signal aborts. */
  run(context: Context, signal: AbortSignal): Promise<void>;
}

/** Something a controller reads without being woken by it, and why no change is missed. (docs/designs/wake-ups.md) */
export interface UnwatchedRead {
  /** A kind, or what else it reads, such as the cloud. */
  readonly of: ResourceType | string;
  /** How soon it looks again while it waits for a change; without it, no change need wake the controller. */
  readonly withinMs?: number | undefined;
  readonly because: string;
}

/** What a controller works with; nothing here is about Karpenter. */
export interface ControllerContext {
  /** Writes through it show in the views at once. */
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Of this controller alone. */
  readonly random: Random;
  readonly view: <T extends KubeObject>(type: ResourceType) => View<T>;
  /** Resolves when the view of the kind is complete; for kinds the controller does not name in `kinds`. */
  readonly synced: (type: ResourceType) => Promise<void>;
  /** Stops watching a kind that is no longer served. */
  readonly stopWatching: (type: ResourceType) => void;
  /** Called between pieces of long work. */
  readonly pause: Pause;
  /** Writes an Event that `kubectl describe` shows with the object. */
  readonly recordEvent: (object: InvolvedObject, event: Omit<EventRecord, "involvedObject">) => void;
  /** Names the controller in every line. */
  readonly log: Logger;
  /** Reports what went wrong without stopping the controller. */
  readonly reportFailure: (failure: ControllerFailure) => void;
  /** Observes the reconciles of this controller, for metrics. */
  readonly observe?: ReconcilerObserver | undefined;
}

/** An object an Event can be about. */
export type InvolvedObject = Pick<KubeObject, "apiVersion" | "kind" | "metadata">;

/** Something that went wrong without stopping the process. */
export type ControllerFailure =
  | { readonly kind: "reconcile-failed"; readonly controller: string; readonly key: string; readonly error: unknown }
  | { readonly kind: "controller-ended"; readonly controller: string; readonly error: unknown }
  | { readonly kind: "event-lost"; readonly controller: string; readonly error: unknown }
  | { readonly kind: "informer-failed"; readonly type: ResourceType; readonly failure: InformerFailure };

export interface StartControllersOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly controllers: readonly Controller[];
  /** Nothing is logged by default. */
  readonly log?: Logger | undefined;
  readonly onFailure?: ((failure: ControllerFailure) => void) | undefined;
  readonly projections?: Projections | undefined;
  /** Asked while many objects arrive at once; there is no pause by default. */
  readonly pause?: Pause | undefined;
  /** One source for the events of all controllers; by default each controller is its own source. */
  readonly eventSource?: Pick<EventRecorderOptions, "component" | "limits"> | undefined;
  readonly observe?: ((controller: string) => ReconcilerObserver) | undefined;
  /** Whether controllers write Events (the default); a simulation of years has no use for them. */
  readonly recordsEvents?: boolean | undefined;
}

export interface RunningControllers {
  /** Resolves when the kinds of every controller have been listed and all have started. */
  readonly started: Promise<void>;
  stop(): Promise<void>;
}

/** Runs controllers over any client. With a virtual clock and the in-process client the run is deterministic. (docs/designs/determinism.md) */
export function startControllers(options: StartControllersOptions): RunningControllers {
  const { client, clock, random, controllers, projections, pause, onFailure = () => {} } = options;
  const views = new SharedViews({
    client,
    clock,
    random: random.fork("watches"),
    projections,
    pause,
    onFailure: (type, failure) => onFailure({ kind: "informer-failed", type, failure }),
  });
  const recorders = new ControllerEventRecorders(options);
  const contextOf = contextFactory(options, views, recorders);
  const running = controllers.map((controller) => {
    const stopping = new AbortController();
    const { signal } = stopping;
    setMaxListeners(0, signal); // each view and each wait adds a listener; this is not a leak
    const synced = Promise.all(controller.kinds.map((type) => views.synced(type)));
    const ended = Promise.race([synced, whenAborted(signal)])
      .then(() => (signal.aborted ? undefined : controller.run(contextOf(controller.name, signal), signal)))
      .catch((error: unknown) => onFailure({ kind: "controller-ended", controller: controller.name, error }));
    return { stopping, synced, ended };
  });
  return {
    started: Promise.all(running.map(({ synced }) => synced)).then(() => {}),
    stop: async () => {
      for (const { stopping } of running) stopping.abort();
      await Promise.all([...running.map(({ ended }) => ended), views.stop()]);
      await recorders.stop();
    },
  };
}

function contextFactory(
  { clock, random, log = silentLogger, pause = noPause, observe, onFailure = () => {} }: StartControllersOptions,
  views: SharedViews,
  recorders: ControllerEventRecorders,
): (controller: string, signal: AbortSignal) => ControllerContext {
  const client = views.writeThroughClient();
  return (controller, signal) => ({
    client,
    clock,
    random: random.fork(controller),
    view: (type) => views.of(type),
    synced: (type) => views.synced(type),
    stopWatching: (type) => views.stopWatching(type),
    pause,
    recordEvent: recorders.recordEventOf(controller, signal),
    log: log.with({ controller }),
    reportFailure: onFailure,
    observe: observe?.(controller),
  });
}

/** One event recorder for all controllers if there is an event source, otherwise one for each. */
class ControllerEventRecorders {
  readonly #options: StartControllersOptions;
  readonly #ended: Promise<void>[] = [];
  readonly #stopping = new AbortController();
  readonly #shared: EventRecorder | undefined;

  constructor(options: StartControllersOptions) {
    this.#options = options;
    const { eventSource, recordsEvents = true } = options;
    if (eventSource && recordsEvents) this.#shared = this.#start(eventSource.component, this.#stopping.signal);
  }

  /** The controller's own recorder ends with its signal. */
  recordEventOf(controller: string, signal: AbortSignal): ControllerContext["recordEvent"] {
    if (this.#options.recordsEvents === false) return () => {};
    const recorder = this.#shared ?? this.#start(controller, signal);
    return (object, event) => recorder.record({ involvedObject: referenceTo(object), ...event });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#ended);
  }

  #start(name: string, signal: AbortSignal): EventRecorder {
    const { client, clock, random, eventSource, onFailure } = this.#options;
    const recorder = new EventRecorder({
      component: name,
      ...eventSource,
      kube: client,
      clock,
      random: random.fork(name).fork("events"),
      onError: (error) => onFailure?.({ kind: "event-lost", controller: name, error }),
    });
    this.#ended.push(recorder.run(signal));
    return recorder;
  }
}

/** Enqueues keys of a controller when objects of a kind change. */
export interface WatchTrigger {
  readonly type: ResourceType;
  /** Gets how to enqueue a key, returns how to stop. */
  readonly subscribe: (enqueue: (key: string) => void, context: ControllerContext) => () => void;
  /** How long to wait for more changes: a thousand pods that start together are reconciled once, not a thousand times. */
  readonly settleMs?: number | undefined;
}

/** A trigger that enqueues the keys each change of the kind concerns. */
export function triggerOn<T extends KubeObject>(
  type: ResourceType,
  keys: (change: ObjectChange<T>, context: ControllerContext) => Iterable<string>,
  options: Pick<WatchTrigger, "settleMs"> = {},
): WatchTrigger {
  return {
    type,
    ...options,
    subscribe: (enqueue, context) =>
      context.view<T>(type).subscribe((change) => {
        for (const key of keys(change, context)) enqueue(key);
      }),
  };
}

export interface ReconcileControllerOptions<Context extends ControllerContext = ControllerContext, State = undefined> {
  readonly name: string;
  readonly triggers: readonly WatchTrigger[];
  /** Kinds it reads beside those that trigger it. */
  readonly kinds?: readonly ResourceType[] | undefined;
  readonly reads?: readonly UnwatchedRead[] | undefined;
  /**
   * Called once, before the first reconcile: adds indexes to views, and returns what the controller remembers while it
   * runs. A controller that is started again starts from nothing.
   */
  readonly start?: ((context: Context) => State) | undefined;
  readonly reconcile: (key: string, context: Context, state: State) => Promise<ReconcileResult>;
  readonly concurrency?: number | undefined;
  readonly backOff?: BackOffOptions | undefined;
  /** For changes no view shows: gets how to enqueue a key, returns how to stop. */
  readonly subscribe?: ((enqueue: (key: string) => void, context: Context, state: State) => () => void) | undefined;
  /** Keys enqueued at the start, whatever changes: for controllers that go by the clock. */
  readonly initialKeys?: readonly string[] | undefined;
}

/** The usual controller: changes enqueue keys, and each key is reconciled until there is nothing left to do for it. */
export function reconcileController<Context extends ControllerContext = ControllerContext, State = undefined>(
  options: ReconcileControllerOptions<Context, State>,
): Controller<Context> {
  const { name, triggers, reads, reconcile, concurrency = 1, backOff, initialKeys = [] } = options;
  const kinds = [...triggers.map(({ type }) => type), ...(options.kinds ?? [])];
  return {
    name,
    kinds,
    reads,
    run: async (context, signal) => {
      const state = options.start?.(context) as State; // undefined only if there is no `start`, and then it is not read
      const reconciler = new Reconciler<string, Context>({
        name,
        reconcile: (key) => reconcile(key, context, state),
        context,
        clock: context.clock,
        random: context.random.fork("back-off"),
        concurrency,
        pause: context.pause,
        ...(backOff && { backOff }),
        ...(context.observe && { observe: context.observe }),
        onError: ({ key, error }) => context.reportFailure({ kind: "reconcile-failed", controller: name, key, error }),
      });
      const enqueue = (key: string): void => reconciler.enqueue(key);
      const unsubscribe = triggers.map(({ subscribe, settleMs }) =>
        subscribe(settleMs === undefined ? enqueue : (key) => reconciler.enqueueAfter(key, settleMs), context),
      );
      if (options.subscribe) unsubscribe.push(options.subscribe(enqueue, context, state));
      for (const key of initialKeys) reconciler.enqueue(key);
      await reconciler.run(signal);
      for (const stop of unsubscribe) stop();
    },
  };
}
