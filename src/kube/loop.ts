import { setMaxListeners } from "node:events";
import type { KubeObject } from "../api/object.ts";
import type { Clock } from "../util/clock.ts";
import { noPause, type Pause } from "../util/pause.ts";
import type { Random } from "../util/random.ts";
import type { BackOffOptions } from "./back-off.ts";
import type { KubeClient, ResourceType } from "./client.ts";
import { referenceTo } from "./event.ts";
import { EventRecorder, type EventRecorderOptions, type Happening } from "./event-recorder.ts";
import type { InformerTrouble } from "./informer.ts";
import { type Reconcile, Reconciler, type ReconcilerObserver } from "./reconciler.ts";
import type { Change, View } from "./view.ts";
import { type Projections, Views } from "./views.ts";

/** One of the things that go on in a cluster. (05 §6) */
export interface Loop {
  /** Also who its events come from. */
  readonly name: string;
  /** What it looks at: it begins when all of it is here. */
  readonly kinds: readonly ResourceType[];
  /** Until the signal aborts. */
  run(world: LoopWorld, signal: AbortSignal): Promise<void>;
}

/** What a loop has to work with. */
export interface LoopWorld {
  /** What is written through it shows in the views at once. */
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Of this loop alone. */
  readonly random: Random;
  readonly view: <T extends KubeObject>(type: ResourceType) => View<T>;
  /** Resolves when the view of the kind is complete; for kinds not named at the start. */
  readonly synced: (type: ResourceType) => Promise<void>;
  /** Stops watching a kind that is no longer served. */
  readonly forget: (type: ResourceType) => void;
  /** Asked between pieces of long work. */
  readonly pause: Pause;
  /** Something a person should read with `kubectl describe`. */
  readonly tell: (about: Subject, news: Omit<Happening, "about">) => void;
  readonly log: (entry: LoopTrouble) => void;
  /** Hears of the runs of this loop, for metrics. */
  readonly observe?: ReconcilerObserver | undefined;
}

/** Anything an Event can be about. */
export type Subject = Pick<KubeObject, "apiVersion" | "kind" | "metadata">;

/** What went wrong without stopping anything. */
export type LoopTrouble =
  | { readonly kind: "reconcile-failed"; readonly loop: string; readonly key: string; readonly error: unknown }
  | { readonly kind: "loop-ended"; readonly loop: string; readonly error: unknown }
  | { readonly kind: "event-lost"; readonly loop: string; readonly error: unknown }
  | { readonly kind: "watch-trouble"; readonly type: ResourceType; readonly trouble: InformerTrouble };

export interface LoopsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly loops: readonly Loop[];
  readonly log?: ((entry: LoopTrouble) => void) | undefined;
  readonly projections?: Projections | undefined;
  /** Asked while much is taken in at once; it works on, unless given. */
  readonly pause?: Pause | undefined;
  /** One voice for all loops; each speaks in its own name, unless given. */
  readonly voice?: Pick<EventRecorderOptions, "component" | "limits"> | undefined;
  readonly observe?: ((loop: string) => ReconcilerObserver) | undefined;
  /** Whether loops write Events; a simulation of years has no use for them. Yes, unless said otherwise. */
  readonly recordsEvents?: boolean | undefined;
}

export interface RunningLoops {
  /** Resolves when every loop has seen the world and begun. */
  readonly begun: Promise<void>;
  stop(): Promise<void>;
}

