import { isCloudError } from "../../cloud/cloud-error.ts";
import { withClaimConditionTrue } from "../node-claim/claim-conditions.ts";
import type { NodeTerminationContext, TerminationStepResult } from "./node-termination-context.ts";

const pollMs = 5_000;

/**
 * Ends the machine and waits until it is gone: until then volumes may still be attached, and a pod of a StatefulSet may
 * still run. Without a claim there is nothing to ask with; leaked machines are collected. (03 §2.5)
 */
export async function terminateInstance({
  claim,
  dependencies,
  context,
}: NodeTerminationContext): Promise<TerminationStepResult> {
  if (claim === undefined) return {};
  const isGone = await dependencies.cloud.delete(claim).then(
    () => false,
    (error: unknown) => {
      if (isCloudError(error, "not-found")) return true;
      throw error;
    },
  );
  const ending = withClaimConditionTrue(claim, "InstanceTerminating", context.clock.now());
  return isGone ? { claim: ending } : { claim: ending, afterMs: pollMs };
}
