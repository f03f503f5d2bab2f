import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { neverDuration, parseNillableDurationMs } from "../../util/duration.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { requeueOnConflict } from "../writes.ts";
import { isManagedClaim, nodeClaimView } from "./claim-lookups.ts";
import { claimReconcileContext } from "./claim-reconcile-context.ts";
import { disruptClaim } from "./disrupt-claim.ts";
import { ownName } from "./triggers.ts";

const controller = "nodeclaim.expiration";

/** Ends claims that have reached their age, whatever runs on them: no budget is asked. (03 §1.11) */
export function expirationController(dependencies: ControllerDependencies): Controller {
  return reconcileController({
    name: controller,
    triggers: [triggerOn<NodeClaim>(karpenterTypes.NodeClaim, ownName)],
    reconcile: requeueOnConflict(async (name: string, context: ControllerContext) => {
      const claim = nodeClaimView(context).get(name);
      if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined;
      const expiresAt = isManagedClaim(claim, dependencies.cloud) ? expiresAtOf(claim) : undefined;
      if (expiresAt === undefined) return undefined;
      const leftMs = expiresAt - context.clock.now();
      if (leftMs > 0) return { afterMs: leftMs };
      await expireClaim(claim, context, dependencies);
      return undefined;
    }),
  });
}

/** Upstream sleeps a second after it, lest it delete and count twice; our views show the deletion at once. (03:E-4) */
async function expireClaim(
  claim: NodeClaim,
  context: ControllerContext,
  dependencies: ControllerDependencies,
): Promise<void> {
  const pods = dependencies.cluster.nodeByClaimName(claim.metadata.name ?? "")?.pods;
  const isDone = await disruptClaim(claim, { reason: "expired", context, dependencies, pods });
  if (isDone)
    claimReconcileContext(claim, { controller, context, dependencies }).log.debug("deleting expired nodeclaim");
}

/** By the age of the claim, not that of its Node. (03:E-1) */
function expiresAtOf({ metadata, spec }: NodeClaim): number | undefined {
  const lifeMs = parseNillableDurationMs(spec.expireAfter) ?? neverDuration;
  return lifeMs === neverDuration ? undefined : Date.parse(metadata.creationTimestamp ?? "") + lifeMs;
}
