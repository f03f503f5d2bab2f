import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";
import { isFiniteWork } from "../../core/scenario/finite-work.ts";
import { scenarioKind } from "../../core/scenario/scenario-kind.ts";
import type { Decision } from "../../core/scheduling/decision.ts";

/**
 * The hourly price once Jobs are over, where they share nodes with other pods: nodes made large for them are not needed all
 * month. Undefined if they share none: then nodes that only run Jobs tell the same.
 */
export function priceWithoutJobs(
  objects: readonly KubeObject[],
  { decision, plan }: { readonly decision: Decision; readonly plan: (objects: readonly KubeObject[]) => Decision },
): number | undefined {
  const isShared = decision.newNodes.some(({ pods }) => pods.some(isFiniteWork) && !pods.every(isFiniteWork));
  if (!isShared) return undefined;
  const { newNodes } = plan(objects.filter((object) => !isWaitingJobPod(object)));
  return newNodes.reduce((sum, { price }) => sum + price, 0);
}

function isWaitingJobPod(object: KubeObject): boolean {
  if (scenarioKind(object) !== "Pod") return false;
  const pod = object as KubeObject & Pod;
  return (pod.spec.nodeName ?? "") === "" && isFiniteWork(pod);
}
