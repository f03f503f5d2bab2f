import { simulationAnnotations } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { Quantity } from "../../../util/quantity.ts";
import type { ApiPod } from "../api-pod-and-node.ts";
import { scalableWorkloadOf } from "../workloads/scalable-workloads.ts";

/**
 * What a pod uses of cpu, in millicores, where its workload says how much work there is: its running pods share it, so more
 * replicas use less each. Undefined where it says nothing, or not an amount. (05:CP-L13)
 */
export function cpuLoadReader(context: ControllerContext): (pod: Pick<KubeObject, "metadata">) => number | undefined {
  const { view } = context;
  const isRunning = ({ metadata, status }: ApiPod): boolean =>
    status?.phase === "Running" && metadata.deletionTimestamp === undefined;
  const runningPods = (owner: KubeObject): number => {
    const { uid } = owner.metadata;
    const own = view<ApiPod>(builtInTypes.Pod).controlledBy(uid).filter(isRunning).length;
    return view(builtInTypes.ReplicaSet)
      .controlledBy(uid)
      .reduce((sum, replicaSet) => sum + runningPods(replicaSet), own);
  };
  return (pod) => {
    const owner = scalableWorkloadOf(pod, context);
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
