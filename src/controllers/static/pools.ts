import { isTrue } from "../../api/conditions/engine.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { LoopWorld } from "../../kube/loop.ts";
import { custom } from "../../kube/resources.ts";
import type { Change } from "../../kube/view.ts";
import { poolNameOf } from "../node-claim/lookups.ts";
import { managedPool } from "../node-pool/pools.ts";
import type { Parts } from "../parts.ts";

/** A pool that keeps a number of nodes, whatever the pods need. (02:Z-1) */
export type StaticPool = NodePool & { readonly spec: { readonly replicas: number } };

/** The pool of this name, if it is static, ours and stays. */
export function staticPool(name: string, world: LoopWorld, { cloud }: Parts): StaticPool | undefined {
  const pool = managedPool(name, world, cloud);
  return pool !== undefined && isStatic(pool) && pool.metadata.deletionTimestamp === undefined ? pool : undefined;
}

function isStatic(pool: NodePool): pool is StaticPool {
  return pool.spec.replicas !== undefined;
}

/** It is new, or wants another number of nodes. */
export function hasNewReplicas({ object, old }: Change<NodePool>): boolean {
  return object !== undefined && (old === undefined || object.spec.replicas !== old.spec.replicas);
}

/** The same, or it has become one that nodes can be made from. */
export function mayNeedNodes(change: Change<NodePool>): boolean {
  const { object, old } = change;
  if (hasNewReplicas(change)) return true;
  return object !== undefined && old !== undefined && isTrue(object, "Ready") && !isTrue(old, "Ready");
}

/** Keys of a trigger: the static pool of a claim. */
export function staticPoolOf({ object, old }: Change<NodeClaim>, world: LoopWorld): readonly string[] {
  const claim = object ?? old;
  const name = claim && poolNameOf(claim);
  const pool = name === undefined ? undefined : world.view<NodePool>(custom.NodePool).get(name);
  return pool !== undefined && isStatic(pool) ? [name ?? ""] : [];
}
