import type { KubeObject } from "../api/object.ts";
import type { Clock } from "../util/clock.ts";
import { ExpiringMap } from "../util/expiring-map.ts";
import { noPause, type Pause } from "../util/pause.ts";
import { SortedMap } from "../util/sorted-map.ts";
import { cacheKey, type ResourceType } from "./client.ts";
import { isOlderVersion } from "./resource-version.ts";
import { type IndexFunc, ViewIndex } from "./view-index.ts";

/** Projections by kind: which fields to keep of an object when it arrives. */
export type Projections = ReadonlyMap<ResourceType, (object: KubeObject) => KubeObject>;

/** Added: without old. Deleted: without object. */
export type ObjectChange<T extends KubeObject> =
  | { readonly object: T; readonly old: T | undefined }
  | { readonly object: undefined; readonly old: T };

export interface ViewOptions {
  readonly clock: Clock;
  /** Called while a new subscriber is sent all existing objects. */
  readonly pause?: Pause | undefined;
  readonly onHandlerError: (error: unknown) => void;
}

export interface SubscribeOptions {
  /** Called when all existing objects were delivered. */
  readonly onInitialDelivered?: (() => void) | undefined;
  /** Delivers each change before it is delivered to other subscribers, whoever subscribed earlier. */
  readonly isFirst?: boolean | undefined;
}

/** An own write that no watch event has confirmed. */
export interface UnconfirmedWrite {
  readonly key: string;
  readonly uid: string;
  /** Of the object as the view has it. */
  readonly resourceVersion: string | undefined;
}

/** Longer than any watch lags: a late event from before the deletion must not bring the object back. */
const tombstoneMs = 10 * 60_000;

/**
 * A kind's objects as controllers see them: the informer's copy plus our own writes. Reading their own writes,
 * controllers need no expectations and can restart at any time. (docs/designs/interfaces.md)
 */
export class View<T extends KubeObject> {
  readonly #objects = new SortedMap<T>();
  readonly #indexes = new Map<string, ViewIndex<T>>();
  readonly #firstSubscriptions = new Set<ViewSubscription<T>>();
  readonly #subscriptions = new Set<ViewSubscription<T>>();
  #deletedUids: ExpiringMap<true>;
  /** Objects whose deletion the watch has shown: the response to an earlier write of ours may arrive only after it. */
  #goneUids: ExpiringMap<true>;
  /** Objects whose version is from before the server was restored, by key: any version of them counts as newer. */
  readonly #outdatedKeys = new Set<string>();
  readonly #unconfirmed = new Map<string, { readonly uid: string; readonly since: number }>();
  readonly #clock: Clock;
  readonly #pause: Pause;
  readonly #onHandlerError: (error: unknown) => void;
  #hasSynced = false;

