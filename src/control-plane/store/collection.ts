import type { KubeObject } from "../../api/object.ts";
import { type ChangeHistory, ChangeLog } from "./change-log.ts";

/** Groups objects by a value other than their key. */
export interface CollectionIndex {
  readonly name: string;
  valueOf(object: KubeObject): string;
}

export interface KeyRange {
  readonly prefix?: string;
  readonly from?: string;
}

interface CollectionOptions {
  readonly index: CollectionIndex | undefined;
  readonly windowSize: number;
  readonly history: ChangeHistory;
}

/** All objects of one kind, sorted by key (`namespace/name`, or `name`). */
export class Collection {
  readonly log: ChangeLog;
  readonly #objects = new Map<string, KubeObject>();
  /** Always sorted: inserting into an array of pointers is cheaper than sorting for every list. */
  readonly #keys: string[] = [];
  /** In the order of the keys, so that a scan reads memory sequentially. */
  readonly #values: KubeObject[] = [];
  readonly #index: CollectionIndex | undefined;
  readonly #byIndex = new Map<string, Set<string>>();
  /** About how many bytes of memory each object takes. */
  readonly #memory = new Map<string, number>();

  constructor(options: CollectionOptions) {
    this.#index = options.index;
    this.log = new ChangeLog(options);
  }

  get size(): number {
    return this.#keys.length;
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  /** Entries from the first key at or after `from` that begin with `prefix`. */
  scan({ prefix = "", from = "" }: KeyRange, visit: (key: string, object: KubeObject) => void): void {
    const keys = this.#keys;
    for (let at = this.#position(from > prefix ? from : prefix); at < keys.length; at++) {
      const key = keys[at] as string;
      if (!key.startsWith(prefix)) return;
      visit(key, this.#values[at] as KubeObject);
    }
  }

  /** A copy that later writes do not affect. */
  range(range: KeyRange = {}): readonly (readonly [string, KubeObject])[] {
    const entries: (readonly [string, KubeObject])[] = [];
    this.scan(range, (key, object) => entries.push([key, object]));
    return entries;
  }

  /** Objects with this value, by key; undefined if there is no such index. */
  indexed(index: string, value: string): readonly (readonly [string, KubeObject])[] | undefined {
    if (this.#index?.name !== index) return undefined;
    const keys = [...(this.#byIndex.get(value) ?? [])].sort();
    return keys.map((key) => [key, this.#objects.get(key) as KubeObject]);
  }

  /** About how many bytes of memory the object takes; zero if there is none. */
  memoryOf(key: string): number {
    return this.#memory.get(key) ?? 0;
  }

  put(key: string, object: KubeObject, memory: number): void {
    this.#memory.set(key, memory);
    const old = this.#objects.get(key);
    const at = this.#position(key);
    if (old === undefined) {
      this.#keys.splice(at, 0, key);
      this.#values.splice(at, 0, object);
    } else this.#values[at] = object;
    this.#objects.set(key, object);
    this.#reindex(key, old, object);
  }

  remove(key: string): void {
    const old = this.#objects.get(key);
    if (old === undefined) return;
    this.#objects.delete(key);
    this.#memory.delete(key);
    const at = this.#position(key);
    this.#keys.splice(at, 1);
    this.#values.splice(at, 1);
    this.#reindex(key, old, undefined);
  }

  #reindex(key: string, old: KubeObject | undefined, object: KubeObject | undefined): void {
    if (this.#index === undefined) return;
    const before = old && this.#index.valueOf(old);
    const after = object && this.#index.valueOf(object);
    if (before === after) return;
    if (before !== undefined) {
      const keys = this.#byIndex.get(before);
      keys?.delete(key);
      if (keys?.size === 0) this.#byIndex.delete(before);
    }
    if (after === undefined) return;
    const keys = this.#byIndex.get(after);
    if (keys === undefined) this.#byIndex.set(after, new Set([key]));
    else keys.add(key);
  }

  /** The index of the key, or where it would be inserted. */
  #position(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
