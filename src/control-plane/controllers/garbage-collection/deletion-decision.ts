import type { KubeObject, OwnerReference } from "../../../api/object.ts";

export const foregroundFinalizer = "foregroundDeletion";
export const orphanFinalizer = "orphan";

/** How an owner stands, for those that depend on it. */
export type OwnerState =
  /** There, and staying or going by itself. */
  | "solid"
  /** Gone, or another object took its name. */
  | "absent"
  /** Going, and waits until what depends on it is gone. */
  | "waiting"
  /** Of a kind we do not know: nothing may be done on its account. */
  | "unknown";

export interface OwnerWithState {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

/** What should become of an object, given its owners. */
export type DeletionDecision =
  | { readonly kind: "stay" }
  /** Some owners are gone and others are not: those that are gone are forgotten. */
  | { readonly kind: "forget"; readonly references: readonly OwnerReference[] }
  | { readonly kind: "go"; readonly propagation: "Background" | "Foreground" | "Orphan" };

/** An object goes when its last owner does. (05:CP-L7) */
export function decideDeletion(
  object: KubeObject,
  { owners, hasDependents }: { readonly owners: readonly OwnerWithState[]; readonly hasDependents: boolean },
): DeletionDecision {
  const lost = owners.filter(({ state }) => state === "absent" || state === "waiting");
  if (lost.length === 0) return { kind: "stay" };
  const hasOther = lost.length < owners.length;
  if (hasOther) return { kind: "forget", references: lost.map(({ reference }) => reference) };
  const isAwaited = lost.some(({ state }) => state === "waiting");
  // Whoever waits for it waits for what depends on it, too.
  if (isAwaited && hasDependents) return { kind: "go", propagation: "Foreground" };
  return { kind: "go", propagation: propagationOf(object) };
}

/** What it was already told to do when it goes. */
function propagationOf({ metadata }: KubeObject): "Background" | "Foreground" | "Orphan" {
  if (hasFinalizer(metadata.finalizers, orphanFinalizer)) return "Orphan";
  return hasFinalizer(metadata.finalizers, foregroundFinalizer) ? "Foreground" : "Background";
}

/** Going, and held until its dependents are dealt with. */
export function pendingPropagationOf({ metadata }: KubeObject): "foreground" | "orphan" | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  if (hasFinalizer(metadata.finalizers, orphanFinalizer)) return "orphan";
  return hasFinalizer(metadata.finalizers, foregroundFinalizer) ? "foreground" : undefined;
}

function hasFinalizer(finalizers: readonly string[] | undefined, finalizer: string): boolean {
  return finalizers?.includes(finalizer) ?? false;
}
