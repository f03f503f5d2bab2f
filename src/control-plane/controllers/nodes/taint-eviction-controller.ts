import { isTerminalPod, isTerminatingPod } from "../../../core/pod-predicates.ts";
import { tolerates } from "../../../core/tolerations.ts";
import { cacheKey } from "../../../kube/client.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../../kube/controller.ts";
import type { RequeueAfter } from "../../../kube/reconciler.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { ApiNode, ApiPod } from "../api-pod-and-node.ts";
import { addConditionAndDeletePod } from "./add-condition-and-delete-pod.ts";
import { sameTaints, type TimedTaint } from "./node-taints.ts";
import { podKeysOn } from "./pod-gc-controller.ts";

/** Deletes pods from nodes whose NoExecute taints they do not, or no longer, tolerate. (05:CP-L11) */
export function taintEvictionController(): Controller {
  /** When NoExecute taints without timeAdded were first seen, per pod. */
  const firstSeenAt = new Map<string, number>();
  return reconcileController({
    name: "taint-eviction-controller",
    triggers: [
      triggerOn<ApiPod>(builtInTypes.Pod, ({ object, old }) => {
        const key = cacheKey((object ?? old).metadata);
        if (object === undefined) firstSeenAt.delete(key);
        const isAssigned = object !== undefined && (object.spec.nodeName ?? "") !== "";
        const wasAssigned = old !== undefined && (old.spec.nodeName ?? "") !== "";
        return isAssigned && !wasAssigned ? [key] : [];
      }),
      triggerOn<ApiNode>(builtInTypes.Node, ({ object, old }, { view }) => {
        if (object === undefined || sameTaints(noExecuteTaints(object), noExecuteTaints(old))) return [];
        return podKeysOn(object, view);
      }),
    ],
    start: ({ view }) => view<ApiPod>(builtInTypes.Pod).addIndex("node", ({ spec }) => spec.nodeName),
    reconcile: (key, context) => evictWhenDue(key, context, firstSeenAt),
  });
}

async function evictWhenDue(
  key: string,
  context: ControllerContext,
  firstSeenAt: Map<string, number>,
): Promise<RequeueAfter | undefined> {
  const { clock, view } = context;
  const pod = view<ApiPod>(builtInTypes.Pod).get(key);
  const node = pod && view<ApiNode>(builtInTypes.Node).get(pod.spec.nodeName ?? "");
  const taints = noExecuteTaints(node);
  if (pod === undefined || isTerminatingPod(pod) || isTerminalPod(pod) || taints.length === 0) {
    firstSeenAt.delete(key);
    return undefined;
  }
  const now = clock.now();
  const since = firstSeenAt.get(key) ?? now;
  firstSeenAt.set(key, since);
  const evictAt = evictionTime(pod, taints, since);
  if (evictAt === Number.POSITIVE_INFINITY) return undefined;
  if (now < evictAt) return { afterMs: evictAt - now };
  const eventMessage = `Marking for deletion Pod ${key}`;
  context.recordEvent(pod, { type: "Normal", reason: "TaintManagerEviction", message: eventMessage });
  const message = "Taint manager: deleting due to NoExecute taint";
  await addConditionAndDeletePod(pod, { reason: "DeletionByTaintManager", message }, context);
  return undefined;
}

/** When the first of the taints is no longer tolerated. */
function evictionTime(pod: ApiPod, taints: readonly TimedTaint[], since: number): number {
  const { tolerations = [] } = pod.spec;
  let evictAt = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    const toleration = tolerations.find((one) => tolerates([one], taint));
    if (toleration === undefined) return since;
    if (toleration.tolerationSeconds === undefined) continue;
    const added = Date.parse(taint.timeAdded ?? "");
    const from = Number.isNaN(added) ? since : added;
    evictAt = Math.min(evictAt, from + Math.max(0, toleration.tolerationSeconds) * 1000);
  }
  return evictAt;
}

function noExecuteTaints(node: ApiNode | undefined): readonly TimedTaint[] {
  return (node?.spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute");
}
