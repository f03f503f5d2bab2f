import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { annotations, resources } from "../../api/labels.ts";
import { staticNodeClaimOf } from "../../core/round/node-claims.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { Quantity } from "../../util/quantity.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { logReference } from "../provisioning/log-text.ts";

/** Its reservation ends whatever happens: a claim that exists is counted itself. (03:SP-2) */
export async function createStaticClaim(
  pool: NodePool,
  { reason }: { readonly reason: string },
  { client, random, cloud, cluster, log, metrics }: KarpenterContext,
): Promise<NodeClaim> {
  const { name: nodepool = "" } = pool.metadata;
  const { labelPolicy: policy, defaultTerminationGracePeriod: defaultGracePeriod } = cloud;
  try {
    const wanted = staticNodeClaimOf(pool, { policy, random, defaultGracePeriod });
    const claim = await client.create<NodeClaim>(karpenterTypes.NodeClaim, wanted);
    log.info("created nodeclaim", { NodeClaim: logReference(claim.metadata) });
    const relaxed = claim.metadata.annotations?.[annotations.minValuesRelaxed] ?? "false";
    metrics.count("nodeclaims_created_total", { reason, nodepool, min_values_relaxed: relaxed });
    return claim;
  } finally {
    cluster.nodePoolState.releaseNodeCount(nodepool, 1);
  }
}

/** Infinite without a limit. */
export function staticNodeLimit({ spec }: NodePool): number {
  const limit = spec.limits?.[resources.nodes];
  const quantity = limit === undefined ? undefined : Quantity.tryParse(limit);
  return quantity === undefined ? Number.POSITIVE_INFINITY : Math.ceil(quantity.toNumber());
}
