import type { KubeObject } from "../api/object.ts";
import type { ResourceType } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { LoopWorld } from "../kube/loop.ts";
import type { LookAgain } from "../kube/reconciler.ts";
import { overtakenMs, patch } from "./writes.ts";

/**
 * Changes the status of an object as we saw it. Conditions are a list and lists are replaced whole, so that whoever
 * wrote in between wins, and we look again without making a noise. (03:S-10)
 */
export async function writeStatus(
  { client }: Pick<LoopWorld, "client">,
  type: ResourceType,
  { object, status }: { readonly object: KubeObject; readonly status: object },
): Promise<LookAgain | undefined> {
  try {
    await patch(client, type, object, { body: { status }, subresource: "status", isLocked: true });
  } catch (error) {
    if (isKubeError(error, "conflict")) return { afterMs: overtakenMs };
    if (!isKubeError(error, "not-found")) throw error; // gone: nobody reads its status any more
  }
  return undefined;
}
