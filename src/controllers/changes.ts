import type { KubeObject } from "../api/object.ts";
import type { Change } from "../kube/view.ts";

/** It came, went, or asks for something else: not a mere change of status. */
export function isNewGeneration({ object, old }: Change<KubeObject>): boolean {
  return object === undefined || old === undefined || object.metadata.generation !== old.metadata.generation;
}
