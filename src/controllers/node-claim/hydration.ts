import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { nodeClassLabelKey } from "../../api/node-class-ref.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { scaledConcurrency } from "../settings.ts";
import { mergePatchObject, requeueOnConflict } from "../writes.ts";
import { isManagedClaim, nodeClaimView } from "./claim-lookups.ts";
import { ownName } from "./triggers.ts";

/** Adds the node class label to claims created by older versions. (03:H-1) */
export function nodeClaimHydrationController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "nodeclaim.hydration",
    triggers: [triggerOn<NodeClaim>(karpenterTypes.NodeClaim, ownName)],
    concurrency: scaledConcurrency({ min: 1_000, max: 5_000 }, dependencies.settings),
    backOff: { baseMs: 100, maxMs: 60_000 },
    reconcile: requeueOnConflict(async (name: string, context: KarpenterContext) => {
      const claim = nodeClaimView(context).get(name);
      if (claim === undefined || !isManagedClaim(claim, context.cloud)) return undefined;
      const { nodeClassRef } = claim.spec;
      const key = nodeClassLabelKey(nodeClassRef);
      if (claim.metadata.labels?.[key] === nodeClassRef.name) return undefined;
      const body = { metadata: { labels: { [key]: nodeClassRef.name } } };
      await mergePatchObject(context.client, karpenterTypes.NodeClaim, claim, { body });
      return undefined;
    }),
  });
}
