import { isRecord, type KubeObject } from "../api/object.ts";
import type { Clock } from "../util/clock.ts";
import { deepFreeze } from "../util/freeze.ts";
import { noPause, type Pause } from "../util/pause.ts";
import type { Random } from "../util/random.ts";
import { backOffMs } from "./back-off.ts";
import type { KubeClient, ListOptions, ResourceType, WatchEvent } from "./client.ts";
import { type IdleTimeout, startIdleTimeout } from "./idle-timeout.ts";
import { isKubeError } from "./kube-error.ts";
import { type CacheEntry, type CacheHandler, cacheKey, ObjectCache } from "./object-cache.ts";

/**
 * Where an informer stands. It lists page by page, then watches from the version of the list; a watch that ends is
 * resumed from the last version seen, and only one that cannot be resumed leads back to listing.
 */
export type InformerState =
  | { readonly kind: "idle" }
  | { readonly kind: "listing"; readonly pages: number; readonly continue?: string | undefined }
  | { readonly kind: "watching"; readonly resourceVersion: string }
  | { readonly kind: "waiting"; readonly untilMs: number; readonly then: InformerState }
  | { readonly kind: "stopped" };

/** What went wrong without stopping the informer. */
export type InformerFailure =
  | { readonly kind: "list-failed" | "watch-failed"; readonly error: unknown }
  | { readonly kind: "watch-idle"; readonly idleMs: number }
  | { readonly kind: "undecodable"; readonly key: string; readonly error: unknown }
  | { readonly kind: "handler-failed"; readonly error: unknown };

export interface InformerOptions<T extends KubeObject, P> extends Pick<ListOptions, SelectorKeys> {
  readonly kube: KubeClient;
  readonly type: ResourceType;
  readonly clock: Clock;
  readonly random: Random;
  /** What to keep of an object, which is frozen; throws where it makes no sense of it, and the object is left out. */
  readonly project: (object: T) => P;
  readonly pageSize?: number;
  /** A watch on which nothing came for so long, not even a bookmark, is taken for dead. */
  readonly watchIdleTimeoutMs?: number;
  /** Asked while much is taken in at once. */
  readonly pause?: Pause | undefined;
  readonly onFailure?: (failure: InformerFailure) => void;
}

type SelectorKeys = "namespace" | "labelSelector" | "fieldSelector";

const startOfList = { kind: "listing", pages: 0 } as const satisfies InformerState;

const defaultPageSize = 500;
/** Bookmarks come about once a minute. */
const defaultWatchIdleTimeoutMs = 5 * 60_000;
const backOff = { baseMs: 500, maxMs: 30_000 };
/** So many failures at one version, and it is the version that fails: what follows it cannot be read. */
const failuresUntilRelist = 3;
/** A watch that lived this long was a good one, even if nothing happened on it. */
const healthyWatchMs = 30_000;

/**
 * Keeps a local copy of all objects of a kind, over any client. The copy depends on what the server holds alone:
 * whatever happened to the connection, it ends up as a fresh list would be.
 */
export class Informer<T extends KubeObject, P> {
  readonly #options: InformerOptions<T, P>;
  readonly #cache: ObjectCache<P>;
  readonly #synced = deferred();
  readonly #pause: Pause;
  #state: InformerState = { kind: "idle" };
  #listed = new Map<string, CacheEntry<P>>();
  #failures = 0;
  #hasSynced = false;

  constructor(options: InformerOptions<T, P>) {
    this.#options = options;
    this.#pause = options.pause ?? noPause;
    this.#cache = new ObjectCache((error) => this.#report({ kind: "handler-failed", error }));
  }

  get state(): InformerState {
    return this.#state;
  }

  /** True once everything that existed at the start is here. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Resolves with the first sync. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get size(): number {
    return this.#cache.size;
  }

  /** By `namespace/name`, or name where there are no namespaces. */
  get(key: string): P | undefined {
    return this.#cache.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#cache.keys();
  }

  values(): IterableIterator<P> {
    return this.#cache.values();
  }

  /** The handler first hears of everything that is there. Returns how to stop hearing. */
  subscribe(handler: CacheHandler<P>): () => void {
    return this.#cache.subscribe(handler);
  }

  /** Runs until the signal aborts; started once. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#state.kind !== "idle") throw new Error(`the informer of ${this.#options.type.plural} was started before`);
    this.#state = startOfList;
    while (!signal.aborted) this.#state = await this.#step(this.#state, signal);
    this.#state = { kind: "stopped" };
  }

  #step(state: InformerState, signal: AbortSignal): Promise<InformerState> {
    if (state.kind === "watching") return this.#watch(state, signal);
    if (state.kind === "waiting") return this.#wait(state, signal);
    return this.#list(state.kind === "listing" ? state : startOfList, signal);
  }

  async #wait({ untilMs, then }: InformerState & { kind: "waiting" }, signal: AbortSignal): Promise<InformerState> {
    const { clock } = this.#options;
    await clock.sleep(untilMs - clock.now(), signal).catch(() => {}); // aborted: the loop sees it
    return then;
  }

  /** One page. */
  async #list(state: InformerState & { kind: "listing" }, signal: AbortSignal): Promise<InformerState> {
    const { kube, type, pageSize = defaultPageSize } = this.#options;
    if (state.pages === 0) this.#listed = new Map();
    try {
      const page = await kube.list<T>(type, { ...this.#selectors(), limit: pageSize, continue: state.continue });
      for (const item of page.items) {
        if (signal.aborted) break;
        const entry = this.#decode(item);
        if (entry !== undefined) this.#listed.set(entry.key, entry);
        const pause = this.#pause();
        if (pause !== undefined) await pause;
      }
      if (signal.aborted) return { kind: "stopped" };
      if (page.continue !== undefined) return { kind: "listing", pages: state.pages + 1, continue: page.continue };
      await this.#sync(signal);
      return { kind: "watching", resourceVersion: page.resourceVersion };
    } catch (error) {
      this.#report({ kind: "list-failed", error });
      // Pages of an expired list do not fit together with new ones.
      return this.#retry(error, this.#needsRelist(error) ? startOfList : state);
    }
  }

  async #sync(signal: AbortSignal): Promise<void> {
    for (const _ of this.#cache.replaceInSteps(this.#listed)) {
      const pause = this.#pause();
      if (pause !== undefined) await pause;
      if (signal.aborted) return; // nobody listens any more
    }
    this.#listed = new Map();
    this.#hasSynced = true;
    this.#synced.resolve();
  }

