import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { View } from "../../kube/view.ts";
import type { Logger } from "../../util/logger.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { indexClaimsAndNodes, type NodeKubeObject } from "../node-claim/claim-lookups.ts";
import type { EvictionQueue } from "./eviction-queue.ts";

export type PodKubeObject = Pod & KubeObject;

/** What the steps of a Node's end have to work with. */
export interface NodeTerminationContext {
  readonly node: NodeKubeObject;
  /** Its claim, where there is exactly one. */
  readonly claim?: NodeClaim | undefined;
  /** When everything must be over, whatever holds it. */
  readonly deadlineMs?: number | undefined;
  readonly context: ControllerContext;
  readonly dependencies: ControllerDependencies;
  readonly queue: EvictionQueue;
  readonly log: Logger;
}

/** What one step of a Node's end came to; without `afterMs` the next one may be taken. */
export interface TerminationStepResult {
  readonly claim?: NodeClaim | undefined;
  readonly afterMs?: number | undefined;
}

const nodeIndex = "node";

export function podView(context: ControllerContext): View<PodKubeObject> {
  return context.view<PodKubeObject>(builtInTypes.Pod);
}

/** For `prepare` of a loop that looks up what is on a node. */
export function indexPodsByNode(context: ControllerContext): void {
  indexClaimsAndNodes(context);
  podView(context).addIndex(nodeIndex, ({ spec }) => spec.nodeName || undefined);
}

export function podsOfNode(node: NodeKubeObject, context: ControllerContext): readonly PodKubeObject[] {
  return podView(context).byIndex(nodeIndex, node.metadata.name ?? "");
}
