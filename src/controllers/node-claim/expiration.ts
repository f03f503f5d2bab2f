import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { neverDuration, parseNillableDurationMs } from "../../util/duration.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { contextOfClaim, type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { requeueOnConflict } from "../writes.ts";
import { isManagedClaim, nodeClaimView } from "./claim-lookups.ts";
import { disruptClaim } from "./disrupt-claim.ts";
import { ownName } from "./triggers.ts";

/** Deletes claims that have reached expireAfter; budgets do not apply. (03 §1.11) */
export function expirationController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "nodeclaim.expiration",
    triggers: [triggerOn<NodeClaim>(karpenterTypes.NodeClaim, ownName)],
    reads: [{ of: "cluster state", because: "the pods of the node are counted in a metric" }],
    reconcile: requeueOnConflict(async (name: string, context: KarpenterContext) => {
      const claim = nodeClaimView(context).get(name);
      if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined;
      const expiresAt = isManagedClaim(claim, context.cloud) ? expiresAtOf(claim) : undefined;
      if (expiresAt === undefined) return undefined;
      const leftMs = expiresAt - context.clock.now();
      if (leftMs > 0) return { afterMs: leftMs };
      await expireClaim(claim, contextOfClaim(claim, context));
      return undefined;
    }),
  });
}

/** Upstream sleeps a second here so as not to delete and count twice; our views show the deletion at once. (03:E-4) */
async function expireClaim(claim: NodeClaim, context: KarpenterContext): Promise<void> {
  const pods = context.cluster.nodeByClaimName(claim.metadata.name ?? "")?.pods;
  const isDeleted = await disruptClaim(claim, { reason: "expired", pods }, context);
  if (isDeleted) context.log.debug("deleting expired nodeclaim");
}

/** Goes by the age of the claim, not that of its Node. (03:E-1) */
function expiresAtOf({ metadata, spec }: NodeClaim): number | undefined {
  const lifeMs = parseNillableDurationMs(spec.expireAfter) ?? neverDuration;
  return lifeMs === neverDuration ? undefined : Date.parse(metadata.creationTimestamp ?? "") + lifeMs;
}
