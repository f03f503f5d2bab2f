import { isRecord, type KubeObject } from "../api/object.ts";
import { backOffMs } from "../util/back-off.ts";
import type { Clock } from "../util/clock.ts";
import { deepFreeze } from "../util/freeze.ts";
import { noPause, type Pause } from "../util/pause.ts";
import type { Random } from "../util/random.ts";
import { cacheKey, type KubeClient, type ListOptions, type ResourceType, type WatchEvent } from "./client.ts";
import { type IdleTimeout, startIdleTimeout } from "./idle-timeout.ts";
import { isKubeError } from "./kube-error.ts";
import { type CacheEntry, type CacheHandler, ObjectCache } from "./object-cache.ts";
import { isOlderVersion } from "./resource-version.ts";

/**
 * The informer's state machine: list page by page, then watch from the list's version. A watch that ends is resumed
 * from the last version seen; one that cannot be resumed leads to a new list.
 */
export type InformerState =
  | { readonly kind: "idle" }
  | { readonly kind: "listing"; readonly pages: number; readonly continue?: string | undefined }
  | { readonly kind: "watching"; readonly resourceVersion: string }
  | { readonly kind: "waiting"; readonly untilMs: number; readonly then: InformerState }
  | { readonly kind: "stopped" };

/** A failure the informer recovers from. */
export type InformerFailure =
  | { readonly kind: "list-failed" | "watch-failed"; readonly error: unknown }
  | { readonly kind: "watch-idle"; readonly idleMs: number }
  | { readonly kind: "undecodable"; readonly key: string; readonly error: unknown }
  | { readonly kind: "handler-failed"; readonly error: unknown };

export interface InformerOptions<T extends KubeObject, P> extends Pick<ListOptions, SelectorKeys> {
  readonly kube: Pick<KubeClient, "list" | "watch">;
  readonly type: ResourceType;
  readonly clock: Clock;
  readonly random: Random;
  /** What to keep of an object. Throws where the object cannot be decoded; it is then left out. */
  readonly project: (object: T) => P;
  readonly pageSize?: number;
  /** A watch without any event or bookmark for this long is considered dead and reopened. */
  readonly watchIdleTimeoutMs?: number;
  /** Called between items, so that a large list does not block the process. */
  readonly pause?: Pause | undefined;
  readonly onFailure?: (failure: InformerFailure) => void;
}

type SelectorKeys = "namespace" | "labelSelector" | "fieldSelector";

const startOfList = { kind: "listing", pages: 0 } as const satisfies InformerState;

const defaultPageSize = 500;
/** Bookmarks come about once a minute. */
const defaultWatchIdleTimeoutMs = 5 * 60_000;
const backOff = { baseMs: 500, maxMs: 30_000 };
/** After this many failures at one version we list again: the events after it cannot be read. */
const failuresUntilRelist = 3;
/** A watch that lasted this long counts as healthy and resets the back-off. */
const healthyWatchMs = 30_000;

/**
 * Keeps a local copy of all objects of a kind. Whatever happens to the connection, the copy converges to what a fresh
 * list would return.
 */
export class Informer<T extends KubeObject, P> {
  readonly #options: InformerOptions<T, P>;
  readonly #cache: ObjectCache<P>;
  readonly #synced = deferred();
  readonly #pause: Pause;
  #state: InformerState = { kind: "idle" };
  #listed = new Map<string, CacheEntry<P>>();
  /** The list shows older versions than we have seen: the server was restored from a backup. */
  #isRestored = false;
  /** The newest version seen in a list or watch. */
  #newestVersion: string | undefined;
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

  /** Everything that existed at the start has been listed. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Resolves when everything that existed at the start has been listed. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get size(): number {
    return this.#cache.size;
  }

  /** By `namespace/name`, or by name for cluster-scoped kinds. */
  get(key: string): P | undefined {
    return this.#cache.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#cache.keys();
  }

  values(): IterableIterator<P> {
    return this.#cache.values();
  }

  /** Calls the handler for everything cached, then for every change. Returns the unsubscribe function. */
  subscribe(handler: CacheHandler<P>): () => void {
    return this.#cache.subscribe(handler);
  }

