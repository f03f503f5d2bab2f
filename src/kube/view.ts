import type { KubeObject } from "../api/object.ts";
import type { Clock } from "../util/clock.ts";
import { noPause, type Pause } from "../util/pause.ts";
import { SortedMap } from "../util/sorted-map.ts";
import { ExpiringMap } from "./expiring-map.ts";
import { cacheKey } from "./object-cache.ts";
import { type IndexFunc, ViewIndex } from "./view-index.ts";

/** Without `old` it is new, without `object` it is gone. */
export type ObjectChange<T extends KubeObject> =
  | { readonly object: T; readonly old: T | undefined }
  | { readonly object: undefined; readonly old: T };

export interface ViewOptions {
  readonly clock: Clock;
  /** Asked while somebody new hears of everything that is there. */
  readonly pause?: Pause | undefined;
  readonly onHandlerError: (error: unknown) => void;
}

/** Longer than any watch is behind: by then a deletion cannot be undone by news from before it. */
const tombstoneMs = 10 * 60_000;

/**
 * What the loops see of a kind: the informer's copy, with what we wrote ourselves already in it. A loop that reads its
 * own writes needs no memory of what it expects, so that it may crash and start again anywhere. (docs/designs/interfaces.md)
 */
export class View<T extends KubeObject> {
  readonly #objects = new SortedMap<T>();
  readonly #indexes = new Map<string, ViewIndex<T>>();
  readonly #subscriptions = new Set<ViewSubscription<T>>();
  readonly #deletedUids: ExpiringMap<true>;
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
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Everything that existed at the start is here. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** By `namespace/name`, or name where there are no namespaces. */
  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  /** By key. */
  all(): readonly T[] {
    return this.#objects.values();
  }

  inNamespace(namespace: string): readonly T[] {
    this.addIndex("namespace", ({ metadata }) => metadata.namespace ?? "");
    return this.byIndex("namespace", namespace);
  }

  /** Whose controller has this uid. */
  controlledBy(uid: string | undefined): readonly T[] {
    this.addIndex("controller", ({ metadata }) => controllerUid(metadata));
    return uid === undefined ? [] : this.byIndex("controller", uid);
  }

  /** Those in a namespace that nobody controls. */
  orphansIn(namespace: string): readonly T[] {
    this.addIndex("orphans", ({ metadata }) =>
      controllerUid(metadata) === undefined ? (metadata.namespace ?? "") : undefined,
    );
    return this.byIndex("orphans", namespace);
  }

  /** Those an index puts under this value, by key. */
  byIndex(index: string, value: string): readonly T[] {
    const found = this.#indexes.get(index);
    if (found === undefined) throw new Error(`no index ${index}`);
    return found.under(value);
  }

  /** Adds an index; one that is there already stays. */
  addIndex(name: string, groupOf: IndexFunc<T>): void {
    if (this.#indexes.has(name)) return;
    const index = new ViewIndex(groupOf);
    this.#indexes.set(name, index);
    for (const object of this.all()) index.replace(cacheKey(object.metadata), undefined, object);
  }

  /**
   * First hears of everything that is there: by key, at once or with pauses. What changes before its turn has come is
   * told as it changes. `onTold` hears when all has been told. Returns how to stop hearing.
   */
  subscribe(handler: (change: ObjectChange<T>) => void, onInitialDelivered: () => void = () => {}): () => void {
    const subscription = new ViewSubscription<T>((change) => this.#safely(() => handler(change)));
    this.#subscriptions.add(subscription);
    void subscription.deliverInitial(this.all(), { pause: this.#pause, onInitialDelivered });
    return () => {
      subscription.stop();
      this.#subscriptions.delete(subscription);
    };
  }

  /** News from the watch. */
  onWatchUpdate(object: T): void {
    this.#confirm(object);
    this.#applyIfNewer(object);
  }

  /** The watch says it is gone. */
  onWatchDelete(object: T): void {
    this.#confirm(object);
    this.#remove(cacheKey(object.metadata), object.metadata.uid);
  }

  /** What the server made of our own write. */
  onOwnWrite(object: T): void {
    const key = cacheKey(object.metadata);
    if (!this.#applyIfNewer(object)) return;
    this.#unconfirmed.set(key, { uid: object.metadata.uid ?? "", since: this.#clock.now() });
  }

  /** We deleted it, and it is gone: news from before must not bring it back. */
  onOwnDelete(key: string, uid: string | undefined): void {
    if (uid !== undefined) this.#deletedUids.set(uid, true, tombstoneMs);
    this.#remove(key, uid);
    this.#unconfirmed.delete(key);
  }

  /** Our own writes that no watch has told of for so long: a watch that started over may never. */
  unconfirmedFor(ms: number): readonly string[] {
    const before = this.#clock.now() - ms;
    return [...this.#unconfirmed].filter(([, { since }]) => since <= before).map(([key]) => key);
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

  /** Says whether it was news. */
  #applyIfNewer(object: T): boolean {
    const key = cacheKey(object.metadata);
    const known = this.#objects.get(key);
    if (object.metadata.uid !== undefined && this.#deletedUids.get(object.metadata.uid) !== undefined) return false;
    if (known !== undefined && !isNewer(object, known)) return false;
    // Another object of the same name: its predecessor is gone, though nobody said so.
    const isSame = known !== undefined && known.metadata.uid === object.metadata.uid;
    if (known !== undefined && !isSame) this.#remove(key, known.metadata.uid);
    this.#store(key, object);
    this.#notify({ object, old: isSame ? known : undefined });
    return true;
  }

  #remove(key: string, uid: string | undefined): void {
    const old = this.#objects.get(key);
    if (old === undefined || old.metadata.uid !== uid) return;
    this.#store(key, undefined);
    this.#notify({ object: undefined, old });
  }

  #store(key: string, object: T | undefined): void {
    const old = this.#objects.get(key);
    for (const index of this.#indexes.values()) index.replace(key, old, object);
    if (object === undefined) this.#objects.delete(key);
    else this.#objects.set(key, object);
  }

  #notify(change: ObjectChange<T>): void {
    for (const subscription of [...this.#subscriptions]) subscription.deliver(change);
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

/** Versions of one kind are numbers that grow, on every server there is. */
function isNewer(object: KubeObject, known: KubeObject): boolean {
  const [next, last] = [Number(object.metadata.resourceVersion), Number(known.metadata.resourceVersion)];
  return Number.isNaN(next) || Number.isNaN(last) || next > last;
}

/** One that listens to a view: first it is told of what is there, then of changes. */
class ViewSubscription<T extends KubeObject> {
  readonly #handler: (change: ObjectChange<T>) => void;
  /** Changed before their turn, and told as they changed. */
  readonly #deliveredEarly = new Set<string>();
  /** Everything up to this key has been told; undefined when all has. */
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

  /** In the order of their keys; without a pause it is done when this returns. */
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
