import type { CapacityBuffer } from "../../api/kinds/capacity-buffer.ts";
import { type KubeObject, namespacedName } from "../../api/object.ts";
import type { ResourceType } from "../../kube/client.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import { hasGenerationChanged } from "../generation-changed.ts";
import { scalableTypeOf } from "./resolve-buffer.ts";

/**
 * Enqueues buffers when the workload they scale with appears, changes or goes. Workloads are many and large, so a kind
 * is watched only once a buffer refers to it; what its first list contains is a change like any other. (02:B-2)
 */
export function watchBufferWorkloads(enqueue: (key: string) => void, context: ControllerContext): () => void {
  const stops = new Map<string, () => void>();
  const watchKind = (type: ResourceType): (() => void) =>
    context.view<KubeObject>(type).subscribe((change) => {
      for (const key of buffersOfWorkload(change, type, context)) enqueue(key);
    });
  const stopBuffers = context.view<CapacityBuffer>(karpenterTypes.CapacityBuffer).subscribe(({ object }) => {
    const type = object && scalableTypeOf(object);
    if (type !== undefined && !stops.has(type.kind)) stops.set(type.kind, watchKind(type));
  });
  return () => {
    stopBuffers();
    for (const stop of stops.values()) stop();
  };
}

function buffersOfWorkload(
  change: ObjectChange<KubeObject>,
  type: ResourceType,
  context: ControllerContext,
): readonly string[] {
  if (!hasGenerationChanged(change)) return [];
  const { name, namespace = "" } = (change.object ?? change.old).metadata;
  return context
    .view<CapacityBuffer>(karpenterTypes.CapacityBuffer)
    .inNamespace(namespace)
    .filter((buffer) => scalableTypeOf(buffer) === type && buffer.spec.scalableRef?.name === name)
    .map(({ metadata }) => namespacedName(metadata));
}
