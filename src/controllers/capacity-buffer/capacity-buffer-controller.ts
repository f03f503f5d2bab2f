import type { CapacityBuffer } from "../../api/kinds/capacity-buffer.ts";
import { type KubeObject, namespacedName } from "../../api/object.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { hasGenerationChanged } from "../generation-changed.ts";
import { patchLockedStatus } from "../patch-locked-status.ts";
import { bufferStatusPatch } from "./buffer-status-patch.ts";
import { resolveBuffer } from "./resolve-buffer.ts";

export interface CapacityBufferDependencies extends ControllerDependencies {
  /** Asks for a round of provisioning. */
  readonly trigger: { fire(uid: string): void };
}

const periodMs = 30_000;

/** Room kept for pods that do not exist yet. (02 §8.2) */
export function capacityBufferControllers(dependencies: CapacityBufferDependencies): readonly Controller[] {
  return dependencies.settings.gates.CapacityBuffer ? [capacityBufferController(dependencies)] : [];
}

function capacityBufferController(dependencies: CapacityBufferDependencies): Controller {
  return reconcileController({
    name: "capacitybuffer",
    concurrency: 10,
    triggers: [
      triggerOn<CapacityBuffer>(karpenterTypes.CapacityBuffer, bufferKeyOnSpecChange),
      triggerOn<KubeObject>(builtInTypes.PodTemplate, buffersOfPodTemplate),
    ],
    reconcile: async (key, context) => {
      const buffer = context.view<CapacityBuffer>(karpenterTypes.CapacityBuffer).get(key);
      if (buffer !== undefined) return refreshBuffer(buffer, context, dependencies);
      dependencies.bufferPods.remove(key);
      return undefined;
    },
  });
}

/** Status first, also where it tells of trouble; then the pods, and a round that looks at them. (02:B-4) */
async function refreshBuffer(
  buffer: CapacityBuffer,
  context: ControllerContext,
  { bufferPods, trigger }: CapacityBufferDependencies,
): Promise<RequeueAfter> {
  const resolution = await resolveBuffer(buffer, context.client);
  const status = bufferStatusPatch(buffer, { resolution, nowMs: context.clock.now() });
  const requeue =
    status && (await patchLockedStatus(context, karpenterTypes.CapacityBuffer, { object: buffer, status }));
  if (requeue !== undefined) return requeue;
  // Nobody knows what the pods are now: those of the last look stay.
  if (resolution.kind === "unknown") throw resolution.error;
  bufferPods.set(namespacedName(buffer.metadata), resolution.kind === "resolved" ? resolution.pods : []);
  if (resolution.kind === "resolved") trigger.fire(buffer.metadata.uid ?? "");
  return { afterMs: periodMs };
}

/** What is said about it in its status is our own doing. */
function bufferKeyOnSpecChange(change: ObjectChange<CapacityBuffer>): readonly string[] {
  const { metadata } = change.object ?? change.old;
  return hasGenerationChanged(change) ? [namespacedName(metadata)] : [];
}

function buffersOfPodTemplate(
  { object, old }: ObjectChange<KubeObject>,
  context: ControllerContext,
): readonly string[] {
  const { name, namespace = "" } = (object ?? old).metadata;
  return context
    .view<CapacityBuffer>(karpenterTypes.CapacityBuffer)
    .inNamespace(namespace)
    .filter(({ spec }) => spec.podTemplateRef?.name === name)
    .map(({ metadata }) => namespacedName(metadata));
}
