import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { deletionCost } from "../../core/disruption-cost.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { Logger } from "../../util/logger.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { nodeClaimView } from "../node-claim/claim-lookups.ts";
import { logReference } from "../provisioning/log-text.ts";
import { deleteExisting } from "../writes.ts";
import { claimsToDeprovision, type DeprovisioningCandidate } from "./claims-to-deprovision.ts";
import { hasNewReplicas, managedStaticPool, type StaticPool, staticPoolNameOfClaim } from "./static-pools.ts";

const recheckMs = 60_000;
const unsyncedMs = 1_000;

/** Removes the nodes a static pool has too many of, whatever budgets say. (02:Z-3, 03:SP-4) */
export function staticDeprovisioningController(dependencies: ControllerDependencies): Controller {
  return reconcileController({
    name: "static.deprovisioning",
    concurrency: 10,
    triggers: [
      triggerOn<NodePool>(karpenterTypes.NodePool, (change) =>
        hasNewReplicas(change) ? [change.object?.metadata.name ?? ""] : [],
      ),
      triggerOn<NodeClaim>(karpenterTypes.NodeClaim, (change, context) =>
        change.old ? [] : staticPoolNameOfClaim(change, context),
      ),
    ],
    reconcile: async (name, context) => {
      const pool = managedStaticPool(name, context, dependencies);
      if (pool === undefined) return undefined;
      // No need for a synced state: it may know too few nodes, never too many, and learns of pods together with them.
      const surplus = dependencies.cluster.nodePoolState.counts(name).active - pool.spec.replicas;
      if (surplus > 0) return deleteSurplus(pool, context, { dependencies, surplus });
      return { afterMs: dependencies.cluster.hasSynced ? recheckMs : unsyncedMs };
    },
  });
}

async function deleteSurplus(
  pool: StaticPool,
  context: ControllerContext,
  { dependencies, surplus }: { readonly dependencies: ControllerDependencies; readonly surplus: number },
): Promise<RequeueAfter> {
  const { name = "" } = pool.metadata;
  const { active } = dependencies.cluster.nodePoolState.counts(name);
  const log = dependencies.log.with({ NodePool: logReference(pool.metadata) });
  log.info("deprovisioning nodeclaims to satisfy replica count", {
    current: active,
    desired: pool.spec.replicas,
    "deprovision-count": surplus,
  });
  const candidates = candidatesOf(name, context, dependencies);
  for (const pod of candidates.flatMap(({ pods = [] }) => pods)) warnInvalidDeletionCost(pod, log);
  const chosen = claimsToDeprovision(candidates, { count: surplus, nowMs: context.clock.now() });
  const deletions = await Promise.allSettled(chosen.map((claim) => deleteClaim(claim, context, log)));
  const errors = deletions.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, `deleting node claims of ${name}`);
  return { afterMs: recheckMs };
}

/** A deletion cost nobody can read counts for nothing, and somebody should know. (03:D-5) */
function warnInvalidDeletionCost(pod: Pod, log: Logger): void {
  const cost = deletionCost(pod);
  if (cost.kind !== "invalid") return;
  log.error("failed parsing pod deletion cost", { Pod: logReference(pod.metadata), value: cost.value });
}

/** Those that count as active: what is being replaced or on its way out is somebody else's business. */
function candidatesOf(
  pool: string,
  context: ControllerContext,
  { cluster }: ControllerDependencies,
): readonly DeprovisioningCandidate[] {
  return cluster.nodePoolState.activeNames(pool).flatMap((name): readonly DeprovisioningCandidate[] => {
    const claim = nodeClaimView(context).get(name);
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return [];
    if (!claim.status?.providerID) return [{ claim, pods: undefined }];
    const node = cluster.nodeByClaimName(name);
    return node === undefined || node.isBeingDeleted ? [] : [{ claim, pods: node.pods }];
  });
}

/** The view shows the deletion at once, and state counts the claim as deleting with it. */
async function deleteClaim(claim: NodeClaim, { client }: ControllerContext, log: Logger): Promise<void> {
  await deleteExisting(client, karpenterTypes.NodeClaim, claim);
  log.debug("deleting nodeclaim", { NodeClaim: logReference(claim.metadata) });
}
