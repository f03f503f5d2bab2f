import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { finalizers } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ObjectChange } from "../../kube/view.ts";

/** The object's own name; deleted objects are not reconciled. */
export function ownName<T extends KubeObject>({ object }: ObjectChange<T>): readonly string[] {
  return object === undefined ? [] : [object.metadata.name ?? ""];
}

/**
 * The same, but not for most changes of labels, annotations or status alone. Those are our own writes, and the record
 * of a failed launch must not cut its back-off short. A new provider id counts: Nodes are looked up by it, and the
 * events of a Node that joined before the id was written found no claim to wake. (03:L-4, L-8)
 */
export function ownNameOnLifecycleChange({ object, old }: ObjectChange<NodeClaim>): readonly string[] {
  if (object === undefined) return [];
  const isRelevant =
    old === undefined ||
    old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp ||
    old.metadata.generation !== object.metadata.generation ||
    old.status?.providerID !== object.status?.providerID ||
    !object.metadata.finalizers?.includes(finalizers.termination);
  return isRelevant ? [object.metadata.name ?? ""] : [];
}
