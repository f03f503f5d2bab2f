import type { KubeObject, OwnerReference } from "../../../api/object.ts";

export const foregroundFinalizer = "foregroundDeletion";
export const orphanFinalizer = "orphan";

/** The state of an owner, as the garbage collector sees it. */
export type OwnerState =
  /** Exists, and is not waiting for dependents. */
  | "solid"
  /** Gone, or another object has its name. */
  | "absent"
  /** Being deleted in the foreground: waits for its dependents. */
  | "waiting"
  /** Of an unknown kind: nothing is deleted because of it. */
  | "unknown";

export interface OwnerWithState {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

/** What to do with an object, given its owners. */
export type DeletionDecision =
  | { readonly kind: "keep" }
  /** Some owners are gone: their references are removed. */
  | { readonly kind: "remove-owner-references"; readonly references: readonly OwnerReference[] }
  | { readonly kind: "delete"; readonly propagation: "Background" | "Foreground" | "Orphan" };

/** An object is deleted when its last owner is gone. (05:CP-L7) */
export function decideDeletion(
  object: KubeObject,
  { owners, hasDependents }: { readonly owners: readonly OwnerWithState[]; readonly hasDependents: boolean },
): DeletionDecision {
  const lost = owners.filter(({ state }) => state === "absent" || state === "waiting");
  if (lost.length === 0) return { kind: "keep" };
  const hasOther = lost.length < owners.length;
  if (hasOther) return { kind: "remove-owner-references", references: lost.map(({ reference }) => reference) };
  const isAwaited = lost.some(({ state }) => state === "waiting");
  // The owner waits for this object, and so for its dependents too.
  if (isAwaited && hasDependents) return { kind: "delete", propagation: "Foreground" };
  return { kind: "delete", propagation: propagationOf(object) };
}

/** The propagation policy its own finalizers ask for. */
function propagationOf({ metadata }: KubeObject): "Background" | "Foreground" | "Orphan" {
  if (hasFinalizer(metadata.finalizers, orphanFinalizer)) return "Orphan";
  return hasFinalizer(metadata.finalizers, foregroundFinalizer) ? "Foreground" : "Background";
}

/** How a deletion in progress treats dependents; undefined if none is pending. */
export function pendingPropagationOf({ metadata }: KubeObject): "foreground" | "orphan" | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  if (hasFinalizer(metadata.finalizers, orphanFinalizer)) return "orphan";
  return hasFinalizer(metadata.finalizers, foregroundFinalizer) ? "foreground" : undefined;
}

function hasFinalizer(finalizers: readonly string[] | undefined, finalizer: string): boolean {
  return finalizers?.includes(finalizer) ?? false;
}
