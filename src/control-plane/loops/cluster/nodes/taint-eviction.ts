import { tolerates } from "../../../../core/tolerations.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import { cacheKey } from "../../../../kube/object-cache.ts";
import type { LookAgain } from "../../../../kube/reconciler.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { isFinished, isTerminating, type LiveNode, type LivePod } from "../live.ts";
import { removePod } from "./evict.ts";
import { sameTaints, type TimedTaint } from "./node-taints.ts";

/** Deletes pods from nodes whose NoExecute taints they do not, or no longer, tolerate. (05:CP-L11) */
export function taintEvictionLoop(): Loop {
  /** Since when taints that do not say it have been seen, per pod. */
  const seen = new Map<string, number>();
  return reconcileLoop({
    name: "taint-eviction-controller",
    triggers: [
      on<LivePod>(builtIn.Pod, ({ object, old }) => {
        const key = cacheKey((object ?? (old as LivePod)).metadata);
        if (object === undefined) seen.delete(key);
        const isPlaced = object !== undefined && (object.spec.nodeName ?? "") !== "";
        const wasPlaced = old !== undefined && (old.spec.nodeName ?? "") !== "";
        return isPlaced && !wasPlaced ? [key] : [];
      }),
      on<LiveNode>(builtIn.Node, ({ object, old }, { view }) => {
        if (object === undefined || sameTaints(noExecute(object), noExecute(old))) return [];
        const { name = "" } = object.metadata;
        return view<LivePod>(builtIn.Pod)
          .by("node", name)
          .map(({ metadata }) => cacheKey(metadata));
      }),
    ],
    prepare: ({ view }) => view<LivePod>(builtIn.Pod).index("node", ({ spec }) => spec.nodeName),
    reconcile: (key, world) => lookAt(key, world, seen),
  });
}

async function lookAt(key: string, world: LoopWorld, seen: Map<string, number>): Promise<LookAgain | undefined> {
  const { clock, view } = world;
  const pod = view<LivePod>(builtIn.Pod).get(key);
  const node = pod && view<LiveNode>(builtIn.Node).get(pod.spec.nodeName ?? "");
  const taints = noExecute(node);
  if (pod === undefined || isTerminating(pod) || isFinished(pod) || taints.length === 0) {
    seen.delete(key);
    return undefined;
  }
  const now = clock.now();
  const since = seen.get(key) ?? now;
  seen.set(key, since);
  const evictAt = evictionTime(pod, taints, since);
  if (evictAt === Number.POSITIVE_INFINITY) return undefined;
  if (now < evictAt) return { afterMs: evictAt - now };
  world.tell(pod, { type: "Normal", reason: "TaintManagerEviction", message: `Marking for deletion Pod ${key}` });
  const message = "Taint manager: deleting due to NoExecute taint";
  await removePod(pod, { reason: "DeletionByTaintManager", message }, world);
  return undefined;
}

/** The first moment at which one of the taints is tolerated no longer. */
export function evictionTime(pod: LivePod, taints: readonly TimedTaint[], since: number): number {
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

function noExecute(node: LiveNode | undefined): readonly TimedTaint[] {
  return (node?.spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute");
}
