import { SortedMap } from "../util/sorted-map.ts";

/** The group an object belongs to; undefined leaves it out of the index. */
export type IndexFunc<T> = (object: T) => string | undefined;

/** The objects of a view by group. */
export class ViewIndex<T> {
  readonly #groupOf: IndexFunc<T>;
  readonly #groups = new Map<string, SortedMap<T>>();

  constructor(groupOf: IndexFunc<T>) {
    this.#groupOf = groupOf;
  }

  /** The objects of a group, by key. */
  under(group: string): readonly T[] {
    return this.#groups.get(group)?.values() ?? [];
  }

  /** Replaces what was stored under the key: no old for a new object, no object for a deleted one. */
  replace(key: string, old: T | undefined, object: T | undefined): void {
    const [before, now] = [old && this.#groupOf(old), object && this.#groupOf(object)];
    if (before !== undefined && before !== now) this.#remove(key, before);
    if (now === undefined || object === undefined) return;
    const group = this.#groups.get(now);
    if (group !== undefined) group.set(key, object);
    else this.#groups.set(now, new SortedMap<T>().set(key, object));
  }

  #remove(key: string, before: string): void {
    const group = this.#groups.get(before);
    group?.delete(key);
    if (group?.size === 0) this.#groups.delete(before);
  }
}