  /** From a version until the stream ends, for whatever reason. */
  async #watch(from: InformerState & { kind: "watching" }, signal: AbortSignal): Promise<InformerState> {
    const { kube, type, clock, random } = this.#options;
    const startedAt = clock.now();
    const idleTimeout = this.#startIdleTimeout(signal);
    let { resourceVersion } = from;
    let failure: { readonly error: unknown } | undefined;
    try {
      // The server ends it after a while, as other clients ask too: so load moves on to new servers.
      const timeoutSeconds = 300 + random.int(300);
      const options = { resourceVersion, bookmarks: true, timeoutSeconds, signal: idleTimeout.signal };
      for await (const event of kube.watch<T>(type, { ...this.#selectors(), ...options })) {
        idleTimeout.touch();
        resourceVersion = this.#applyEvent(event);
        const pause = this.#pause();
        if (pause !== undefined) await pause; // meanwhile the server has to wait
        if (signal.aborted) break;
      }
    } catch (error) {
      failure = { error };
    } finally {
      idleTimeout.stop();
    }
    const wasHealthy = resourceVersion !== from.resourceVersion || clock.now() - startedAt >= healthyWatchMs;
    if (wasHealthy) this.#failures = 0;
    if (failure !== undefined) return this.#afterFailure(failure.error, resourceVersion);
    const resumed: InformerState = { kind: "watching", resourceVersion };
    return wasHealthy ? resumed : this.#retry(undefined, resumed);
  }

  #afterFailure(error: unknown, resourceVersion: string): InformerState {
    this.#report({ kind: "watch-failed", error });
    return this.#retry(error, this.#needsRelist(error) ? startOfList : { kind: "watching", resourceVersion });
  }

  /** Whether going on from here cannot succeed, so that only a new list can. */
  #needsRelist(error: unknown): boolean {
    if (isKubeError(error, "expired")) return true;
    const isOutage = isKubeError(error, "unavailable", "timeout", "too-many-requests");
    return !isOutage && this.#failures + 1 >= failuresUntilRelist;
  }

  /** Takes an event in and returns how far the stream has come. */
  #applyEvent(event: WatchEvent<T>): string {
    if (event.type === "BOOKMARK") return event.resourceVersion;
    const { metadata } = event.object;
    const entry = event.type === "DELETED" ? undefined : this.#decode(event.object);
    // What cannot be decoded is not there: no list would show it either.
    if (entry === undefined) this.#cache.remove(cacheKey(metadata));
    else this.#cache.put(entry);
    return metadata.resourceVersion ?? "";
  }

  #decode(object: T): CacheEntry<P> | undefined {
    const metadata: unknown = isRecord(object) ? object.metadata : undefined;
    const isNamed = isRecord(metadata) && typeof metadata["name"] === "string";
    const key = isNamed ? cacheKey(object.metadata) : "";
    try {
      if (!isNamed) throw new Error("an object without a name");
      const { uid, resourceVersion } = object.metadata;
      return { key, uid, resourceVersion, object: deepFreeze(this.#options.project(object)) };
    } catch (error) {
      this.#report({ kind: "undecodable", key, error });
      return undefined;
    }
  }

  /** What is next, after a wait that grows with the failures in a row and is never shorter than the server asks. */
  #retry(error: unknown, then: InformerState): InformerState {
    const { clock, random } = this.#options;
    this.#failures += 1;
    const retryAfterMs = isKubeError(error) ? (error.retryAfterMs ?? 0) : 0;
    const ms = Math.max(retryAfterMs, backOffMs(this.#failures, { ...backOff, random }));
    return { kind: "waiting", untilMs: clock.now() + ms, then };
  }

  #startIdleTimeout(parentSignal: AbortSignal): IdleTimeout {
    const { clock, watchIdleTimeoutMs = defaultWatchIdleTimeoutMs } = this.#options;
    const onIdle = (): void => this.#report({ kind: "watch-idle", idleMs: watchIdleTimeoutMs });
    return startIdleTimeout({ clock, idleMs: watchIdleTimeoutMs, parentSignal, onIdle });
  }

  #selectors(): Pick<ListOptions, SelectorKeys> {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return { namespace, labelSelector, fieldSelector };
  }

  #report(failure: InformerFailure): void {
    this.#options.onFailure?.(failure);
  }
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
