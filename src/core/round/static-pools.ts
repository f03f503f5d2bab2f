import type { Conditioned } from "../../api/conditions/condition.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { resources } from "../../api/labels.ts";
import { type GroupKind, isManagedPool } from "../../api/validation/node-pool.ts";
import { Quantity } from "../../util/quantity.ts";

/** A pool with a fixed number of nodes, whatever the pods need. (02:Z-1) */
export type StaticPool = NodePool & { readonly spec: { readonly replicas: number } };

export function isStaticPool(pool: NodePool): pool is StaticPool {
  return pool.spec.replicas !== undefined;
}

/** The static pools that get their nodes now. (03:SP-3) */
export function readyStaticPools(pools: readonly NodePool[], served: readonly GroupKind[]): readonly StaticPool[] {
  return pools
    .filter(isStaticPool)
    .filter((pool) => isManagedPool(pool, served) && pool.metadata.deletionTimestamp === undefined)
    .filter((pool) => isStatusConditionTrue(pool as Conditioned, "Ready"));
}

/** How many nodes the pool's limits allow; infinite without a limit. (03:SP-2) */
export function staticNodeLimit({ spec }: NodePool): number {
  const limit = spec.limits?.[resources.nodes];
  const quantity = limit === undefined ? undefined : Quantity.tryParse(limit);
  return quantity === undefined ? Number.POSITIVE_INFINITY : Math.ceil(quantity.toNumber());
}
