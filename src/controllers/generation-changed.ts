import type { KubeObject } from "../api/object.ts";
import type { ObjectChange } from "../kube/view.ts";

/** It came, went, or asks for something else: not a mere change of status. */
export function hasGenerationChanged({ object, old }: ObjectChange<KubeObject>): boolean {
  return object === undefined || old === undefined || object.metadata.generation !== old.metadata.generation;
}
