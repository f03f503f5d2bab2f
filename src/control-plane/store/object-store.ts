import type { KubeObject } from "../../api/object.ts";
import { KubeError } from "../../kube/kube-error.ts";
import type { Clock } from "../../util/clock.ts";
import { deepFreeze } from "../../util/freeze.ts";
import type { ObjectDraft } from "../kinds/object-draft.ts";
import { ChangeHistory, type StoreChange } from "./change-log.ts";
import { Collection, type CollectionIndex } from "./collection.ts";
import type { Journal, JournalEntry } from "./journal.ts";
import { measureJson, memoryBytes } from "./json-measure.ts";

export interface ObjectStoreOptions {
  readonly journal?: Journal | undefined;
  /** How many changes of a kind are kept for watches to resume. */
  readonly windowSize?: number | undefined;
  /** About how many bytes of memory the changes of all kinds may take. */
  readonly historyMemory?: number | undefined;
  /** With a clock, old changes are forgotten as a real server does. */
  readonly clock?: Clock | undefined;
  /** About how many bytes of memory all objects may take. */
  readonly maxMemory?: number | undefined;
  /** Indexes by storage name. */
  readonly indexes?: Readonly<Record<string, CollectionIndex>> | undefined;
  /** Called for each write that was undone because the journal could not store it, the last one first. */
  readonly onRolledBack?: ((storage: string, change: StoreChange) => void) | undefined;
}

export type StoreListener = (change: StoreChange) => void;

const defaultWindow = 4096;
const defaultHistoryMemory = 32 * 1024 * 1024;
/** Enough for some forty thousand pods; with what a full store makes garbage of, the process stays below a gigabyte. */
const defaultMaxMemory = 192 * 1024 * 1024;
/** More than can be in flight: after a crash no resourceVersion may be used twice. */
const restoreGap = 10_000;

/** All objects under one revision counter. Objects are frozen on write and never copied. (05 §3, §4) */
export class ObjectStore {
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Map<string, Set<StoreListener>>();
  readonly #journal: Journal | undefined;
  readonly #windowSize: number;
  readonly #history: ChangeHistory;
  readonly #indexes: Readonly<Record<string, CollectionIndex>>;
  readonly #onRolledBack: ObjectStoreOptions["onRolledBack"];
  /** About how many bytes of memory all objects may take; a full store refuses objects that grow. (05:CP-S3) */
  readonly maxMemory: number;
  #memory = 0;
  #revision = 0;
  #published = 0;
  #durable: Promise<void> | undefined;
  /** Writes that the journal has not stored yet, in order. */
  #pending: PendingWrite[] = [];
  #restoredAt = 0;

