import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { isStaticPool, type StaticPool } from "../../core/round/static-pools.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import type { ObjectChange } from "../../kube/view.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { poolForClaim } from "../node-claim/claim-lookups.ts";
import { managedPool } from "../node-pool/managed-pools.ts";

/** The pool of this name, if it is static, managed by us and not being deleted. */
export function managedStaticPool(name: string, context: KarpenterContext): StaticPool | undefined {
  const pool = managedPool(name, context);
  return pool !== undefined && isStaticPool(pool) && pool.metadata.deletionTimestamp === undefined ? pool : undefined;
}

/** The pool is new, or its replicas changed. */
export function hasNewReplicas({ object, old }: ObjectChange<NodePool>): boolean {
  return object !== undefined && (old === undefined || object.spec.replicas !== old.spec.replicas);
}

/** The same, or the pool became Ready. */
export function mayNeedNodes(change: ObjectChange<NodePool>): boolean {
  const isReady = (pool: NodePool | undefined): boolean => pool !== undefined && isStatusConditionTrue(pool, "Ready");
  return hasNewReplicas(change) || (isReady(change.object) && !isReady(change.old));
}

/** Keys for a trigger: the static pool of a claim. */
export function staticPoolNameOfClaim(
  { object, old }: ObjectChange<NodeClaim>,
  context: ControllerContext,
): readonly string[] {
  const claim = object ?? old;
  const pool = claim && poolForClaim(claim, context);
  return pool !== undefined && isStaticPool(pool) ? [pool.metadata.name ?? ""] : [];
}
