import { forEachInSteps, type Steps } from "../util/steps.ts";
import { isOlderVersion } from "./resource-version.ts";

/** Called for every change of a cache, in order. Exceptions are reported and do not affect other handlers. */
export interface CacheHandler<P> {
  readonly added?: (object: P, key: string) => void;
  readonly updated?: (object: P, old: P, key: string) => void;
  readonly deleted?: (object: P, key: string) => void;
  /** The server was restored from a backup: versions seen so far mean nothing. Called before what it has now. */
  readonly restored?: () => void;
}

/** A cached object with what identifies its version. */
export interface CacheEntry<P> {
  readonly key: string;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly object: P;
}

/** Objects by key, with change handlers. */
export class ObjectCache<P> {
  readonly #entries = new Map<string, CacheEntry<P>>();
  readonly #handlers = new Set<CacheHandler<P>>();
  readonly #onHandlerError: (error: unknown) => void;

  constructor(onHandlerError: (error: unknown) => void) {
    this.#onHandlerError = onHandlerError;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): P | undefined {
    return this.#entries.get(key)?.object;
  }

  *values(): IterableIterator<P> {
    for (const { object } of this.#entries.values()) yield object;
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys();
  }

  /** Calls the handler for everything cached, then for every change. Returns the unsubscribe function. */
  subscribe(handler: CacheHandler<P>): () => void {
    const subscription = { ...handler }; // a handler may subscribe twice
    this.#handlers.add(subscription);
    for (const { key, object } of [...this.#entries.values()]) this.#safely(() => subscription.added?.(object, key));
    return () => this.#handlers.delete(subscription);
  }

  /** Whether the cache has a newer version of this object; listed after it, that shows that the server was restored. */
  hasNewer({ key, uid, resourceVersion }: CacheEntry<P>): boolean {
    const known = this.#entries.get(key);
    return known !== undefined && known.uid === uid && isOlderVersion(resourceVersion, known.resourceVersion);
  }

  put(entry: CacheEntry<P>, { isRestored = false } = {}): void {
    const known = this.#entries.get(entry.key);
    // Another object of the same name: the deletion of the first one was missed.
    if (known !== undefined && known.uid !== entry.uid) this.remove(entry.key);
    const old = this.#entries.get(entry.key);
    // After a restore the same version may be another content.
    if (old !== undefined && old.resourceVersion === entry.resourceVersion && !isRestored) return;
    this.#entries.set(entry.key, entry);
    if (old === undefined) this.#notify((handler) => handler.added?.(entry.object, entry.key));
    else this.#notify((handler) => handler.updated?.(entry.object, old.object, entry.key));
  }

  remove(key: string): void {
    const old = this.#entries.get(key);
    if (old === undefined) return;
    this.#entries.delete(key);
    this.#notify((handler) => handler.deleted?.(old.object, key));
  }

  /** Replaces the contents, in steps because there may be fifty thousand objects. Deletions come first. */
  *replaceInSteps(entries: ReadonlyMap<string, CacheEntry<P>>, options: { readonly isRestored: boolean }): Steps<void> {
    if (options.isRestored) this.#notify((handler) => handler.restored?.());
    yield* forEachInSteps([...this.#entries.keys()], (key) => {
      if (!entries.has(key)) this.remove(key);
    });
    yield* forEachInSteps(entries.values(), (entry) => this.put(entry, options));
  }

  #notify(call: (handler: CacheHandler<P>) => void): void {
    for (const handler of this.#handlers) this.#safely(() => call(handler));
  }

  #safely(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#onHandlerError(error);
    }
  }
}
