import type { OwnerReference } from "../../../api/object.ts";

/** Keys of dependents by the uid of their owner. */
export class Dependents {
  readonly #byOwner = new Map<string, Set<string>>();

  updateOwners(key: string, references: { before: readonly OwnerReference[]; after: readonly OwnerReference[] }): void {
    for (const { uid } of references.before) {
      const keys = this.#byOwner.get(uid);
      keys?.delete(key);
      if (keys?.size === 0) this.#byOwner.delete(uid);
    }
    for (const { uid } of references.after) {
      const keys = this.#byOwner.get(uid);
      if (keys === undefined) this.#byOwner.set(uid, new Set([key]));
      else keys.add(key);
    }
  }

  ofOwner(uid: string | undefined): readonly string[] {
    return [...(this.#byOwner.get(uid ?? "") ?? [])].sort();
  }
}
