import type { SelectorOwner } from "../../api/kubernetes/cluster-objects.ts";
import type { KubeObject } from "../../api/object.ts";

const kinds: readonly string[] = ["Service", "ReplicationController", "ReplicaSet", "StatefulSet"];

/**
 * What default topology constraints deduce selectors from. A Deployment stands for the ReplicaSet its pods say they
 * belong to, which nobody has written down. (02:X-51)
 */
export function selectorOwners(objects: readonly KubeObject[]): readonly SelectorOwner[] {
  return objects.flatMap((object) => {
    const kind = object.kind === "Deployment" ? "ReplicaSet" : object.kind;
    return kinds.includes(kind) ? [{ ...object, kind } as SelectorOwner] : [];
  });
}
