import type { ConditionObservation } from "../../api/conditions/condition.ts";
import { nodePoolConditions } from "../../api/conditions/node-pool.ts";
import {
  afterRegistration,
  afterRegistrationFailure,
  isOwnedByPool,
} from "../../api/conditions/registration-window.ts";
import { getCondition, setCondition, withConditions } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { ignoreKubeErrors } from "../../kube/kube-error.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { mergePatchObject, objectKeyFromMeta } from "../writes.ts";
import { poolForClaim } from "./claim-lookups.ts";

const conditionType = "NodeRegistrationHealthy";
/** Pools have several writers; more conflicts in a row than this are an error. */
const maxAttempts = 5;

/** Records whether a claim of the pool registered, and updates the pool's condition if that changes it. (03:P-21, P-22) */
export async function recordRegistrationOutcome(
  claim: NodeClaim,
  { isRegistered }: { readonly isRegistered: boolean },
  context: KarpenterContext,
): Promise<void> {
  const { registrationHealth } = context;
  const pool = poolForClaim(claim, context);
  if (pool === undefined || !isOwnedByPool(pool, claim)) return; // the pool is gone, or was recreated under the same name
  const { uid = "" } = pool.metadata;
  const window = registrationHealth.window(uid);
  const { finding } = isRegistered ? afterRegistration(window) : afterRegistrationFailure(window, claim);
  registrationHealth.record(uid, { isRegistered }); // at once: other claims report while we write
  if (finding !== undefined) await writeHealth(pool, finding, context);
}

async function writeHealth(seen: NodePool, finding: ConditionObservation, context: KarpenterContext): Promise<void> {
  let pool: NodePool | undefined = seen;
  for (let attempt = 1; pool !== undefined; attempt++) {
    const before: NodePool = pool;
    const after = withHealthCondition(before, finding, context.clock.now());
    if (after === before) return;
    const body = { status: { conditions: after.status?.conditions } };
    const patch = { body, subresource: "status", hasOptimisticLock: true } as const;
    const writing = mergePatchObject(context.client, karpenterTypes.NodePool, before, patch);
    const written = attempt < maxAttempts ? await ignoreKubeErrors(writing, "conflict", "not-found") : await writing;
    if (written !== undefined) return;
    pool = await ignoreKubeErrors(
      context.client.get<NodePool>(karpenterTypes.NodePool, objectKeyFromMeta(before.metadata)),
      "not-found",
    );
  }
}

/** A pool that is already unhealthy keeps its reason. */
function withHealthCondition(pool: NodePool, finding: ConditionObservation, nowMs: number): NodePool {
  if (finding.status === "False" && getCondition(pool, conditionType)?.status === "False") return pool;
  return withConditions(pool, setCondition(pool, { set: nodePoolConditions, type: conditionType, nowMs, ...finding }));
}
