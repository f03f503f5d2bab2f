import type { Conditioned } from "../../api/conditions/condition.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { type GroupKind, isManagedPool } from "../../api/validation/node-pool.ts";

/** Why a pool launches no nodes for pending pods. (02:P-33) */
const unusablePoolReasons = ["foreign-class", "static", "deleting", "not-ready"] as const;
export type UnusablePoolReason = (typeof unusablePoolReasons)[number];

interface UnusablePool {
  readonly pool: NodePool;
  readonly because: UnusablePoolReason;
}

export interface PoolSelection {
  readonly usable: readonly NodePool[];
  readonly unusable: readonly UnusablePool[];
}

/** Pools that can launch nodes for pods, and why others cannot. (02:P-33) */
export function selectUsablePools(pools: readonly NodePool[], served: readonly GroupKind[]): PoolSelection {
  const reviewed = pools.map((pool) => ({ pool, because: unusableReasonOf(pool, served) }));
  return {
    usable: reviewed.filter(({ because }) => because === undefined).map(({ pool }) => pool),
    unusable: reviewed.filter((one): one is UnusablePool => one.because !== undefined),
  };
}

function unusableReasonOf(pool: NodePool, served: readonly GroupKind[]): UnusablePoolReason | undefined {
  if (!isManagedPool(pool, served)) return "foreign-class";
  if (pool.spec.replicas !== undefined) return "static";
  if (pool.metadata.deletionTimestamp !== undefined) return "deleting";
  return isStatusConditionTrue(pool as Conditioned, "Ready") ? undefined : "not-ready";
}
