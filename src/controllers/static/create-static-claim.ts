import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { annotations } from "../../api/labels.ts";
import { staticNodeClaimOf } from "../../core/round/node-claims.ts";
import { karpenterTypes } from "../../kube/resources.ts";
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
