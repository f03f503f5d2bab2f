import { setMaxListeners } from "node:events";
import type { KubeObject } from "../api/object.ts";
import { whenAborted } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { noPause, type Pause } from "../util/pause.ts";
import type { Random } from "../util/random.ts";
import type { BackOffOptions } from "./back-off.ts";
import type { KubeClient, ResourceType } from "./client.ts";
import { referenceTo } from "./event.ts";
import { type EventRecord, EventRecorder, type EventRecorderOptions } from "./event-recorder.ts";
import type { InformerFailure } from "./informer.ts";
import { type Reconcile, Reconciler, type ReconcilerObserver } from "./reconciler.ts";
import { type Projections, SharedViews } from "./shared-views.ts";
import type { ObjectChange, View } from "./view.ts";

/** A long-running controller. (05 §6) */
export interface Controller {
  /** Also the component its Events come from. */
  readonly name: string;
  /** Kinds it reads; it starts when all of them have synced. */
  readonly kinds: readonly ResourceType[];
  /** Runs until the signal aborts. */
  run(context: ControllerContext, signal: AbortSignal): Promise<void>;
}

/** What a controller is given to work with. */
export interface ControllerContext {
  /** Writes through it show in the views at once. */
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Not shared with other controllers. */
  readonly random: Random;
  readonly view: <T extends KubeObject>(type: ResourceType) => View<T>;
  /** Resolves when the view of the kind has synced; for kinds not in Controller.kinds. */
  readonly synced: (type: ResourceType) => Promise<void>;
  /** Stops watching a kind that is no longer served. */
  readonly stopWatching: (type: ResourceType) => void;
  /** Called between pieces of long work. */
  readonly pause: Pause;
  /** Records a Kubernetes Event about the object. */
  readonly recordEvent: (object: InvolvedObject, event: Omit<EventRecord, "involvedObject">) => void;
  readonly log: (entry: ControllerFailure) => void;
  /** Observes the reconciler's runs, for metrics. */
  readonly observe?: ReconcilerObserver | undefined;
}

/** An object an Event can be about. */
export type InvolvedObject = Pick<KubeObject, "apiVersion" | "kind" | "metadata">;

/** A failure that does not stop the process. */
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
  readonly log?: ((entry: ControllerFailure) => void) | undefined;
  readonly projections?: Projections | undefined;
  /** Called while large lists are read; never pauses, unless given. */
  readonly pause?: Pause | undefined;
  /** One event source for all controllers; each controller's own name, unless given. */
  readonly eventSource?: Pick<EventRecorderOptions, "component" | "limits"> | undefined;
  readonly observe?: ((controller: string) => ReconcilerObserver) | undefined;
  /** Whether controllers write Events (default true); long simulations do without. */
  readonly recordsEvents?: boolean | undefined;
}

