import type { Observation } from "../../api/conditions/condition.ts";
import { setCondition } from "../../api/conditions/engine.ts";
import { nodePoolConditions } from "../../api/conditions/node-pool.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { LoopWorld } from "../../kube/loop.ts";
import type { LookAgain } from "../../kube/reconciler.ts";
import { custom } from "../../kube/resources.ts";
import { writeStatus } from "../status.ts";

type PoolCondition = (typeof nodePoolConditions)["dependents" | "independents"][number];

/** Other fields of a pool's status. */
type Facts = Partial<Pick<NonNullable<NodePool["status"]>, "nodeClassObservedGeneration">>;

/** What a write came to: nothing to do, or done, and when to look again. */
export interface PoolWrite {
  readonly isChanged: boolean;
  readonly again: LookAgain | undefined;
}

/** Notes a finding about a pool, and what goes with it, unless it says so already. */
export async function note(
  pool: NodePool,
  world: LoopWorld,
  { type, finding, more = {} }: { type: PoolCondition; finding: Observation; more?: Facts },
): Promise<PoolWrite> {
  const nowMs = world.clock.now();
  const conditions = setCondition(pool, { set: nodePoolConditions, type, nowMs, ...finding });
  if (conditions === pool.status?.conditions && says(pool, more)) return { isChanged: false, again: undefined };
  const status = { conditions, ...more };
  return { isChanged: true, again: await writeStatus(world, custom.NodePool, { object: pool, status }) };
}

function says({ status }: NodePool, facts: Facts): boolean {
  return (
    status?.nodeClassObservedGeneration === (facts.nodeClassObservedGeneration ?? status?.nodeClassObservedGeneration)
  );
}
