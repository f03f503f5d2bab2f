import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { annotations, resources } from "../../api/labels.ts";
import { staticNodeClaimOf } from "../../core/round/node-claims.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import { Quantity } from "../../util/quantity.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { logReference } from "../provisioning/log-text.ts";
import { managedStaticPool, mayNeedNodes, type StaticPool, staticPoolNameOfClaim } from "./static-pools.ts";

const recheckMs = 60_000;
const limitRecheckMs = 30_000;
const unsyncedMs = 1_000;

/** Makes the nodes a static pool lacks. (02:Z-2, 03:SP-3) */
export function staticProvisioningController(dependencies: ControllerDependencies): Controller {
  return reconcileController({
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
    reconcile: async (name, context) => {
      const pool = managedStaticPool(name, context, dependencies);
      if (pool === undefined || !isStatusConditionTrue(pool, "Ready")) return undefined;
      // Of half a cluster we would make the other half again.
      if (!dependencies.cluster.hasSynced && !dependencies.cluster.isSynced) return { afterMs: unsyncedMs };
      return createMissing(pool, context, dependencies);
    },
  });
}

async function createMissing(
  pool: StaticPool,
  context: ControllerContext,
  dependencies: ControllerDependencies,
): Promise<RequeueAfter> {
  const { nodePoolState } = dependencies.cluster;
  const { name = "" } = pool.metadata;
  const log = dependencies.log.with({ NodePool: logReference(pool.metadata) });
  const { active, pendingDisruption } = nodePoolState.counts(name);
  const desired = pool.spec.replicas;
  // What is about to be replaced has its replacement coming.
  if (active + pendingDisruption >= desired) return { afterMs: recheckMs };
  const granted = nodePoolState.reserveNodeCount(name, { limit: nodeLimit(pool), wanted: desired - active });
  if (granted === 0) {
    log.info("nodepool node limit reached");
    return { afterMs: limitRecheckMs };
  }
  log.info("provisioning nodeclaims to satisfy replica count", {
    current: active,
    desired,
    "provision-count": granted,
  });
  const creations = await Promise.allSettled(
    Array.from({ length: granted }, () => createStaticClaim(pool, context, dependencies)),
  );
  const errors = creations.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, `creating node claims of ${name}`);
  return { afterMs: recheckMs };
}

/** The place that was kept for it is free again whatever comes of it: a claim that exists is counted itself. (03:SP-2) */
async function createStaticClaim(
  pool: StaticPool,
  { client, random }: ControllerContext,
  dependencies: ControllerDependencies,
): Promise<void> {
  const { cloud, cluster, log, metrics } = dependencies;
  const { name: nodepool = "" } = pool.metadata;
  const { labelPolicy: policy, defaultTerminationGracePeriod: defaultGracePeriod } = cloud;
  try {
    const wanted = staticNodeClaimOf(pool, { policy, random, defaultGracePeriod });
    const claim = await client.create<NodeClaim>(karpenterTypes.NodeClaim, wanted);
    log.info("created nodeclaim", { NodePool: logReference(pool.metadata), NodeClaim: logReference(claim.metadata) });
    const relaxed = claim.metadata.annotations?.[annotations.minValuesRelaxed] ?? "false";
    metrics.count("nodeclaims_created_total", { reason: "provisioned", nodepool, min_values_relaxed: relaxed });
  } finally {
    cluster.nodePoolState.releaseNodeCount(nodepool, 1);
  }
}

/** Without one, as many as it takes. */
function nodeLimit({ spec }: StaticPool): number {
  const limit = spec.limits?.[resources.nodes];
  const quantity = limit === undefined ? undefined : Quantity.tryParse(limit);
  return quantity === undefined ? Number.POSITIVE_INFINITY : Math.ceil(quantity.toNumber());
}

/**
 * It began to go, or is gone. One that never got a machine wakes nobody: where nothing can be bought, its successor would
 * meet the same end at once, and so on without a pause. The look every minute makes up for it.
 */
function hasStartedDeleting({ object, old }: ObjectChange<NodeClaim>): boolean {
  if (!(object ?? old)?.status?.providerID) return false;
  if (object === undefined) return true;
  return object.metadata.deletionTimestamp !== undefined && old?.metadata.deletionTimestamp === undefined;
}
