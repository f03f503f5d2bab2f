import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { isCloudError } from "../../cloud/cloud-error.ts";
import type { KarpenterContext } from "../karpenter-context.ts";

/** Asks the cloud to terminate the claim's instance; true once it is gone. */
export async function deleteInstance(claim: NodeClaim, { cloud }: KarpenterContext): Promise<boolean> {
  try {
    await cloud.delete(claim);
    return cloud.deletesAtOnce ?? false;
  } catch (error) {
    if (isCloudError(error, "not-found")) return true;
    throw error;
  }
}
