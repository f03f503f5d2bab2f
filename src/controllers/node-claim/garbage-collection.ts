import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Controller } from "../../kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import { forEachConcurrent, throwIfAny } from "../../util/concurrent.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { contextOfClaim, type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { allNodesForClaim, indexClaimsAndNodes, isManagedClaim, isNodeReady, nodeClaimView } from "./claim-lookups.ts";
import { disruptClaim } from "./disrupt-claim.ts";

const periodMs = 2 * 60_000;
const maxDeletions = 20;

/** Deletes claims whose instance no longer exists. (03:G-1) */
export function nodeClaimGarbageCollectionController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "nodeclaim.garbagecollection",
    triggers: [],
    initialKeys: ["all"],
    kinds: [karpenterTypes.NodeClaim, builtInTypes.Node],
    reads: [karpenterTypes.NodeClaim, builtInTypes.Node, "cloud", "cluster state"].map((of) => ({
      of,
      withinMs: periodMs,
      because: "it looks at everything",
    })),
    start: indexClaimsAndNodes,
    reconcile: async (_, context) => {
      const abandoned = await claimsWithoutInstance(context);
      const errors = await forEachConcurrent(abandoned, {
        limit: maxDeletions,
        run: (claim) => deleteAbandonedClaim(claim, contextOfClaim(claim, context)),
      });
      throwIfAny(errors, "deleting node claims without an instance");
      return { afterMs: periodMs };
    },
  });
}

/**
 * Claims are read before the cloud is listed, so an instance launched in between is in neither list. A failed list
 * proves nothing and ends the run. Unregistered claims are left to liveness. (03:G-1)
 */
async function claimsWithoutInstance(context: KarpenterContext): Promise<readonly NodeClaim[]> {
  const { cloud } = context;
  const claims = nodeClaimView(context)
    .all()
    .filter((claim) => isManagedClaim(claim, cloud) && isStatusConditionTrue(claim, "Registered"))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const instances = await cloud.list();
  const existingIds = new Set(instances.filter((one) => !one.isTerminating).map(({ providerId }) => providerId));
  // A ready kubelet proves that the instance exists, whatever the cloud says. (03:G-2)
  return claims
    .filter(({ status }) => !existingIds.has(status?.providerID ?? ""))
    .filter((claim) => !allNodesForClaim(claim, context).some(isNodeReady));
}

async function deleteAbandonedClaim(claim: NodeClaim, context: KarpenterContext): Promise<void> {
  const pods = context.cluster.nodeByClaimName(claim.metadata.name ?? "")?.pods;
  const isDeleted = await disruptClaim(claim, { reason: "garbage_collected", pods }, context);
  if (isDeleted) context.log.debug("garbage collecting nodeclaim with no cloudprovider representation");
}
