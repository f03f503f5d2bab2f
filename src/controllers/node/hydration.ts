import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { nodeClassLabelKey } from "../../api/node-class-ref.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import {
  allNodesForClaim,
  claimForNode,
  indexClaimsAndNodes,
  isManagedClaim,
  type NodeKubeObject,
  nodeView,
} from "../node-claim/claim-lookups.ts";
import { ownName } from "../node-claim/triggers.ts";
import { scaledConcurrency } from "../settings.ts";
import { mergePatchObject, requeueOnConflict } from "../writes.ts";

/** Adds the node class label to Nodes created by older versions. (03:H-1) */
export function nodeHydrationController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "node.hydration",
    triggers: [
      triggerOn<NodeKubeObject>(builtInTypes.Node, ownName),
      triggerOn<NodeClaim>(karpenterTypes.NodeClaim, ({ object }, context) =>
        object === undefined ? [] : allNodesForClaim(object, context).map(({ metadata }) => metadata.name ?? ""),
      ),
    ],
    concurrency: scaledConcurrency({ min: 1_000, max: 5_000 }, dependencies.settings),
    backOff: { baseMs: 100, maxMs: 60_000 },
    start: indexClaimsAndNodes,
    reconcile: requeueOnConflict(async (name: string, context: KarpenterContext) => {
      const node = nodeView(context).get(name);
      const claim = node && claimForNode(node, context);
      if (node === undefined || claim === undefined || !isManagedClaim(claim, context.cloud)) return undefined;
      const { nodeClassRef } = claim.spec;
      const key = nodeClassLabelKey(nodeClassRef);
      if (node.metadata.labels?.[key] === nodeClassRef.name) return undefined;
      const body = { metadata: { labels: { [key]: nodeClassRef.name } } };
      await mergePatchObject(context.client, builtInTypes.Node, node, { body });
      return undefined;
    }),
  });
}
