import type { KarpenterContext } from "../karpenter-context.ts";
import { withClaimConditionTrue } from "../node-claim/claim-conditions.ts";
import { deleteInstance } from "../node-claim/delete-instance.ts";
import type { TerminatingNode, TerminationStepResult } from "./termination-step.ts";

export const terminationPollMs = 5_000;

/**
 * Terminates the instance and waits until it is gone: until then volumes may still be attached, and a pod of a
 * StatefulSet may still run. Without a claim nothing is terminated; leaked instances are garbage collected. (03 §2.5)
 */
export async function terminateInstance(
  { claim }: TerminatingNode,
  context: KarpenterContext,
): Promise<TerminationStepResult> {
  if (claim === undefined) return {};
  const isGone = await deleteInstance(claim, context);
  const terminating = withClaimConditionTrue(claim, "InstanceTerminating", context.clock.now());
  return isGone ? { claim: terminating } : { claim: terminating, afterMs: terminationPollMs };
}
