import { finalizers } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ObjectChange } from "../../kube/view.ts";

/** The object's own name; deleted objects are not reconciled. */
export function ownName<T extends KubeObject>({ object }: ObjectChange<T>): readonly string[] {
  return object === undefined ? [] : [object.metadata.name ?? ""];
}

/**
 * The same, but not for changes of labels, annotations or status alone. Those are mostly our own writes, and the record
 * of a failed launch must not cut its back-off short. (03:L-4)
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
