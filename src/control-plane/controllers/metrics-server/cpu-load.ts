import { simulationAnnotations } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { ResourceType } from "../../../kube/client.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { Quantity } from "../../../util/quantity.ts";
import type { ApiPod } from "../api-pod-and-node.ts";

const { Deployment, ReplicaSet, StatefulSet, Pod } = builtInTypes;
/** Kinds that may say how much work there is for their pods. */
export const loadedTypes: readonly ResourceType[] = [Deployment, ReplicaSet, StatefulSet];

/**
 * What a pod uses of cpu, in millicores, where its workload says how much work there is: its running pods share it, so more
 * replicas use less each. Undefined where it says nothing, or not an amount. (05:CP-L13)
 */
export function cpuLoadReader({ view }: ControllerContext): (pod: Pick<KubeObject, "metadata">) => number | undefined {
  const ownerOf = ({ metadata }: Pick<KubeObject, "metadata">): KubeObject | undefined => {
    const reference = metadata.ownerReferences?.find(({ controller }) => controller === true);
    const type = loadedTypes.find(({ kind }) => kind === reference?.kind);
    const found = type && view(type).get(`${metadata.namespace}/${reference?.name}`);
    return found?.metadata.uid === reference?.uid ? found : undefined;
  };
  const isRunning = ({ metadata, status }: ApiPod): boolean =>
    status?.phase === "Running" && metadata.deletionTimestamp === undefined;
  const runningPods = (owner: KubeObject): number => {
    const { uid } = owner.metadata;
    const own = view<ApiPod>(Pod).controlledBy(uid).filter(isRunning).length;
    return view(ReplicaSet)
      .controlledBy(uid)
      .reduce((sum, replicaSet) => sum + runningPods(replicaSet), own);
  };
  return (pod) => {
    const direct = ownerOf(pod);
    const owner = direct && (ownerOf(direct) ?? direct);
    const load = loadOf(owner?.metadata.annotations?.[simulationAnnotations.cpuLoad]);
    return load === undefined || owner === undefined ? undefined : load / Math.max(1, runningPods(owner));
  };
}

function loadOf(written: string | undefined): number | undefined {
  try {
    const milli = written === undefined ? undefined : Number(Quantity.parse(written).milliValue());
    return milli !== undefined && milli >= 0 ? milli : undefined;
  } catch {
    return undefined;
  }
}
