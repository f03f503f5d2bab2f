import type { SelectorOwner } from "../../api/kubernetes/cluster-objects.ts";
import type { KubeObject } from "../../api/object.ts";

const kinds: readonly string[] = ["Service", "ReplicationController", "ReplicaSet", "StatefulSet"];

/**
 * Objects whose selectors default topology constraints use. A Deployment of a file counts as the ReplicaSet its pods
 * refer to, which the file does not contain. (02:X-51)
 */
export function selectorOwners(objects: readonly KubeObject[]): readonly SelectorOwner[] {
  return objects.flatMap((object) => {
    const kind = object.kind === "Deployment" ? "ReplicaSet" : object.kind;
    return kinds.includes(kind) ? [{ ...object, kind } as SelectorOwner] : [];
  });
}
