import type { Observation } from "../../api/conditions/condition.ts";
import { get, setCondition, withConditions } from "../../api/conditions/engine.ts";
import { nodePoolConditions } from "../../api/conditions/node-pool.ts";
import { afterFailure, afterRegistration, countsFor } from "../../api/conditions/registration-window.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { LoopWorld } from "../../kube/loop.ts";
import { custom } from "../../kube/resources.ts";
import type { Parts } from "../parts.ts";
import { keyOf, patch, unless } from "../writes.ts";
import { poolOf } from "./lookups.ts";

const type = "NodeRegistrationHealthy";
/** Pools have several writers; more than this in a row is no coincidence. */
const attempts = 5;

export interface Outcome {
  readonly isRegistered: boolean;
  readonly world: LoopWorld;
  readonly parts: Pick<Parts, "health">;
}

/** Remembers how a claim of the pool fared, and says so on the pool when that changes the picture. (03:P-21, P-22) */
export async function recordOutcome(claim: NodeClaim, { isRegistered, world, parts }: Outcome): Promise<void> {
  const pool = poolOf(claim, world);
  if (pool === undefined || !countsFor(pool, claim)) return; // its pool is gone, or another one of that name
  const { uid = "" } = pool.metadata;
  const window = parts.health.window(uid);
  const { finding } = isRegistered ? afterRegistration(window) : afterFailure(window, claim);
  parts.health.record(uid, { isRegistered }); // at once: other claims report while we write
  if (finding !== undefined) await say(pool, finding, world);
}

async function say(seen: NodePool, finding: Observation, world: LoopWorld): Promise<void> {
  let pool: NodePool | undefined = seen;
  for (let attempt = 1; pool !== undefined; attempt++) {
    const before: NodePool = pool;
    const after = withFinding(before, finding, world.clock.now());
    if (after === before) return;
    const body = { status: { conditions: after.status?.conditions } };
    const writing = patch(world.client, custom.NodePool, before, { body, subresource: "status", isLocked: true });
    const written = attempt < attempts ? await unless(writing, "conflict", "not-found") : await writing;
    if (written !== undefined) return;
    pool = await unless(world.client.get<NodePool>(custom.NodePool, keyOf(before.metadata)), "not-found");
  }
}

/** A pool that is unhealthy already keeps the reason it has. */
function withFinding(pool: NodePool, finding: Observation, nowMs: number): NodePool {
  if (finding.status === "False" && get(pool, type)?.status === "False") return pool;
  return withConditions(pool, setCondition(pool, { set: nodePoolConditions, type, nowMs, ...finding }));
}
