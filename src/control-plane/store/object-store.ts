import type { KubeObject } from "../../api/object.ts";
import { deepFreeze } from "../../util/freeze.ts";
import type { ObjectDraft } from "../kinds/object-draft.ts";
import type { StoreChange } from "./change-log.ts";
import { Collection, type CollectionIndex } from "./collection.ts";
import type { Journal, JournalEntry } from "./journal.ts";

export interface ObjectStoreOptions {
  readonly journal?: Journal | undefined;
  /** How many changes of a kind are kept for watches to resume. */
  readonly windowSize?: number | undefined;
  /** Indexes by storage name. */
  readonly indexes?: Readonly<Record<string, CollectionIndex>> | undefined;
}

export type StoreListener = (change: StoreChange) => void;

const defaultWindow = 4096;
/** More than can be in flight: after a crash no resourceVersion may be used twice. */
const restoreGap = 10_000;

/** All objects under one revision counter. Objects are frozen on write and never copied. (05 §3, §4) */
export class ObjectStore {
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Map<string, Set<StoreListener>>();
  readonly #journal: Journal | undefined;
  readonly #windowSize: number;
  readonly #indexes: Readonly<Record<string, CollectionIndex>>;
  #revision = 0;
  #published = 0;
  #durable: Promise<void> | undefined;
  #journalError: unknown;
  #restoredAt = 0;

  constructor({ journal, windowSize = defaultWindow, indexes = {} }: ObjectStoreOptions = {}) {
    this.#journal = journal;
    this.#windowSize = windowSize;
    this.#indexes = indexes;
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
    const made = new Collection({ index, windowSize: this.#windowSize });
    made.log.forgetTo(this.#restoredAt);
    this.#collections.set(storage, made);
    return made;
  }

  /** Stores the draft itself, which is frozen from here on. */
  put(storage: string, key: string, draft: ObjectDraft): KubeObject {
    this.#assertJournalWritable();
    const collection = this.collection(storage);
    const previous = collection.get(key);
    const revision = ++this.#revision;
    draft.metadata.resourceVersion = String(revision);
    const object = deepFreeze<KubeObject>(draft);
    collection.put(key, object);
    const change: StoreChange = {
      type: previous === undefined ? "ADDED" : "MODIFIED",
      revision,
      key,
      object,
      previous,
    };
    this.#publish(storage, change, { op: "put", revision, storage, key, object });
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
    collection.remove(key);
    const change: StoreChange = { type: "DELETED", revision, key, object, previous };
    this.#publish(storage, change, { op: "delete", revision, storage, key });
    return object;
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
    return this.#durable;
  }

  /** Restores the entries of a journal, before anything else is written. Watches of earlier versions get 410. */
  restore(entries: Iterable<JournalEntry>): void {
    for (const entry of entries) {
      this.#revision = Math.max(this.#revision, entry.revision);
      if (entry.op === "put") this.collection(entry.storage).put(entry.key, deepFreeze(entry.object));
      else if (entry.op === "delete") this.collection(entry.storage).remove(entry.key);
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
  #publish(storage: string, change: StoreChange, entry: JournalEntry): void {
    if (this.#journal === undefined) {
      this.#deliver(storage, change);
      return;
    }
    this.#durable = this.#journal.append(entry).then(
      () => this.#deliver(storage, change),
      (error: unknown) => {
        this.#journalError ??= error;
        throw error;
      },
    );
    this.#durable.catch(() => {}); // reported to those who wait for it
  }

  #deliver(storage: string, change: StoreChange): void {
    this.#published = change.revision;
    this.collection(storage).log.append(change);
    for (const listener of this.#listeners.get(storage) ?? []) listener(change);
  }

  #assertJournalWritable(): void {
    if (this.#journalError !== undefined)
      throw new Error("the journal cannot be written", { cause: this.#journalError });
  }
}
