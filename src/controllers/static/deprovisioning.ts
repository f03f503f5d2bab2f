import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { deletionCost } from "../../core/disruption/costs.ts";
import type { StaticPool } from "../../core/round/static-pools.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { forEachConcurrent, throwIfAny } from "../../util/concurrent.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, karpenterController, withLogValues } from "../karpenter-context.ts";
import { nodeClaimView } from "../node-claim/claim-lookups.ts";
import { maxClaimsInFlight } from "../provisioning/create-claims.ts";
import { logReference } from "../provisioning/log-text.ts";
import { deleteExisting } from "../writes.ts";
import { claimsToDeprovision, type DeprovisioningCandidate } from "./claims-to-deprovision.ts";
import { hasNewReplicas, managedStaticPool, staticPoolNameOfClaim } from "./static-pools.ts";

const recheckMs = 60_000;
const unsyncedMs = 1_000;

/** Deletes the surplus claims of a static pool; budgets do not apply. (02:Z-3, 03:SP-4) */
export function staticDeprovisioningController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
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
    reads: [{ of: "cluster state", withinMs: recheckMs, because: "replacements and limits show only there" }],
    reconcile: async (name, context) => {
      const pool = managedStaticPool(name, context);
      if (pool === undefined) return undefined;
      // The state need not be synced: it may have too few nodes, never too many, and their pods come with them.
      const { cluster } = context;
      const surplus = cluster.nodePoolState.counts(name).active - pool.spec.replicas;
      if (surplus <= 0) return { afterMs: cluster.hasSynced ? recheckMs : unsyncedMs };
      return deleteSurplus(pool, surplus, withLogValues(context, { NodePool: logReference(pool.metadata) }));
    },
  });
}

async function deleteSurplus(pool: StaticPool, surplus: number, context: KarpenterContext): Promise<RequeueAfter> {
  const { name = "" } = pool.metadata;
  const { active } = context.cluster.nodePoolState.counts(name);
  context.log.info("deprovisioning nodeclaims to satisfy replica count", {
    current: active,
    desired: pool.spec.replicas,
    "deprovision-count": surplus,
  });
  const candidates = candidatesOf(name, context);
  for (const pod of candidates.flatMap(({ pods = [] }) => pods)) warnInvalidDeletionCost(pod, context);
  const chosen = claimsToDeprovision(candidates, { count: surplus, nowMs: context.clock.now() });
  const errors = await forEachConcurrent(chosen, {
    limit: maxClaimsInFlight,
    run: (claim) => deleteClaim(claim, context),
  });
  throwIfAny(errors, `deleting node claims of ${name}`);
  return { afterMs: recheckMs };
}

/** An invalid deletion cost counts as zero, and is reported. (03:D-5) */
function warnInvalidDeletionCost(pod: Pod, { log }: KarpenterContext): void {
  const cost = deletionCost(pod);
  if (cost.kind !== "invalid") return;
  log.error("failed parsing pod deletion cost", { Pod: logReference(pod.metadata), value: cost.value });
}

/** Active claims only: those that are being replaced or deleted do not count. */
function candidatesOf(pool: string, context: KarpenterContext): readonly DeprovisioningCandidate[] {
  const { cluster } = context;
  return cluster.nodePoolState.activeNames(pool).flatMap((name): readonly DeprovisioningCandidate[] => {
    const claim = nodeClaimView(context).get(name);
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return [];
    if (!claim.status?.providerID) return [{ claim, pods: undefined }];
    const node = cluster.nodeByClaimName(name);
    return node === undefined || node.isBeingDeleted ? [] : [{ claim, pods: node.pods }];
  });
}

/** The view shows the deletion at once, and cluster state counts the claim as deleting with it. */
async function deleteClaim(claim: NodeClaim, { client, log }: KarpenterContext): Promise<void> {
  await deleteExisting(client, karpenterTypes.NodeClaim, claim);
  log.debug("deleting nodeclaim", { NodeClaim: logReference(claim.metadata) });
}
