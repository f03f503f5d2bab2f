import { provisioningReasons } from "../../api/conditions/capacity-buffer.ts";
import type { Conditioned, ConditionObservation } from "../../api/conditions/condition.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { CapacityBuffer } from "../../api/kinds/capacity-buffer.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { annotations } from "../../api/labels.ts";
import type { ClusterSnapshot } from "../../core/round/cluster-snapshot.ts";
import type { Decision } from "../../core/scheduling/decision.ts";
import { isBufferPod } from "../../core/virtual-pods.ts";

/** Where a round placed the virtual pods of a buffer. */
export interface BufferOutcome {
  readonly onExisting: number;
  readonly onNew: number;
  readonly failed: number;
}

/** By namespace/name of the buffer; only buffers with pods in the round. (02:B-7) */
export type BufferOutcomes = ReadonlyMap<string, BufferOutcome>;

export function bufferOutcomes({ placements, newNodes, refusals }: Decision): BufferOutcomes {
  const outcomes = new Map<string, BufferOutcome>();
  const count = (pods: readonly Pod[], where: keyof BufferOutcome): void => {
    for (const pod of pods) {
      const buffer = bufferKeyOf(pod);
      if (buffer === undefined) continue;
      const sofar = outcomes.get(buffer) ?? { onExisting: 0, onNew: 0, failed: 0 };
      outcomes.set(buffer, { ...sofar, [where]: sofar[where] + 1 });
    }
  };
  for (const { pods } of placements) count(pods, "onExisting");
  for (const { pods } of newNodes) count(pods, "onNew");
  count(
    refusals.map(({ pod }) => pod),
    "failed",
  );
  return outcomes;
}

/** A buffer's `Provisioning` condition; undefined leaves it unchanged. (02:B-7) */
export function provisioningCondition(
  buffer: CapacityBuffer,
  outcome: BufferOutcome | undefined,
): ConditionObservation | undefined {
  const replicas = buffer.status?.replicas ?? 0;
  if (!isStatusConditionTrue(buffer as Conditioned, "ReadyForProvisioning")) {
    return falseCondition("notReadyForProvisioning", "Buffer is not ReadyForProvisioning");
  }
  if (replicas === 0) return falseCondition("bufferEmpty", "Buffer has zero desired replicas");
  if (outcome === undefined) return undefined;
  const { onExisting, onNew, failed } = outcome;
  if (onNew > 0 || failed > 0) {
    return falseCondition(
      "requiresNewCapacity",
      `${onNew}/${replicas} virtual pods required new capacity, ${failed} failed`,
    );
  }
  if (onExisting !== replicas) return undefined;
  const message = `All ${replicas} virtual pods fit on existing capacity`;
  return { status: "True", reason: provisioningReasons.fitsExistingCapacity, message };
}

/** How many virtual pods were placed on each existing node, by provider id. (02:B-8) */
export function bufferPodCounts({ placements }: Decision, { nodes }: ClusterSnapshot): ReadonlyMap<string, number> {
  const ids = new Map(nodes.map(({ existing, providerId }) => [existing.name, providerId]));
  const counts = new Map<string, number>();
  for (const { node, pods } of placements) {
    const providerId = ids.get(node);
    const count = pods.filter(isBufferPod).length;
    if (providerId !== undefined && count > 0) counts.set(providerId, count);
  }
  return counts;
}

function bufferKeyOf(pod: Pod): string | undefined {
  if (!isBufferPod(pod)) return undefined;
  const { [annotations.bufferNamespace]: namespace, [annotations.bufferName]: name } = pod.metadata.annotations ?? {};
  return `${namespace}/${name}`;
}

function falseCondition(reason: keyof typeof provisioningReasons, message: string): ConditionObservation {
  return { status: "False", reason: provisioningReasons[reason], message };
}
