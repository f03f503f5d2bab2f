import type { KubeObject } from "../api/object.ts";
import type { Clock, Timer } from "../util/clock.ts";
import type { Pause } from "../util/pause.ts";
import type { Random } from "../util/random.ts";
import { cacheKey, type KubeClient, type ObjectKey, type ResourceType } from "./client.ts";
import { Informer, type InformerFailure } from "./informer.ts";
import { isKubeError } from "./kube-error.ts";
import { type Projections, View } from "./view.ts";

export interface SharedViewsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Projection by kind; the whole object, unless given. Must keep name, namespace, uid and resourceVersion. */
  readonly projections?: Projections | undefined;
  /** Called while large lists are read. */
  readonly pause?: Pause | undefined;
  readonly onFailure: (type: ResourceType, failure: InformerFailure) => void;
}

const keepWhole = (object: KubeObject): KubeObject => object;

interface WatchedType {
  readonly project: (object: KubeObject) => KubeObject;
  readonly type: ResourceType;
  readonly view: View<KubeObject>;
  readonly stop: AbortController;
  readonly synced: Promise<void>;
}

/** An own write not confirmed by the watch within this time is read from the server. */
const confirmAfterMs = 30_000;

/** One view per kind, shared by all controllers; its informer starts at the first request. */
export class SharedViews {
  readonly #options: SharedViewsOptions;
  readonly #watched = new Map<string, WatchedType>();
  readonly #ended: Promise<void>[] = [];
  #confirmTimer: Timer | undefined;
  #isStopped = false;

  constructor(options: SharedViewsOptions) {
    this.#options = options;
  }

  of<T extends KubeObject>(type: ResourceType): View<T> {
    return (this.#watched.get(typeKey(type)) ?? this.#watch(type)).view as unknown as View<T>;
  }

  /** Resolves when all objects that existed at the first request for the kind have been listed. */
  synced(type: ResourceType): Promise<void> {
    return (this.#watched.get(typeKey(type)) ?? this.#watch(type)).synced;
  }

  /** Stops watching a kind that is no longer served. */
  stopWatching(type: ResourceType): void {
    this.#watched.get(typeKey(type))?.stop.abort();
    this.#watched.delete(typeKey(type));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#confirmTimer?.cancel();
    for (const { stop } of this.#watched.values()) stop.abort();
    await Promise.all(this.#ended);
  }

  /** A client whose writes show in the views at once. */
  writeThroughClient(): KubeClient {
    const { client } = this.#options;
    const recordWrite = async <T extends KubeObject>(type: ResourceType, writing: Promise<T>, skipsView: boolean) => {
      const object = await writing;
      if (!skipsView) this.#onOwnWrite(type, object);
      return object;
    };
    const skipsView = (options?: {
      readonly subresource?: string | undefined;
      readonly dryRun?: boolean | undefined;
    }) => options?.dryRun === true || (options?.subresource !== undefined && options.subresource !== "status");
    return {
      get: (type, key) => client.get(type, key),
      list: (type, options) => client.list(type, options),
      watch: (type, options) => client.watch(type, options),
      create: (type, object, options) => recordWrite(type, client.create(type, object, options), skipsView(options)),
      update: (type, object, options) => recordWrite(type, client.update(type, object, options), skipsView(options)),
      patch: (type, key, patch, options) =>
        recordWrite(type, client.patch(type, key, patch, options), skipsView(options)),
      delete: async <T extends KubeObject>(
        type: ResourceType,
        key: ObjectKey,
        options?: Parameters<KubeClient["delete"]>[2],
      ) => {
        // Before the call: afterwards the name may belong to another object.
        const uid = options?.preconditions?.uid ?? this.#find(type, key)?.metadata.uid;
        const left = await client.delete<T>(type, key, options);
        if (options?.dryRun === true) return left;
        if (left !== undefined) this.#onOwnWrite(type, left);
        else this.#watched.get(typeKey(type))?.view.onOwnDelete(cacheKey(key), uid);
        return left;
      },
    };
  }

  #watch(type: ResourceType): WatchedType {
    const { client, clock, random, projections, pause, onFailure } = this.#options;
    const project = projections?.get(type) ?? keepWhole;
    const view = new View<KubeObject>({
      clock,
      pause,
      onHandlerError: (error) => onFailure(type, { kind: "handler-failed", error }),
    });
    const informer = new Informer<KubeObject, KubeObject>({
      kube: client,
      type,
      clock,
      random: random.fork(typeKey(type)),
      project,
      pause,
      onFailure: (failure) => onFailure(type, failure),
    });
    informer.subscribe({
      added: (object) => view.onWatchUpdate(object),
      updated: (object) => view.onWatchUpdate(object),
      deleted: (object) => view.onWatchDelete(object),
      restored: () => view.onRestored(),
    });
    const stop = new AbortController();
    if (this.#isStopped) stop.abort();
    const synced = informer.synced.then(() => view.markSynced());
    this.#ended.push(informer.run(stop.signal));
    const watched: WatchedType = { type, project, view, stop, synced };
    this.#watched.set(typeKey(type), watched);
    return watched;
  }

  #onOwnWrite(type: ResourceType, object: KubeObject): void {
    const watched = this.#watched.get(typeKey(type));
    watched?.view.onOwnWrite(watched.project(object));
    this.#scheduleConfirm();
  }

  #find(type: ResourceType, key: ObjectKey): KubeObject | undefined {
    return this.#watched.get(typeKey(type))?.view.get(cacheKey(key));
  }

  #scheduleConfirm(): void {
    if (this.#confirmTimer !== undefined || this.#isStopped) return;
    this.#confirmTimer = this.#options.clock.setTimer(confirmAfterMs, () => {
      this.#confirmTimer = undefined;
      void this.#confirmWrites();
    });
  }

  /** Reads own writes that no watch event has confirmed. */
  async #confirmWrites(): Promise<void> {
    const { client } = this.#options;
    for (const { type, view, project } of this.#watched.values()) {
      for (const write of view.unconfirmedFor(confirmAfterMs)) {
        if (this.#isStopped) return;
        const [name = "", namespace] = write.key.split("/").reverse();
        try {
          view.onLookUp(write, project(await client.get(type, { name, namespace })));
        } catch (error) {
          if (isKubeError(error, "not-found")) view.onLookUp(write, undefined);
        }
      }
    }
    if ([...this.#watched.values()].some(({ view }) => view.hasUnconfirmed)) this.#scheduleConfirm();
  }
}

function typeKey({ group, version, plural }: ResourceType): string {
  return `${plural}.${version}.${group}`;
}
