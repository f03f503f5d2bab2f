import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { annotations } from "../../api/labels.ts";
import type { InvolvedObject } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { mergePatchObject } from "../writes.ts";

/** When all pods of the claim's node must be gone, as its annotation has it. */
export function terminationTimestampOf({ metadata }: NodeClaim): string | undefined {
  return metadata.annotations?.[annotations.terminationTimestamp];
}

/** With a lock it is refused if the claim was changed meanwhile. */
export async function annotateTerminationTimestamp(
  claim: NodeClaim,
  { atMs, hasOptimisticLock }: { readonly atMs: number; readonly hasOptimisticLock: boolean },
  { client, log }: KarpenterContext,
): Promise<NodeClaim> {
  const added = { [annotations.terminationTimestamp]: rfc3339(atMs) };
  const body = { metadata: { annotations: added } };
  const annotated = await mergePatchObject<NodeClaim>(client, karpenterTypes.NodeClaim, claim, {
    body,
    hasOptimisticLock,
  });
  log.info("annotated nodeclaim", added);
  return annotated;
}

/** Records on a claim or its Node when its pods will be deleted. */
export function recordTerminationTimestamp(
  object: InvolvedObject,
  timestamp: string,
  { recordEvent }: KarpenterContext,
): void {
  recordEvent(object, {
    type: "Warning",
    reason: "TerminationGracePeriodExpiring",
    message: `All pods will be deleted by ${timestamp}`,
    dedupe: { values: [object.metadata.uid ?? ""] },
  });
}
