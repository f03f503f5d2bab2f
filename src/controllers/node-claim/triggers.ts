import { finalizers } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ObjectChange } from "../../kube/view.ts";

/** The object itself is the key; one that is gone needs no more looks. */
export function ownName<T extends KubeObject>({ object }: ObjectChange<T>): readonly string[] {
  return object === undefined ? [] : [object.metadata.name ?? ""];
}

/**
 * The same, unless only labels, annotations or status changed. Those are mostly our own notes, and a note that a launch
 * failed must not cut short the wait before the next one. (03:L-4)
 */
export function ownNameUnlessMetadataOrStatusChange<T extends KubeObject>({
  object,
  old,
}: ObjectChange<T>): readonly string[] {
  if (object === undefined) return [];
  const isRelevant =
    old === undefined ||
    old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp ||
    old.metadata.generation !== object.metadata.generation ||
    !object.metadata.finalizers?.includes(finalizers.termination);
  return isRelevant ? [object.metadata.name ?? ""] : [];
}