  constructor(options: ObjectStoreOptions = {}) {
    this.#journal = options.journal;
    this.#windowSize = options.windowSize ?? defaultWindow;
    this.#history = new ChangeHistory({
      maxMemory: options.historyMemory ?? defaultHistoryMemory,
      clock: options.clock,
    });
    this.maxMemory = options.maxMemory ?? defaultMaxMemory;
    this.#indexes = options.indexes ?? {};
    this.#onRolledBack = options.onRolledBack;
    this.#journal?.onFailure?.(() => this.#rollBack());
  }

  /** The resourceVersion of the last write. */
  get revision(): number {
    return this.#revision;
  }

  /** The last write that watchers have seen: equal to `revision` once everything is durable. */
  get published(): number {
    return this.#published;
  }

  collection(storage: string): Collection {
    const known = this.#collections.get(storage);
    if (known !== undefined) return known;
    const index = Object.hasOwn(this.#indexes, storage) ? this.#indexes[storage] : undefined;
    const made = new Collection({ index, windowSize: this.#windowSize, history: this.#history });
    made.log.forgetTo(this.#restoredAt);
    this.#collections.set(storage, made);
    return made;
  }

  /** Whether an object of this size can be put there. */
  hasRoom(storage: string, key: string, memory: number): boolean {
    const grown = memory - this.collection(storage).memoryOf(key);
    return grown <= 0 || this.#memory + grown <= this.maxMemory;
  }

  /** Stores the draft itself, which is frozen from here on. The memory it takes is measured, unless it is known. */
  put(storage: string, key: string, draft: ObjectDraft, memory = memoryBytes(measureJson(draft))): KubeObject {
    this.#assertJournalWritable();
    const collection = this.collection(storage);
    const previous = collection.get(key);
    const revision = ++this.#revision;
    draft.metadata.resourceVersion = String(revision);
    const object = deepFreeze<KubeObject>(draft);
    const type = previous === undefined ? "ADDED" : "MODIFIED";
    const previousMemory = this.#keep(collection, key, { object, memory });
    const write = { storage, change: { type, revision, key, object, previous, memory }, previousMemory } as const;
    this.#publish(write, { op: "put", revision, storage, key, object });
    return object;
  }

  /** The last state of the object; undefined if it did not exist. */
  remove(storage: string, key: string): KubeObject | undefined {
    this.#assertJournalWritable();
    const collection = this.collection(storage);
    const previous = collection.get(key);
    if (previous === undefined) return undefined;
    const revision = ++this.#revision;
    const metadata = { ...previous.metadata, resourceVersion: String(revision) };
    const object = deepFreeze({ ...previous, metadata }) as KubeObject;
    const memory = this.#keep(collection, key, undefined);
    const write = {
      storage,
      change: { type: "DELETED", revision, key, object, previous, memory },
      previousMemory: memory,
    } as const;
    this.#publish(write, { op: "delete", revision, storage, key });
    return object;
  }

  /** Puts or removes an object and counts its memory; returns what the one before it took. */
  #keep(collection: Collection, key: string, kept: KeptObject | undefined): number {
    const before = collection.memoryOf(key);
    this.#memory += (kept?.memory ?? 0) - before;
    if (kept === undefined) collection.remove(key);
    else collection.put(key, kept.object, kept.memory);
    return before;
  }

  subscribe(storage: string, listener: StoreListener): () => void {
    const listeners = this.#listeners.get(storage) ?? new Set();
    this.#listeners.set(storage, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** How many watches of the kind are open. */
  listenerCount(storage: string): number {
    return this.#listeners.get(storage)?.size ?? 0;
  }

  /** Resolves when everything written so far is durable; undefined if there is no journal or nothing to wait for. */
  durable(): Promise<void> | undefined {
    return this.#pending.length === 0 ? undefined : this.#durable;
  }

  /** Restores the entries of a journal, before anything else is written. Watches of earlier versions get 410. */
  restore(entries: Iterable<JournalEntry>): void {
    for (const entry of entries) {
      this.#revision = Math.max(this.#revision, entry.revision);
      if (entry.op === "put") this.#keep(this.collection(entry.storage), entry.key, restored(entry.object));
      else if (entry.op === "delete") this.#keep(this.collection(entry.storage), entry.key, undefined);
    }
    if (this.#revision === 0) return; // nothing to restore
    this.#revision += restoreGap;
    this.#restoredAt = this.#revision;
    this.#journal?.append({ op: "revision", revision: this.#revision }).catch(() => {}); // the next write reports it
    this.#published = this.#restoredAt;
    for (const collection of this.#collections.values()) collection.log.forgetTo(this.#restoredAt);
  }

  /** The entries `restore` needs for the present state: for compacting a journal. */
  *snapshot(): Iterable<JournalEntry> {
    yield { op: "revision", revision: this.#revision };
    for (const [storage, collection] of this.#collections) {
      for (const [key, object] of collection.range()) {
        yield { op: "put", revision: Number(object.metadata.resourceVersion), storage, key, object };
      }
    }
  }

  /** Watchers see a write once it is durable, so that nobody acts on one a crash undoes. (05:CP-T5) */
  #publish(write: PendingWrite, entry: JournalEntry): void {
    if (this.#journal === undefined) {
      this.#deliver(write);
      return;
    }
    this.#pending.push(write);
    this.#durable = this.#journal.append(entry).then(() => {
      this.#pending.shift();
      this.#deliver(write);
    });
    this.#durable.catch(() => {}); // reported to those who wait for it
  }

  #deliver({ storage, change }: PendingWrite): void {
    this.#published = change.revision;
    this.collection(storage).log.append(change);
    for (const listener of this.#listeners.get(storage) ?? []) listener(change);
  }

  #assertJournalWritable(): void {
    const cause = this.#journal?.refusal?.();
    if (cause === undefined) return;
    throw new KubeError("server-error", `the write could not be persisted: ${String(cause)}`, { cause });
  }

  /** The journal refused everything that was not durable yet, so none of it is visible any more. (05:CP-T5) */
  #rollBack(): void {
    for (const { storage, change, previousMemory } of this.#pending.splice(0).reverse()) {
      const { key, previous } = change;
      this.#keep(this.collection(storage), key, previous && { object: previous, memory: previousMemory });
      this.#onRolledBack?.(storage, change);
    }
  }
}

interface KeptObject {
  readonly object: KubeObject;
  readonly memory: number;
}

function restored(object: KubeObject): KeptObject {
  return { object: deepFreeze(object), memory: memoryBytes(measureJson(object)) };
}

/** A write that is not durable yet, with what is needed to undo it. */
interface PendingWrite {
  readonly storage: string;
  readonly change: StoreChange;
  readonly previousMemory: number;
}
