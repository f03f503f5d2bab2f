import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { DisruptionCommand } from "../../core/disruption/command.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { nodePoolView } from "../node-pool/managed-pools.ts";
import { createClaims } from "../provisioning/create-claims.ts";
import { createStaticClaim } from "../static/create-static-claim.ts";
import { reasonLabel } from "./reason-label.ts";

/** Creates the claims of a command's replacements; throws if one cannot be created. (03:D-72) */
export async function createReplacements(
  { method, replacements, reason }: DisruptionCommand,
  context: KarpenterContext,
): Promise<readonly NodeClaim[]> {
  const pools = new Map(
    nodePoolView(context)
      .all()
      .map((pool) => [pool.metadata.name ?? "", pool]),
  );
  const label = reasonLabel(reason);
  if (method === "static-drift") {
    return Promise.all(
      replacements.map(({ pool }) =>
        createStaticReplacement({ name: pool, pool: pools.get(pool), reason: label }, context),
      ),
    );
  }
  const options = { pools, reason: label, recordsPodEvents: false, budget: context.openBudget() };
  const { claims, errors } = await createClaims(replacements, options, context);
  if (errors.length > 0) throw new AggregateError(errors, errors.map(({ message }) => message).join("; "));
  return claims.filter((one) => one !== undefined);
}

/** The node was reserved when the command started; without a claim that ends here. (03:D-30) */
async function createStaticReplacement(
  { name, pool, reason }: { readonly name: string; readonly pool: NodePool | undefined; readonly reason: string },
  context: KarpenterContext,
): Promise<NodeClaim> {
  if (pool?.spec.replicas !== undefined) return createStaticClaim(pool, { reason }, context);
  context.cluster.nodePoolState.releaseNodeCount(name, 1);
  throw new Error(`nodepool ${name} is gone, or is no longer static`);
}