/** Runs loops over any client. With a virtual clock and the in-process client the run is deterministic. (design §8) */
export function startLoops(options: LoopsOptions): RunningLoops {
  const { client, clock, random, loops, log, projections, recordsEvents = true } = options;
  const say = log ?? (() => {});
  const views = new Views({
    client,
    clock,
    random: random.fork("watches"),
    projections,
    pause: options.pause,
    onTrouble: (type, trouble) => say({ kind: "watch-trouble", type, trouble }),
  });
  const noting = views.client();
  const recorders: Promise<void>[] = [];
  const recorderOf = (name: string, voice: LoopsOptions["voice"], signal: AbortSignal): EventRecorder => {
    const recorder = new EventRecorder({
      component: name,
      ...voice,
      kube: client,
      clock,
      random: random.fork(name).fork("events"),
      onError: (error) => say({ kind: "event-lost", loop: name, error }),
    });
    if (recordsEvents) recorders.push(recorder.run(signal));
    return recorder;
  };
  const speaking = new AbortController();
  const shared = options.voice && recorderOf(options.voice.component, options.voice, speaking.signal);
  const worldOf = ({ name }: Loop, signal: AbortSignal): LoopWorld => {
    const own = random.fork(name);
    const recorder = shared ?? recorderOf(name, undefined, signal);
    return {
      client: noting,
      clock,
      random: own,
      view: (type) => views.of(type),
      synced: (type) => views.synced(type),
      forget: (type) => views.forget(type),
      pause: options.pause ?? noPause,
      tell: (about, news) => void (recordsEvents && recorder.record({ about: referenceTo(about), ...news })),
      log: say,
      observe: options.observe?.(name),
    };
  };
  const running = loops.map((loop) => {
    const stopping = new AbortController();
    const { signal } = stopping;
    setMaxListeners(0, signal); // every kind and every wait listens to it: that is no leak
    const synced = Promise.all(loop.kinds.map((type) => views.synced(type)));
    const ended = Promise.race([synced, aborted(signal)])
      .then(() => (signal.aborted ? undefined : loop.run(worldOf(loop, signal), signal)))
      .catch((error: unknown) => say({ kind: "loop-ended", loop: loop.name, error }));
    return { stopping, synced, ended };
  });
  return {
    begun: Promise.all(running.map(({ synced }) => synced)).then(() => {}),
    stop: async () => {
      for (const { stopping } of running) stopping.abort();
      await Promise.all([...running.map(({ ended }) => ended), views.stop()]);
      speaking.abort();
      await Promise.all(recorders);
    },
  };
}

/** Which keys a change makes worth a look. */
export interface Trigger {
  readonly type: ResourceType;
  readonly keys: (change: Change<KubeObject>, world: LoopWorld) => Iterable<string>;
  /** How long to wait for more of the kind: a thousand pods that start together are one look, not a thousand. */
  readonly settleMs?: number | undefined;
}

export function on<T extends KubeObject>(
  type: ResourceType,
  keys: (change: Change<T>, world: LoopWorld) => Iterable<string>,
  options: Pick<Trigger, "settleMs"> = {},
): Trigger {
  return { type, keys: keys as unknown as Trigger["keys"], ...options };
}

export interface ReconcileLoopOptions {
  readonly name: string;
  readonly triggers: readonly Trigger[];
  /** What it reads beside what triggers it. */
  readonly kinds?: readonly ResourceType[] | undefined;
  readonly reconcile: Reconcile<string, LoopWorld>;
  readonly concurrency?: number | undefined;
  readonly backOff?: BackOffOptions | undefined;
  /** News that no view tells of. Gets how to enqueue, gives how to stop. */
  readonly wake?: ((enqueue: (key: string) => void, world: LoopWorld) => () => void) | undefined;
  /** Once, before the first look: for indexes. */
  readonly prepare?: ((world: LoopWorld) => void) | undefined;
  /** Looked at once at the start, whatever changes: for loops that go by the clock. */
  readonly initial?: readonly string[] | undefined;
}

/** The usual loop: changes name keys, and each key is looked at until its part of the world is right. */
export function reconcileLoop(options: ReconcileLoopOptions): Loop {
  const { name, triggers, reconcile, concurrency = 1, backOff, initial = [] } = options;
  const kinds = [...triggers.map(({ type }) => type), ...(options.kinds ?? [])];
  return {
    name,
    kinds,
    run: async (world, signal) => {
      options.prepare?.(world);
      const reconciler = new Reconciler<string, LoopWorld>({
        name,
        reconcile,
        world,
        clock: world.clock,
        random: world.random.fork("back-off"),
        concurrency,
        pause: world.pause,
        ...(backOff && { backOff }),
        ...(world.observe && { observe: world.observe }),
        onError: ({ key, error }) => world.log({ kind: "reconcile-failed", loop: name, key, error }),
      });
      const unsubscribe = triggers.map(({ type, keys, settleMs }) =>
        world.view(type).subscribe((change) => {
          for (const key of keys(change, world)) {
            if (settleMs === undefined) reconciler.enqueue(key);
            else reconciler.enqueueAfter(key, settleMs);
          }
        }),
      );
      if (options.wake) unsubscribe.push(options.wake((key) => reconciler.enqueue(key), world));
      for (const key of initial) reconciler.enqueue(key);
      await reconciler.run(signal);
      for (const stop of unsubscribe) stop();
    },
  };
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
