import type { Conditioned } from "../../api/conditions/condition.ts";
import { isTrue } from "../../api/conditions/engine.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { type GroupKind, isManagedPool } from "../../api/validation/node-pool.ts";

/** Why a pool makes no nodes for pending pods. (02:P-33) */
export const poolPasses = ["foreign-class", "static", "deleting", "not-ready"] as const;
export type PoolPass = (typeof poolPasses)[number];

export interface PassedOverPool {
  readonly pool: NodePool;
  readonly because: PoolPass;
}

export interface SortedPools {
  readonly usable: readonly NodePool[];
  readonly passedOver: readonly PassedOverPool[];
}

/** Pools that can make nodes for pods, and why others cannot. (02:P-33) */
export function usablePools(pools: readonly NodePool[], served: readonly GroupKind[]): SortedPools {
  const judged = pools.map((pool) => ({ pool, because: passOf(pool, served) }));
  return {
    usable: judged.filter(({ because }) => because === undefined).map(({ pool }) => pool),
    passedOver: judged.filter((one): one is PassedOverPool => one.because !== undefined),
  };
}

function passOf(pool: NodePool, served: readonly GroupKind[]): PoolPass | undefined {
  if (!isManagedPool(pool, served)) return "foreign-class";
  if (pool.spec.replicas !== undefined) return "static";
  if (pool.metadata.deletionTimestamp !== undefined) return "deleting";
  return isTrue(pool as Conditioned, "Ready") ? undefined : "not-ready";
}
