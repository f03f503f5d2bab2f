import type { KubeObject } from "../api/object.ts";
import type { ObjectChange } from "../kube/view.ts";

/** Created, deleted, or its spec changed: not merely its status. */
export function hasGenerationChanged({ object, old }: ObjectChange<KubeObject>): boolean {
  return object === undefined || old === undefined || object.metadata.generation !== old.metadata.generation;
}
