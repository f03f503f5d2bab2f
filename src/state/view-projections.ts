import type { KubeObject } from "../api/object.ts";
import type { ResourceType } from "../kube/client.ts";
import { builtInTypes, karpenterTypes } from "../kube/resources.ts";
import type { Projections } from "../kube/view.ts";
import { NodeProjection } from "./node-projection.ts";
import { PodProjection } from "./pod-projection.ts";

/**
 * What views keep of objects, to save memory. Whoever needs a whole object fetches it; a projected object must never be
 * written back whole. (docs/designs/speed.md)
 */
export function viewProjections(): Projections {
  const [pods, nodes] = [new PodProjection(), new NodeProjection()];
  const others: readonly ResourceType[] = [...Object.values(builtInTypes), ...Object.values(karpenterTypes)];
  return new Map<ResourceType, (object: KubeObject) => KubeObject>([
    ...others.map((type) => [type, withoutManagedFields] as const),
    [builtInTypes.Pod, (pod) => pods.project(pod)],
    [builtInTypes.Node, (node) => nodes.project(node)],
  ]);
}

function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields, ...metadata } = object.metadata as KubeObject["metadata"] & {
    readonly managedFields?: unknown;
  };
  return managedFields === undefined ? object : { ...object, metadata };
}
