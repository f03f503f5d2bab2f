import { getCondition } from "../../api/conditions/set-condition.ts";
import { hashAnnotationKeys, hashUpdatesFor, nodePoolHashVersion } from "../../api/hash/hash-drift.ts";
import { nodePoolHash } from "../../api/hash/node-pool-hash.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { ResourceType } from "../../kube/client.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { claimsOfPool, indexClaimsAndNodes, isManagedClaim } from "../node-claim/claim-lookups.ts";
import { scaledConcurrency } from "../settings.ts";
import { ignoreKubeErrors, mergePatchObject } from "../writes.ts";
import { changedPoolName, managedPool } from "./managed-pools.ts";

/** Stamps pools with the hash of their template, by which claims of an older one are told. (03:P-2) */
export function poolHashController({ cloud, settings }: ControllerDependencies): Controller {
  return reconcileController({
    name: "nodepool.hash",
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, settings),
    triggers: [triggerOn<NodePool>(karpenterTypes.NodePool, changedPoolName)],
    kinds: [karpenterTypes.NodeClaim],
    prepare: indexClaimsAndNodes,
    reconcile: async (name, context) => {
      const pool = managedPool(name, context, cloud);
      if (pool === undefined) return undefined;
      const claims = claimsOfPool(name, context).filter((claim) => isManagedClaim(claim, cloud));
      const stamps = hashUpdatesFor(hashAnnotationKeys.nodePool, {
        hash: nodePoolHash(pool.spec.template),
        version: nodePoolHashVersion,
        owner: pool.metadata.annotations,
        claims: claims.map(claimStampOf),
      });
      // Claims first: the pool's own version says that all of them are done.
      await Promise.all(stamps.claims.map((claim) => annotate(context, karpenterTypes.NodeClaim, claim)));
      if (stamps.owner) await annotate(context, karpenterTypes.NodePool, { name, annotations: stamps.owner });
      return undefined;
    },
  });
}

function claimStampOf(claim: NodeClaim) {
  const { name = "", annotations } = claim.metadata;
  return { name, annotations, isDrifted: getCondition(claim, "Drifted") !== undefined };
}

async function annotate(
  { client }: ControllerContext,
  type: ResourceType,
  { name, annotations }: { readonly name: string; readonly annotations: object },
): Promise<void> {
  const body = { metadata: { annotations } };
  await ignoreKubeErrors(mergePatchObject(client, type, { metadata: { name } }, { body }), "not-found");
}
