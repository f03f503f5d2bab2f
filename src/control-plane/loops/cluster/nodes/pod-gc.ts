import { type Loop, type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import { cacheKey } from "../../../../kube/object-cache.ts";
import type { LookAgain } from "../../../../kube/reconciler.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { conditionOf, isFinished, isTerminating, type LiveNode, type LivePod } from "../live.ts";
import { removePod } from "./evict.ts";

export interface PodGcOptions {
  /** How many finished pods are kept. */
  readonly maxFinished?: number | undefined;
}

/** A node that is missing may only not have been seen yet. */
const quarantineMs = 40_000;
const outOfService = "node.kubernetes.io/out-of-service";
const finished = "finished";

/** Removes pods nobody else will: of nodes that are gone, and finished ones beyond a number. (05:CP-L11) */
export function podGcLoop({ maxFinished = 12_500 }: PodGcOptions = {}): Loop {
  /** Since when pods have been without their node. */
  const orphanedSince = new Map<string, number>();
  return reconcileLoop({
    name: "pod-garbage-collector",
    triggers: [
      on<LivePod>(builtIn.Pod, ({ object, old }) => {
        const key = cacheKey((object ?? (old as LivePod)).metadata);
        if (object === undefined) orphanedSince.delete(key);
        return object === undefined ? [] : [key];
      }),
      on<LiveNode>(builtIn.Node, ({ object, old }, { view }) => {
        const isGone = object === undefined;
        if (!isGone && !isOutOfService(object)) return [];
        const { name = "" } = (object ?? (old as LiveNode)).metadata;
        return view<LivePod>(builtIn.Pod)
          .by("node", name)
          .map(({ metadata }) => cacheKey(metadata));
      }),
    ],
    prepare: ({ view }) => {
      view<LivePod>(builtIn.Pod).index("node", ({ spec }) => spec.nodeName);
      view<LivePod>(builtIn.Pod).index(finished, (pod) => (isFinished(pod) ? "" : undefined));
    },
    reconcile: async (key, world) => {
      const pod = world.view<LivePod>(builtIn.Pod).get(key);
      if (pod === undefined) return undefined;
      if (isFinished(pod)) await removeOldest(maxFinished, world);
      return orphaned(pod, { key, world, orphanedSince });
    },
  });
}

async function orphaned(
  pod: LivePod,
  { key, world, orphanedSince }: { key: string; world: LoopWorld; orphanedSince: Map<string, number> },
): Promise<LookAgain | undefined> {
  const { nodeName = "" } = pod.spec;
  const node = world.view<LiveNode>(builtIn.Node).get(nodeName);
  if (nodeName === "" || (node !== undefined && !(isTerminating(pod) && isOutOfService(node)))) {
    orphanedSince.delete(key);
    return undefined;
  }
  const now = world.clock.now();
  const since = orphanedSince.get(key) ?? now;
  orphanedSince.set(key, since);
  if (node === undefined && now < since + quarantineMs) return { afterMs: since + quarantineMs - now };
  const message = node === undefined ? "PodGC: node no longer exists" : "PodGC: node is out of service";
  await removePod(pod, { reason: "DeletionByPodGC", message, isForced: true }, world);
  return undefined;
}

function isOutOfService(node: LiveNode): boolean {
  return (
    conditionOf(node, "Ready")?.status !== "True" && node.spec?.taints?.some(({ key }) => key === outOfService) === true
  );
}

async function removeOldest(max: number, world: LoopWorld): Promise<void> {
  const pods = world.view<LivePod>(builtIn.Pod).by(finished, "");
  if (pods.length <= max) return;
  const created = ({ metadata }: LivePod): string => metadata.creationTimestamp ?? "";
  const oldest = [...pods].sort((a, b) => (created(a) < created(b) ? -1 : created(a) > created(b) ? 1 : 0));
  for (const pod of oldest.slice(0, pods.length - max)) {
    await removePod(
      pod,
      { reason: "DeletionByPodGC", message: "PodGC: too many finished pods", isForced: true },
      world,
    );
  }
}
