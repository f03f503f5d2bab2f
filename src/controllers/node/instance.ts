import { isCloudError } from "../../cloud/error.ts";
import { withTrue } from "../node-claim/claim-conditions.ts";
import type { NodeScene, NodeStep } from "./node-scene.ts";

const pollMs = 5_000;

/**
 * Ends the machine and waits until it is gone: until then volumes may still be attached, and a pod of a StatefulSet may
 * still run. Without a claim there is nothing to ask with; leaked machines are collected. (03 §2.5)
 */
export async function endInstance({ claim, parts, world }: NodeScene): Promise<NodeStep> {
  if (claim === undefined) return {};
  const isGone = await parts.cloud.delete(claim).then(
    () => false,
    (error: unknown) => {
      if (isCloudError(error, "not-found")) return true;
      throw error;
    },
  );
  const ending = withTrue(claim, "InstanceTerminating", world.clock.now());
  return isGone ? { claim: ending } : { claim: ending, afterMs: pollMs };
}