  constructor({ clock, pause = noPause, onHandlerError }: ViewOptions) {
    this.#clock = clock;
    this.#pause = pause;
    this.#onHandlerError = onHandlerError;
    this.#deletedUids = new ExpiringMap(clock);
    this.#goneUids = new ExpiringMap(clock);
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Everything that existed at the start has been listed. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** By `namespace/name`, or by name for cluster-scoped kinds. */
  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  /** All objects, by key. */
  all(): readonly T[] {
    return this.#objects.values();
  }

  inNamespace(namespace: string): readonly T[] {
    this.addIndex("namespace", ({ metadata }) => metadata.namespace ?? "");
    return this.byIndex("namespace", namespace);
  }

  /** Objects whose controller reference has this uid. */
  controlledBy(uid: string | undefined): readonly T[] {
    this.addIndex("controller", ({ metadata }) => controllerUid(metadata));
    return uid === undefined ? [] : this.byIndex("controller", uid);
  }

  /** Objects of a namespace without a controller. */
  orphansIn(namespace: string): readonly T[] {
    this.addIndex("orphans", ({ metadata }) =>
      controllerUid(metadata) === undefined ? (metadata.namespace ?? "") : undefined,
    );
    return this.byIndex("orphans", namespace);
  }

  /** Objects the index groups under this value, by key. */
  byIndex(index: string, value: string): readonly T[] {
    const found = this.#indexes.get(index);
    if (found === undefined) throw new Error(`no index ${index}`);
    return found.under(value);
  }

  /** Adds an index; keeps an existing one of that name. */
  addIndex(name: string, groupOf: IndexFunc<T>): void {
    if (this.#indexes.has(name)) return;
    const index = new ViewIndex(groupOf);
    this.#indexes.set(name, index);
    for (const object of this.all()) index.replace(cacheKey(object.metadata), undefined, object);
  }

  /**
   * Sends all existing objects, by key, then changes. An object that changes before its turn is sent as it changes.
   * Returns the unsubscribe function.
   */
  subscribe(handler: (change: ObjectChange<T>) => void, options: SubscribeOptions = {}): () => void {
    const { onInitialDelivered = () => {}, isFirst = false } = options;
    const subscription = new ViewSubscription<T>((change) => this.#safely(() => handler(change)));
    const subscriptions = isFirst ? this.#firstSubscriptions : this.#subscriptions;
    subscriptions.add(subscription);
    void subscription.deliverInitial(this.all(), { pause: this.#pause, onInitialDelivered });
    return () => {
      subscription.stop();
      subscriptions.delete(subscription);
    };
  }

  /** An add or update from the watch. */
  onWatchUpdate(object: T): void {
    this.#confirm(object);
    if (object.metadata.uid !== undefined) this.#goneUids.delete(object.metadata.uid);
    this.#applyIfNewer(object);
  }

  /** A deletion from the watch. */
  onWatchDelete(object: T): void {
    this.#confirm(object);
    if (object.metadata.uid !== undefined) this.#goneUids.set(object.metadata.uid, true, tombstoneMs);
    this.#remove(cacheKey(object.metadata), object.metadata.uid);
  }

  /** The server was restored from a backup: older versions are believed, and objects we deleted may be back. */
  onRestored(): void {
    this.#deletedUids = new ExpiringMap(this.#clock);
    this.#goneUids = new ExpiringMap(this.#clock);
    for (const { metadata } of this.all()) this.#outdatedKeys.add(cacheKey(metadata));
  }

  /** The server's response to our own write. Taking off the last finalizer is such a write, and the object is gone then. */
  onOwnWrite(object: T): void {
    const key = cacheKey(object.metadata);
    const { uid } = object.metadata;
    if (uid !== undefined && this.#goneUids.get(uid) !== undefined) return;
    if (!this.#applyIfNewer(object)) return;
    this.#unconfirmed.set(key, { uid: object.metadata.uid ?? "", since: this.#clock.now() });
  }

  /** Our own delete succeeded: later events of this uid are ignored. */
  onOwnDelete(key: string, uid: string | undefined): void {
    if (uid !== undefined) this.#deletedUids.set(uid, true, tombstoneMs);
    this.#remove(key, uid);
    if (this.#unconfirmed.get(key)?.uid === uid) this.#unconfirmed.delete(key);
  }

  /** Own writes no watch event has confirmed for this long; after a relist it may never come. */
  unconfirmedFor(ms: number): readonly UnconfirmedWrite[] {
    const before = this.#clock.now() - ms;
    return [...this.#unconfirmed]
      .filter(([, { since }]) => since <= before)
      .map(([key, { uid }]) => ({ key, uid, resourceVersion: this.get(key)?.metadata.resourceVersion }));
  }

  /**
   * What the server has of an own write that no watch event confirmed; undefined if the object is gone. What the watch
   * brought during the look-up is newer: an object that was created again meanwhile stays.
   */
  onLookUp({ key, uid, resourceVersion }: UnconfirmedWrite, found: T | undefined): void {
    const known = this.#objects.get(key);
    if (this.#unconfirmed.get(key)?.uid === uid) this.#unconfirmed.delete(key);
    if (known === undefined || known.metadata.uid !== uid) return;
    if (found === undefined || found.metadata.uid !== uid) this.#remove(key, uid);
    else if (known.metadata.resourceVersion === resourceVersion && isChanged(found, known)) this.#replace(key, found);
  }

  get hasUnconfirmed(): boolean {
    return this.#unconfirmed.size > 0;
  }

  markSynced(): void {
    this.#hasSynced = true;
  }

  #confirm({ metadata }: T): void {
    const key = cacheKey(metadata);
    if (this.#unconfirmed.get(key)?.uid === metadata.uid) this.#unconfirmed.delete(key);
  }

  /** True if it was newer than what we had. */
  #applyIfNewer(object: T): boolean {
    const key = cacheKey(object.metadata);
    const known = this.#objects.get(key);
    if (object.metadata.uid !== undefined && this.#deletedUids.get(object.metadata.uid) !== undefined) return false;
    if (known !== undefined && !this.#outdatedKeys.has(key) && !isNewer(object, known)) return false;
    this.#replace(key, object);
    return true;
  }

  #replace(key: string, object: T): void {
    const known = this.#objects.get(key);
    // Another object of the same name: the deletion of the first one was missed.
    const isSame = known !== undefined && known.metadata.uid === object.metadata.uid;
    if (known !== undefined && !isSame) this.#remove(key, known.metadata.uid);
    this.#store(key, object);
    this.#notify({ object, old: isSame ? known : undefined });
  }

  #remove(key: string, uid: string | undefined): void {
    const old = this.#objects.get(key);
    if (old === undefined || old.metadata.uid !== uid) return;
    this.#store(key, undefined);
    this.#notify({ object: undefined, old });
  }

  #store(key: string, object: T | undefined): void {
    const old = this.#objects.get(key);
    this.#outdatedKeys.delete(key);
    for (const index of this.#indexes.values()) index.replace(key, old, object);
    if (object === undefined) this.#objects.delete(key);
    else this.#objects.set(key, object);
  }

  #notify(change: ObjectChange<T>): void {
    for (const subscription of [...this.#firstSubscriptions, ...this.#subscriptions]) subscription.deliver(change);
  }

  #safely(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#onHandlerError(error);
    }
  }
}

function controllerUid({ ownerReferences }: KubeObject["metadata"]): string | undefined {
  return ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

function isNewer(object: KubeObject, known: KubeObject): boolean {
  return isChanged(object, known) && !isOlderVersion(object.metadata.resourceVersion, known.metadata.resourceVersion);
}

/** Versions that are no numbers are only compared for equality. */
function isChanged(object: KubeObject, known: KubeObject): boolean {
  return object.metadata.resourceVersion !== known.metadata.resourceVersion;
}

/** One subscription of a view: delivers all existing objects first, then changes. */
class ViewSubscription<T extends KubeObject> {
  readonly #handler: (change: ObjectChange<T>) => void;
  /** Keys that changed, and were delivered, before the initial delivery reached them. */
  readonly #deliveredEarly = new Set<string>();
  /** Initial delivery has reached this key; undefined when it is complete. */
  #deliveredUpTo: string | undefined = "";
  #isStopped = false;

  constructor(handler: (change: ObjectChange<T>) => void) {
    this.#handler = handler;
  }

  deliver(change: ObjectChange<T>): void {
    const { object } = change;
    const key = this.#deliveredUpTo === undefined ? undefined : keyOf(change);
    if (key === undefined || this.#isDelivered(key)) this.#handler(change);
    else {
      this.#deliveredEarly.add(key);
      if (object !== undefined) this.#handler({ object, old: undefined });
    }
  }

  /** Delivers in key order; synchronously unless pause returns a promise. */
  async deliverInitial(
    objects: readonly T[],
    { pause, onInitialDelivered }: { pause: Pause; onInitialDelivered: () => void },
  ): Promise<void> {
    for (const object of objects) {
      if (this.#isStopped) return;
      const key = cacheKey(object.metadata);
      if (!this.#deliveredEarly.delete(key)) this.#handler({ object, old: undefined });
      this.#deliveredUpTo = key;
      const pausing = pause();
      if (pausing !== undefined) await pausing;
    }
    this.#deliveredUpTo = undefined;
    this.#deliveredEarly.clear();
    onInitialDelivered();
  }

  stop(): void {
    this.#isStopped = true;
  }

  #isDelivered(key: string): boolean {
    return key <= (this.#deliveredUpTo ?? key) || this.#deliveredEarly.has(key);
  }
}

function keyOf<T extends KubeObject>({ object, old }: ObjectChange<T>): string {
  return cacheKey((object ?? old)?.metadata ?? {});
}
