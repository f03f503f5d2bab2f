import type { CapacityBuffer } from "../../api/kinds/capacity-buffer.ts";
import { type KubeObject, namespacedName } from "../../api/object.ts";
import { type Controller, type ControllerContext, triggerOn } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { hasGenerationChanged } from "../generation-changed.ts";
import { type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { patchLockedStatus } from "../patch-locked-status.ts";
import { bufferStatusPatch } from "./buffer-status-patch.ts";
import { resolveBuffer } from "./resolve-buffer.ts";
import { watchBufferWorkloads } from "./watch-workloads.ts";

const periodMs = 30_000;

/** Capacity kept free for pods that do not exist yet. (02 §8.2) */
export function capacityBufferControllers(dependencies: ControllerDependencies): readonly Controller[] {
  return dependencies.settings.gates.CapacityBuffer ? [capacityBufferController(dependencies)] : [];
}

function capacityBufferController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "capacitybuffer",
    concurrency: 10,
    triggers: [
      triggerOn<CapacityBuffer>(karpenterTypes.CapacityBuffer, bufferKeyOnSpecChange),
      triggerOn<KubeObject>(builtInTypes.PodTemplate, buffersOfTemplate),
    ],
    subscribe: watchBufferWorkloads,
    reconcile: async (key, context) => {
      const buffer = context.view<CapacityBuffer>(karpenterTypes.CapacityBuffer).get(key);
      if (buffer !== undefined) return refreshBuffer(buffer, context);
      clearPods(key, context);
      context.bufferPods.remove(key);
      return undefined;
    },
  });
}

/** Writes the status first, also when it reports a problem; then sets the buffer's pods and triggers a round. (02:B-4) */
async function refreshBuffer(buffer: CapacityBuffer, context: KarpenterContext): Promise<RequeueAfter> {
  const { client, bufferPods } = context;
  const otherPods = (): number => bufferPods.countExcept(namespacedName(buffer.metadata));
  const resolution = await resolveBuffer(buffer, { client, otherPods });
  const status = bufferStatusPatch(buffer, { resolution, nowMs: context.clock.now() });
  const requeue =
    status && (await patchLockedStatus(context, karpenterTypes.CapacityBuffer, { object: buffer, status }));
  if (requeue !== undefined) return requeue;
  // The pods are unknown now: keep those of the last reconcile.
  if (resolution.kind === "unknown") throw resolution.error;
  if (resolution.kind === "resolved") {
    bufferPods.set(namespacedName(buffer.metadata), resolution.pods);
    context.trigger.fire(buffer.metadata.uid ?? "");
  } else clearPods(namespacedName(buffer.metadata), context);
  return { afterMs: periodMs };
}

/** Pods that are gone keep no nodes. Where those of other buffers are, the next round says. (02:B-7) */
function clearPods(buffer: string, { bufferPods, cluster, trigger }: KarpenterContext): void {
  const hadPods = (bufferPods.of(buffer) ?? []).length > 0;
  bufferPods.set(buffer, []);
  if (bufferPods.all().length === 0) cluster.setBufferPodCounts(new Map());
  else if (hadPods) trigger.fire(buffer);
}

/** A change of status is our own write. */
function bufferKeyOnSpecChange(change: ObjectChange<CapacityBuffer>): readonly string[] {
  const { metadata } = change.object ?? change.old;
  return hasGenerationChanged(change) ? [namespacedName(metadata)] : [];
}

function buffersOfTemplate({ object, old }: ObjectChange<KubeObject>, context: ControllerContext): readonly string[] {
  const { name, namespace = "" } = (object ?? old).metadata;
  return context
    .view<CapacityBuffer>(karpenterTypes.CapacityBuffer)
    .inNamespace(namespace)
    .filter(({ spec }) => spec.podTemplateRef?.name === name)
    .map(({ metadata }) => namespacedName(metadata));
}
