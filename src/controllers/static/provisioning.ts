import { isTrue } from "../../api/conditions/engine.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { annotations, resources } from "../../api/labels.ts";
import { staticClaimOf } from "../../core/scenario/node-claims.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import type { LookAgain } from "../../kube/reconciler.ts";
import { custom } from "../../kube/resources.ts";
import type { Change } from "../../kube/view.ts";
import { Quantity } from "../../util/quantity.ts";
import type { Parts } from "../parts.ts";
import { referred } from "../provisioning/words.ts";
import { mayNeedNodes, type StaticPool, staticPool, staticPoolOf } from "./pools.ts";

const recheckMs = 60_000;
const limitRecheckMs = 30_000;
const unsyncedMs = 1_000;

/** Makes the nodes a static pool lacks. (02:Z-2, 03:SP-3) */
export function staticProvisioning(parts: Parts): Loop {
  return reconcileLoop({
    name: "static.provisioning",
    concurrency: 10,
    triggers: [
      on<NodePool>(custom.NodePool, (change) => (mayNeedNodes(change) ? [change.object?.metadata.name ?? ""] : [])),
      on<NodeClaim>(custom.NodeClaim, (change, world) => (isLeaving(change) ? staticPoolOf(change, world) : [])),
    ],
    reconcile: async (name, world) => {
      const pool = staticPool(name, world, parts);
      if (pool === undefined || !isTrue(pool, "Ready")) return undefined;
      // Of half a cluster we would make the other half again.
      if (!parts.cluster.hasSynced && !parts.cluster.isSynced) return { afterMs: unsyncedMs };
      return fill(pool, world, parts);
    },
  });
}

async function fill(pool: StaticPool, world: LoopWorld, parts: Parts): Promise<LookAgain> {
  const { poolNodes } = parts.cluster;
  const { name = "" } = pool.metadata;
  const log = parts.log.with({ NodePool: referred(pool.metadata) });
  const { active, pendingDisruption } = poolNodes.counts(name);
  const desired = pool.spec.replicas;
  // What is about to be replaced has its replacement coming.
  if (active + pendingDisruption >= desired) return { afterMs: recheckMs };
  const granted = poolNodes.reserve(name, { limit: nodeLimit(pool), wanted: desired - active });
  if (granted === 0) {
    log.info("nodepool node limit reached");
    return { afterMs: limitRecheckMs };
  }
  log.info("provisioning nodeclaims to satisfy replica count", {
    current: active,
    desired,
    "provision-count": granted,
  });
  const made = await Promise.allSettled(Array.from({ length: granted }, () => make(pool, world, parts)));
  const errors = made.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, `creating node claims of ${name}`);
  return { afterMs: recheckMs };
}

/** The place that was kept for it is free again whatever comes of it: a claim that exists is counted itself. (03:SP-2) */
async function make(pool: StaticPool, { client, random }: LoopWorld, parts: Parts): Promise<void> {
  const { cloud, cluster, log, metrics } = parts;
  const { name: nodepool = "" } = pool.metadata;
  const { labelPolicy: policy, defaultTerminationGracePeriod: defaultGracePeriod } = cloud;
  try {
    const wanted = staticClaimOf(pool, { policy, random, defaultGracePeriod });
    const claim = await client.create<NodeClaim>(custom.NodeClaim, wanted);
    log.info("created nodeclaim", { NodePool: referred(pool.metadata), NodeClaim: referred(claim.metadata) });
    const relaxed = claim.metadata.annotations?.[annotations.minValuesRelaxed] ?? "false";
    metrics.count("nodeclaims_created_total", { reason: "provisioned", nodepool, min_values_relaxed: relaxed });
  } finally {
    cluster.poolNodes.release(nodepool, 1);
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
function isLeaving({ object, old }: Change<NodeClaim>): boolean {
  if (!(object ?? old)?.status?.providerID) return false;
  if (object === undefined) return true;
  return object.metadata.deletionTimestamp !== undefined && old?.metadata.deletionTimestamp === undefined;
}
