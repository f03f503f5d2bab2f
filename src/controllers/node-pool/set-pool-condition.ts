import type { ConditionObservation } from "../../api/conditions/condition.ts";
import { nodePoolConditions } from "../../api/conditions/node-pool.ts";
import { setCondition } from "../../api/conditions/set-condition.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import type { ReconcileResult } from "../../kube/reconciler.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { patchLockedStatus } from "../patch-locked-status.ts";

type PoolCondition = (typeof nodePoolConditions)["dependents" | "independents"][number];

/** Other fields of a pool's status. */
type ExtraStatusFields = Partial<Pick<NonNullable<NodePool["status"]>, "nodeClassObservedGeneration">>;

/** Whether the status changed, and when to reconcile again. */
export interface PoolConditionWrite {
  readonly isChanged: boolean;
  readonly requeue: ReconcileResult;
}

/** Sets a condition of the pool, and other status fields with it, unless its status is like that already. */
export async function setPoolCondition(
  pool: NodePool,
  { type, finding, more = {} }: { type: PoolCondition; finding: ConditionObservation; more?: ExtraStatusFields },
  context: ControllerContext,
): Promise<PoolConditionWrite> {
  const nowMs = context.clock.now();
  const conditions = setCondition(pool, { set: nodePoolConditions, type, nowMs, ...finding });
  if (conditions === pool.status?.conditions && hasStatusFields(pool, more))
    return { isChanged: false, requeue: undefined };
  const patch = { object: pool, status: { conditions, ...more } };
  return { isChanged: true, requeue: await patchLockedStatus(context, karpenterTypes.NodePool, patch) };
}

function hasStatusFields({ status }: NodePool, { nodeClassObservedGeneration: wanted }: ExtraStatusFields): boolean {
  return wanted === undefined || status?.nodeClassObservedGeneration === wanted;
}
