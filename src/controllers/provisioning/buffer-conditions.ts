import { capacityBufferConditions } from "../../api/conditions/capacity-buffer.ts";
import type { Conditioned } from "../../api/conditions/condition.ts";
import { setCondition } from "../../api/conditions/set-condition.ts";
import type { CapacityBuffer } from "../../api/kinds/capacity-buffer.ts";
import { type KubeObject, namespacedName } from "../../api/object.ts";
import type { ClusterSnapshot } from "../../core/round/cluster-snapshot.ts";
import type { Decision } from "../../core/scheduling/decision.ts";
import { ignoreKubeErrors } from "../../kube/kube-error.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { mergePatchObject } from "../writes.ts";
import { type BufferOutcome, bufferOutcomes, bufferPodCounts, provisioningCondition } from "./buffer-outcome.ts";
import { logReference } from "./log-text.ts";

type BufferObject = KubeObject & CapacityBuffer;

/** Sets each buffer's Provisioning condition, and tells cluster state which nodes hold buffer pods. (02:B-7, B-8) */
export async function updateBufferConditions(
  decision: Decision,
  snapshot: ClusterSnapshot,
  context: KarpenterContext,
): Promise<void> {
  const outcomes = bufferOutcomes(decision);
  context.cluster.setBufferPodCounts(bufferPodCounts(decision, snapshot));
  for (const buffer of context.view<BufferObject>(karpenterTypes.CapacityBuffer).all()) {
    await updateBufferCondition(buffer, outcomes.get(namespacedName(buffer.metadata)), context);
  }
}

/** The next round writes it again: a failure delays no node. */
async function updateBufferCondition(
  buffer: BufferObject,
  outcome: BufferOutcome | undefined,
  context: KarpenterContext,
): Promise<void> {
  const conditions = conditionsAfter(buffer, outcome, context.clock.now());
  if (conditions === buffer.status?.conditions) return;
  // The next round counts the nodes of this one as existing, so it is the one that finds the buffer provisioned.
  if (outcome !== undefined && outcome.onNew > 0) context.trigger.fire(buffer.metadata.uid ?? "");
  try {
    const patch = { body: { status: { conditions } }, subresource: "status", hasOptimisticLock: true } as const;
    const writing = mergePatchObject(context.client, karpenterTypes.CapacityBuffer, buffer, patch);
    await ignoreKubeErrors(writing, "conflict", "not-found");
  } catch (error) {
    const about = { CapacityBuffer: logReference(buffer.metadata), error };
    context.log.error("updating CapacityBuffer provisioning status", about);
  }
}

function conditionsAfter(buffer: BufferObject, outcome: BufferOutcome | undefined, nowMs: number) {
  const finding = provisioningCondition(buffer, outcome);
  if (finding === undefined) return buffer.status?.conditions;
  const observed = { type: "Provisioning", nowMs, ...finding } as const;
  return setCondition(buffer as Conditioned, { set: capacityBufferConditions, ...observed });
}