export interface RunningControllers {
  /** Resolves when every controller has synced and started. */
  readonly started: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs controllers over any client. With a virtual clock and the in-process client the run is deterministic.
 * (docs/designs/determinism.md)
 */
export function startControllers(options: StartControllersOptions): RunningControllers {
  const { client, clock, random, controllers, log, projections, recordsEvents = true } = options;
  const logFailure = log ?? (() => {});
  const views = new SharedViews({
    client,
    clock,
    random: random.fork("watches"),
    projections,
    pause: options.pause,
    onFailure: (type, failure) => logFailure({ kind: "informer-failed", type, failure }),
  });
  const writeThroughClient = views.writeThroughClient();
  const recorders: Promise<void>[] = [];
  const recorderOf = (
    name: string,
    eventSource: StartControllersOptions["eventSource"],
    signal: AbortSignal,
  ): EventRecorder => {
    const recorder = new EventRecorder({
      component: name,
      ...eventSource,
      kube: client,
      clock,
      random: random.fork(name).fork("events"),
      onError: (error) => logFailure({ kind: "event-lost", controller: name, error }),
    });
    if (recordsEvents) recorders.push(recorder.run(signal));
    return recorder;
  };
  const recorderStop = new AbortController();
  const sharedRecorder =
    options.eventSource && recorderOf(options.eventSource.component, options.eventSource, recorderStop.signal);
  const contextOf = ({ name }: Controller, signal: AbortSignal): ControllerContext => {
    const ownRandom = random.fork(name);
    const recorder = sharedRecorder ?? recorderOf(name, undefined, signal);
    return {
      client: writeThroughClient,
      clock,
      random: ownRandom,
      view: (type) => views.of(type),
      synced: (type) => views.synced(type),
      stopWatching: (type) => views.stopWatching(type),
      pause: options.pause ?? noPause,
      recordEvent: (object, event) =>
        void (recordsEvents && recorder.record({ involvedObject: referenceTo(object), ...event })),
      log: logFailure,
      observe: options.observe?.(name),
    };
  };
  const running = controllers.map((controller) => {
    const stopping = new AbortController();
    const { signal } = stopping;
    setMaxListeners(0, signal); // each view and each wait adds a listener; this is not a leak
    const synced = Promise.all(controller.kinds.map((type) => views.synced(type)));
    const ended = Promise.race([synced, whenAborted(signal)])
      .then(() => (signal.aborted ? undefined : controller.run(contextOf(controller, signal), signal)))
      .catch((error: unknown) => logFailure({ kind: "controller-ended", controller: controller.name, error }));
    return { stopping, synced, ended };
  });
  return {
    started: Promise.all(running.map(({ synced }) => synced)).then(() => {}),
    stop: async () => {
      for (const { stopping } of running) stopping.abort();
      await Promise.all([...running.map(({ ended }) => ended), views.stop()]);
      recorderStop.abort();
      await Promise.all(recorders);
    },
  };
}

/** Which keys a change enqueues. */
export interface WatchTrigger {
  readonly type: ResourceType;
  readonly keys: (change: ObjectChange<KubeObject>, context: ControllerContext) => Iterable<string>;
  /** Delays the key, so that a burst of changes causes one run. */
  readonly settleMs?: number | undefined;
}

export function triggerOn<T extends KubeObject>(
  type: ResourceType,
  keys: (change: ObjectChange<T>, context: ControllerContext) => Iterable<string>,
  options: Pick<WatchTrigger, "settleMs"> = {},
): WatchTrigger {
  return { type, keys: keys as unknown as WatchTrigger["keys"], ...options };
}

export interface ReconcileControllerOptions {
  readonly name: string;
  readonly triggers: readonly WatchTrigger[];
  /** Kinds it reads besides those that trigger it. */
  readonly kinds?: readonly ResourceType[] | undefined;
  readonly reconcile: Reconcile<string, ControllerContext>;
  readonly concurrency?: number | undefined;
  readonly backOff?: BackOffOptions | undefined;
  /** A source of keys other than views: gets an enqueue function, returns the unsubscribe function. */
  readonly subscribe?: ((enqueue: (key: string) => void, context: ControllerContext) => () => void) | undefined;
  /** Called once before the first run: for indexes. */
  readonly prepare?: ((context: ControllerContext) => void) | undefined;
  /** Keys enqueued at the start: for controllers driven by time. */
  readonly initialKeys?: readonly string[] | undefined;
}

/** A controller that reconciles the keys its triggers enqueue. */
export function reconcileController(options: ReconcileControllerOptions): Controller {
  const { name, triggers, reconcile, concurrency = 1, backOff, initialKeys = [] } = options;
  const kinds = [...triggers.map(({ type }) => type), ...(options.kinds ?? [])];
  return {
    name,
    kinds,
    run: async (context, signal) => {
      options.prepare?.(context);
      const reconciler = new Reconciler<string, ControllerContext>({
        name,
        reconcile,
        context,
        clock: context.clock,
        random: context.random.fork("back-off"),
        concurrency,
        pause: context.pause,
        ...(backOff && { backOff }),
        ...(context.observe && { observe: context.observe }),
        onError: ({ key, error }) => context.log({ kind: "reconcile-failed", controller: name, key, error }),
      });
      const unsubscribe = triggers.map(({ type, keys, settleMs }) =>
        context.view(type).subscribe((change) => {
          for (const key of keys(change, context)) {
            if (settleMs === undefined) reconciler.enqueue(key);
            else reconciler.enqueueAfter(key, settleMs);
          }
        }),
      );
      if (options.subscribe) unsubscribe.push(options.subscribe((key) => reconciler.enqueue(key), context));
      for (const key of initialKeys) reconciler.enqueue(key);
      await reconciler.run(signal);
      for (const stop of unsubscribe) stop();
    },
  };
}