  /** Runs until the signal aborts; call it once. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#state.kind !== "idle")
      throw new Error(`the informer of ${this.#options.type.plural} has already been started`);
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
    await clock.sleep(untilMs - clock.now(), signal).catch(() => {}); // aborted: run() checks the signal
    return then;
  }

  /** Reads one page. */
  async #list(state: InformerState & { kind: "listing" }, signal: AbortSignal): Promise<InformerState> {
    const { kube, type, pageSize = defaultPageSize } = this.#options;
    if (state.pages === 0) {
      this.#listed = new Map();
      this.#isRestored = false;
    }
    try {
      const options = { ...this.#selectors(), limit: pageSize, continue: state.continue, signal };
      const page = await kube.list<T>(type, options);
      for (const item of page.items) {
        if (signal.aborted) break;
        const entry = this.#decode(item);
        if (entry !== undefined) this.#listed.set(entry.key, entry);
        if (entry !== undefined && this.#cache.hasNewer(entry)) this.#isRestored = true;
        const pause = this.#pause();
        if (pause !== undefined) await pause;
      }
      if (signal.aborted) return { kind: "stopped" };
      if (page.continue !== undefined) return { kind: "listing", pages: state.pages + 1, continue: page.continue };
      if (isOlderVersion(page.resourceVersion, this.#newestVersion)) this.#isRestored = true;
      this.#newestVersion = page.resourceVersion;
      await this.#sync(signal);
      return { kind: "watching", resourceVersion: page.resourceVersion };
    } catch (error) {
      if (signal.aborted) return { kind: "stopped" };
      this.#report({ kind: "list-failed", error });
      // After "expired" the pages read so far cannot be continued.
      return this.#retry(error, this.#needsRelist(error) ? startOfList : state);
    }
  }

  async #sync(signal: AbortSignal): Promise<void> {
    for (const _ of this.#cache.replaceInSteps(this.#listed, { isRestored: this.#isRestored })) {
      const pause = this.#pause();
      if (pause !== undefined) await pause;
      if (signal.aborted) return; // stopping: handlers are not interested any more
    }
    this.#listed = new Map();
    this.#hasSynced = true;
    this.#synced.resolve();
  }

  /** Watches from a version until the stream ends, for whatever reason. */
  async #watch(from: InformerState & { kind: "watching" }, signal: AbortSignal): Promise<InformerState> {
    const { kube, type, clock, random } = this.#options;
    const startedAt = clock.now();
    const idleTimeout = this.#startIdleTimeout(signal);
    let { resourceVersion } = from;
    let hasGoneBack = false;
    let failure: { readonly error: unknown } | undefined;
    try {
      // The server closes the watch after this time. As other clients do, so that load spreads over restarted servers.
      const timeoutSeconds = 300 + random.int(300);
      const options = { resourceVersion, bookmarks: true, timeoutSeconds, signal: idleTimeout.signal };
      for await (const event of kube.watch<T>(type, { ...this.#selectors(), ...options })) {
        idleTimeout.touch();
        hasGoneBack = isOlderVersion(versionOf(event), from.resourceVersion);
        if (hasGoneBack) break;
        resourceVersion = this.#applyEvent(event);
        this.#newestVersion = resourceVersion;
        const pause = this.#pause();
        if (pause !== undefined) await pause; // back-pressure: the server waits
        if (signal.aborted) break;
      }
    } catch (error) {
      failure = { error };
    } finally {
      idleTimeout.stop();
    }
    // A server that was restored sends nothing, or older versions: only a list shows what it has.
    if (hasGoneBack || (idleTimeout.signal.aborted && !signal.aborted)) return this.#retry(undefined, startOfList);
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

  /** Whether resuming cannot succeed, so that a new list is needed. */
  #needsRelist(error: unknown): boolean {
    if (isKubeError(error, "expired") || isVersionTooLarge(error)) return true;
    const isOutage = isKubeError(error, "unavailable", "timeout", "too-many-requests");
    return !isOutage && this.#failures + 1 >= failuresUntilRelist;
  }

  /** Applies an event and returns its resourceVersion. */
  #applyEvent(event: WatchEvent<T>): string {
    if (event.type === "BOOKMARK") return event.resourceVersion;
    const { metadata } = event.object;
    const entry = event.type === "DELETED" ? undefined : this.#decode(event.object);
    // An object that cannot be decoded is treated as absent, as in a list.
    if (entry === undefined) this.#cache.remove(cacheKey(metadata));
    else this.#cache.put(entry);
    return versionOf(event) ?? "";
  }

  #decode(object: T): CacheEntry<P> | undefined {
    const metadata: unknown = isRecord(object) ? object.metadata : undefined;
    const isNamed = isRecord(metadata) && typeof metadata["name"] === "string";
    const key = isNamed ? cacheKey(object.metadata) : "";
    try {
      if (!isNamed) throw new Error("object without a name");
      const { uid, resourceVersion } = object.metadata;
      return { key, uid, resourceVersion, object: deepFreeze(this.#options.project(object)) };
    } catch (error) {
      this.#report({ kind: "undecodable", key, error });
      return undefined;
    }
  }

  /** Waits before the next state: longer with each consecutive failure, and at least as long as the server asks. */
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

function versionOf(event: WatchEvent<KubeObject>): string | undefined {
  return event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
}

/** The server has not reached the version we ask for: it was restored from a backup. */
function isVersionTooLarge(error: unknown): boolean {
  if (!isKubeError(error)) return false;
  return error.status?.details?.causes?.some(({ reason }) => reason === "ResourceVersionTooLarge") ?? false;
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
