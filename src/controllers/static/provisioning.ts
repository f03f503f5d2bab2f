import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { labels } from "../../api/labels.ts";
import { type StaticPool, staticNodeLimit } from "../../core/round/static-pools.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import { forEachConcurrent, throwIfAny } from "../../util/concurrent.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, karpenterController, withLogValues } from "../karpenter-context.ts";
import { nodeClaimView } from "../node-claim/claim-lookups.ts";
import { maxClaimsInFlight } from "../provisioning/create-claims.ts";
import { logReference } from "../provisioning/log-text.ts";
import { createStaticClaim } from "./create-static-claim.ts";
import { type LaunchPace, nextLaunchPace } from "./launch-pace.ts";
import { managedStaticPool, mayNeedNodes, staticPoolNameOfClaim } from "./static-pools.ts";

const recheckMs = 60_000;
const limitRecheckMs = 30_000;
const unsyncedMs = 1_000;
const unlaunchedRecheckMs = 1_000;

/** Creates the claims a static pool lacks. (02:Z-2, 03:SP-3) */
export function staticProvisioningController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "static.provisioning",
    concurrency: 10,
    triggers: [
      triggerOn<NodePool>(karpenterTypes.NodePool, (change) =>
        mayNeedNodes(change) ? [change.object?.metadata.name ?? ""] : [],
      ),
      triggerOn<NodeClaim>(karpenterTypes.NodeClaim, (change, context) =>
        hasStartedDeleting(change) ? staticPoolNameOfClaim(change, context) : [],
      ),
    ],
    reads: [{ of: "cluster state", withinMs: recheckMs, because: "replacements and limits show only there" }],
    start: () => new Map<string, LaunchPace>(),
    reconcile: async (name, context, paces) => {
      const pool = managedStaticPool(name, context);
      if (pool === undefined) paces.delete(name);
      if (pool === undefined || !isStatusConditionTrue(pool, "Ready")) return undefined;
      // With an incomplete state we would create nodes that exist already.
      if (!context.cluster.hasSynced && !context.cluster.isSynced) return { afterMs: unsyncedMs };
      return createMissing(pool, paces, withLogValues(context, { NodePool: logReference(pool.metadata) }));
    },
  });
}

async function createMissing(
  pool: StaticPool,
  paces: Map<string, LaunchPace>,
  context: KarpenterContext,
): Promise<RequeueAfter> {
  const { log } = context;
  const { nodePoolState } = context.cluster;
  const { name = "" } = pool.metadata;
  const { active, pendingDisruption } = nodePoolState.counts(name);
  const desired = pool.spec.replicas;
  // Claims that are about to be disrupted get their replacements from the disruption controller.
  if (active + pendingDisruption >= desired) {
    paces.delete(name);
    return { afterMs: recheckMs };
  }
  const unlaunched = unlaunchedCount(name, context);
  const pace = nextLaunchPace(paces.get(name), { launched: active - unlaunched, unlaunched });
  paces.set(name, pace);
  const room = pace.window - unlaunched;
  if (room <= 0) return { afterMs: unlaunchedRecheckMs };
  const wanted = Math.min(desired - active, room);
  const granted = nodePoolState.reserveNodeCount(name, { limit: staticNodeLimit(pool), wanted });
  if (granted === 0) {
    log.info("nodepool node limit reached");
    return { afterMs: limitRecheckMs };
  }
  log.info("provisioning nodeclaims to satisfy replica count", {
    current: active,
    desired,
    "provision-count": granted,
  });
  paces.set(name, { ...pace, unlaunched: unlaunched + granted });
  const errors = await forEachConcurrent(Array.from({ length: granted }), {
    limit: maxClaimsInFlight,
    run: async () => {
      await createStaticClaim(pool, { reason: "provisioned" }, context);
    },
  });
  throwIfAny(errors, `creating node claims of ${name}`);
  const isWaitingForMore = granted < desired - active && !pace.isHeldUp;
  return { afterMs: isWaitingForMore ? unlaunchedRecheckMs : recheckMs };
}

function unlaunchedCount(pool: string, context: KarpenterContext): number {
  const claims = nodeClaimView(context);
  return context.cluster
    .unlaunchedClaims()
    .filter((name) => claims.get(name)?.metadata.labels?.[labels.nodePool] === pool).length;
}

/**
 * The claim is being deleted, or is gone. One that was never launched does not count: without capacity its successor
 * would fail at once as well, and so on without a pause. The reconcile every minute makes up for it.
 */
function hasStartedDeleting({ object, old }: ObjectChange<NodeClaim>): boolean {
  if (!(object ?? old)?.status?.providerID) return false;
  if (object === undefined) return true;
  return object.metadata.deletionTimestamp !== undefined && old?.metadata.deletionTimestamp === undefined;
}
