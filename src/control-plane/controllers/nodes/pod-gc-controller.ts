import { isTerminalPod, isTerminatingPod } from "../../../core/pod-predicates.ts";
import { cacheKey } from "../../../kube/client.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../../kube/controller.ts";
import type { RequeueAfter } from "../../../kube/reconciler.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { type ApiNode, type ApiPod, conditionOfType } from "../api-pod-and-node.ts";
import { addConditionAndDeletePod } from "./add-condition-and-delete-pod.ts";

export interface PodGcOptions {
  /** How many finished pods are kept. */
  readonly terminatedPodThreshold?: number | undefined;
}

/** A missing Node may only not have been observed yet: wait this long. */
const quarantineMs = 40_000;
const outOfService = "node.kubernetes.io/out-of-service";
const terminatedPodsIndex = "finished";

/** Deletes pods of Nodes that are gone, and terminated pods beyond a threshold. (05:CP-L11) */
export function podGcController({ terminatedPodThreshold = 12_500 }: PodGcOptions = {}): Controller {
  /** When each pod was first seen without its Node. */
  const orphanedSince = new Map<string, number>();
  return reconcileController({
    name: "pod-garbage-collector",
    triggers: [
      triggerOn<ApiPod>(builtInTypes.Pod, ({ object, old }) => {
        const key = cacheKey((object ?? old).metadata);
        if (object === undefined) orphanedSince.delete(key);
        return object === undefined ? [] : [key];
      }),
      triggerOn<ApiNode>(builtInTypes.Node, ({ object, old }, { view }) => {
        if (object !== undefined && !isOutOfService(object)) return [];
        return podKeysOn(object ?? old, view);
      }),
    ],
    start: ({ view }) => {
      view<ApiPod>(builtInTypes.Pod).addIndex("node", ({ spec }) => spec.nodeName);
      view<ApiPod>(builtInTypes.Pod).addIndex(terminatedPodsIndex, (pod) => (isTerminalPod(pod) ? "" : undefined));
    },
    reconcile: async (key, context) => {
      const pod = context.view<ApiPod>(builtInTypes.Pod).get(key);
      if (pod === undefined) return undefined;
      if (isTerminalPod(pod)) await deleteOldestTerminatedPods(terminatedPodThreshold, context);
      return deleteOrphanedPod(pod, { key, context, orphanedSince });
    },
  });
}

async function deleteOrphanedPod(
  pod: ApiPod,
  { key, context, orphanedSince }: { key: string; context: ControllerContext; orphanedSince: Map<string, number> },
): Promise<RequeueAfter | undefined> {
  const { nodeName = "" } = pod.spec;
  const node = context.view<ApiNode>(builtInTypes.Node).get(nodeName);
  if (nodeName === "" || (node !== undefined && !(isTerminatingPod(pod) && isOutOfService(node)))) {
    orphanedSince.delete(key);
    return undefined;
  }
  const now = context.clock.now();
  const since = orphanedSince.get(key) ?? now;
  orphanedSince.set(key, since);
  if (node === undefined && now < since + quarantineMs) return { afterMs: since + quarantineMs - now };
  const message = node === undefined ? "PodGC: node no longer exists" : "PodGC: node is out of service";
  await addConditionAndDeletePod(pod, { reason: "DeletionByPodGC", message, isForced: true }, context);
  return undefined;
}

/** Needs the index of pods by node. */
export function podKeysOn({ metadata }: ApiNode, view: ControllerContext["view"]): readonly string[] {
  const pods = view<ApiPod>(builtInTypes.Pod).byIndex("node", metadata.name ?? "");
  return pods.map((pod) => cacheKey(pod.metadata));
}

function isOutOfService(node: ApiNode): boolean {
  return (
    conditionOfType(node, "Ready")?.status !== "True" &&
    node.spec?.taints?.some(({ key }) => key === outOfService) === true
  );
}

async function deleteOldestTerminatedPods(max: number, context: ControllerContext): Promise<void> {
  const pods = context.view<ApiPod>(builtInTypes.Pod).byIndex(terminatedPodsIndex, "");
  if (pods.length <= max) return;
  const created = ({ metadata }: ApiPod): string => metadata.creationTimestamp ?? "";
  const oldest = [...pods].sort((a, b) => (created(a) < created(b) ? -1 : created(a) > created(b) ? 1 : 0));
  const deletion = { reason: "DeletionByPodGC", message: "PodGC: too many finished pods", isForced: true };
  for (const pod of oldest.slice(0, pods.length - max)) await addConditionAndDeletePod(pod, deletion, context);
}
