import { getCondition } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { KubeObject } from "../../api/object.ts";
import type { DisruptionReason } from "../../api/vocabulary.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { withClaimCondition, withoutClaimCondition } from "../node-claim/claim-conditions.ts";
import { nodeClaimView } from "../node-claim/claim-lookups.ts";
import { mergePatchObject } from "../writes.ts";
import { retryOnConflict } from "./retry-on-conflict.ts";

const type = "DisruptionReason";

export function hasDisruptionReason(claim: NodeClaim): boolean {
  return getCondition(claim, type) !== undefined;
}

/** Says on the claim why it is being disrupted. (03:D-71) */
export function setDisruptionReason(name: string, reason: DisruptionReason, context: KarpenterContext): Promise<void> {
  const observation = { status: "True", reason, message: reason, nowMs: context.clock.now() } as const;
  return updateConditions(name, context, (claim) => withClaimCondition(claim, type, observation));
}

export function clearDisruptionReason(name: string, context: KarpenterContext): Promise<void> {
  return updateConditions(name, context, (claim) =>
    hasDisruptionReason(claim) ? withoutClaimCondition(claim, type) : claim,
  );
}

async function updateConditions(
  name: string,
  context: KarpenterContext,
  change: (claim: NodeClaim) => NodeClaim,
): Promise<void> {
  const { client } = context;
  await retryOnConflict(context, async (isFirst) => {
    const claim = isFirst
      ? nodeClaimView(context).get(name)
      : await client.get<KubeObject & NodeClaim>(karpenterTypes.NodeClaim, { name });
    if (claim === undefined) return;
    const after = change(claim);
    if (after === claim) return;
    const body = { status: { conditions: after.status?.conditions } };
    const patch = { body, subresource: "status", hasOptimisticLock: true } as const;
    await mergePatchObject(client, karpenterTypes.NodeClaim, claim, patch);
  });
}
