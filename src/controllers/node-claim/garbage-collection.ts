import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { type Controller, type ControllerContext, reconcileController } from "../../kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { allNodesForClaim, indexClaimsAndNodes, isManagedClaim, isNodeReady, nodeClaimView } from "./claim-lookups.ts";
import { claimReconcileContext } from "./claim-reconcile-context.ts";
import { disruptClaim } from "./disrupt-claim.ts";

const controller = "nodeclaim.garbagecollection";
const periodMs = 2 * 60_000;
const batchSize = 20;

/** Ends claims whose machine is gone without anybody saying so. (03:G-1) */
export function nodeClaimGarbageCollectionController(dependencies: ControllerDependencies): Controller {
  return reconcileController({
    name: controller,
    triggers: [],
    initialKeys: ["all"],
    kinds: [karpenterTypes.NodeClaim, builtInTypes.Node],
    prepare: indexClaimsAndNodes,
    reconcile: async (_, context: ControllerContext) => {
      const abandoned = await claimsWithoutInstance(context, dependencies);
      for (let at = 0; at < abandoned.length; at += batchSize) {
        await Promise.all(
          abandoned.slice(at, at + batchSize).map((claim) => deleteAbandonedClaim(claim, context, dependencies)),
        );
      }
      return { afterMs: periodMs };
    },
  });
}

/**
 * Claims first, then the cloud: a machine bought in between is in neither list. An answer that failed says nothing, so
 * it ends the look. Claims that never registered are given up on by liveness. (03:G-1)
 */
async function claimsWithoutInstance(
  context: ControllerContext,
  { cloud }: ControllerDependencies,
): Promise<readonly NodeClaim[]> {
  const claims = nodeClaimView(context)
    .all()
    .filter((claim) => isManagedClaim(claim, cloud) && isStatusConditionTrue(claim, "Registered"))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const instances = await cloud.list();
  const existingIds = new Set(instances.filter((one) => !one.isTerminating).map(({ providerId }) => providerId));
  // A kubelet that reports lives on a machine, whatever the cloud says. (03:G-2)
  return claims
    .filter(({ status }) => !existingIds.has(status?.providerID ?? ""))
    .filter((claim) => !allNodesForClaim(claim, context).some(isNodeReady));
}

async function deleteAbandonedClaim(
  claim: NodeClaim,
  context: ControllerContext,
  dependencies: ControllerDependencies,
): Promise<void> {
  const pods = dependencies.cluster.nodeByClaimName(claim.metadata.name ?? "")?.pods;
  const isDone = await disruptClaim(claim, { reason: "garbage_collected", context, dependencies, pods });
  if (!isDone) return;
  const { log } = claimReconcileContext(claim, { controller, context, dependencies });
  log.debug("garbage collecting nodeclaim with no cloudprovider representation");
}
