import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { View } from "../../kube/view.ts";
import type { NodeKubeObject } from "../node-claim/claim-lookups.ts";

export type PodKubeObject = Pod & KubeObject;

const nodeIndex = "node";

export function podView(context: ControllerContext): View<PodKubeObject> {
  return context.view<PodKubeObject>(builtInTypes.Pod);
}

/** For `start` of a controller that looks up the pods of a node. */
export function indexPodsByNode(context: ControllerContext): void {
  podView(context).addIndex(nodeIndex, ({ spec }) => spec.nodeName || undefined);
}

export function podsOfNode(node: NodeKubeObject, context: ControllerContext): readonly PodKubeObject[] {
  return podView(context).byIndex(nodeIndex, node.metadata.name ?? "");
}
