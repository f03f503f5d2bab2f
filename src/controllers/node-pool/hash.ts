import { getCondition } from "../../api/conditions/set-condition.ts";
import { hashAnnotationKeys, hashUpdatesFor, nodePoolHashVersion } from "../../api/hash/hash-drift.ts";
import { nodePoolHash } from "../../api/hash/node-pool-hash.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { ResourceType } from "../../kube/client.ts";
import { type Controller, type ControllerContext, triggerOn } from "../../kube/controller.ts";
import { ignoreKubeErrors } from "../../kube/kube-error.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { forEachConcurrent, throwIfAny } from "../../util/concurrent.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { karpenterController } from "../karpenter-context.ts";
import { claimsOfPool, indexClaimsAndNodes, isManagedClaim } from "../node-claim/claim-lookups.ts";
import { ownName } from "../node-claim/triggers.ts";
import { maxClaimsInFlight } from "../provisioning/create-claims.ts";
import { scaledConcurrency } from "../settings.ts";
import { mergePatchObject } from "../writes.ts";
import { managedPool } from "./managed-pools.ts";

/** Annotates pools with the hash of their template, by which claims of an older template are recognized. (03:P-2) */
export function poolHashController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "nodepool.hash",
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, dependencies.settings),
    triggers: [triggerOn<NodePool>(karpenterTypes.NodePool, ownName)],
    kinds: [karpenterTypes.NodeClaim],
    reads: [{ of: karpenterTypes.NodeClaim, because: "claims are updated once, when the hash version changes" }],
    start: indexClaimsAndNodes,
    reconcile: async (name, context) => {
      const pool = managedPool(name, context);
      if (pool === undefined) return undefined;
      const claims = claimsOfPool(name, context).filter((claim) => isManagedClaim(claim, context.cloud));
      const updates = hashUpdatesFor(hashAnnotationKeys.nodePool, {
        hash: nodePoolHash(pool.spec.template),
        version: nodePoolHashVersion,
        owner: pool.metadata.annotations,
        claims: claims.map(claimHashOf),
      });
      // Claims first: the pool's own hash version says that all of its claims are up to date.
      const errors = await forEachConcurrent(updates.claims, {
        limit: maxClaimsInFlight,
        run: (claim) => annotate(context, karpenterTypes.NodeClaim, claim),
      });
      throwIfAny(errors, `annotating node claims of ${name}`);
      if (updates.owner) await annotate(context, karpenterTypes.NodePool, { name, annotations: updates.owner });
      return undefined;
    },
  });
}

function claimHashOf(claim: NodeClaim) {
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
