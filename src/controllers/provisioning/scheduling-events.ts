import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { EmptyPool } from "../../core/scheduling/decision.ts";
import type { ControllerContext, InvolvedObject } from "../../kube/controller.ts";

type EventContent = Parameters<ControllerContext["recordEvent"]>[1];

const failedSchedulingMs = 5 * 60_000;
const nominatedMs = 2 * 60_000;
const noCompatibleTypesMs = 60_000;

/** The pod cannot be scheduled, and why. (02:L-20) */
export function failedSchedulingEvent({ metadata }: Pod, because: string): EventContent {
  return {
    type: "Warning",
    reason: "FailedScheduling",
    message: `Failed to schedule pod, ${because}`,
    dedupe: { values: [metadata.uid ?? ""], durationMs: failedSchedulingMs },
  };
}

/** The claim or Node a pod is nominated to. */
export interface NominationTarget {
  readonly claim?: string | undefined;
  readonly node?: string | undefined;
}

/** Where the pod is expected to run. (02:L-21) */
export function nominatedEvent({ metadata }: Pod, { claim, node }: NominationTarget): EventContent {
  const targets = [
    ...(claim === undefined ? [] : [`nodeclaim/${claim}`]),
    ...(node === undefined ? [] : [`node/${node}`]),
  ];
  return {
    type: "Normal",
    reason: "Nominated",
    message: `Pod should schedule on: ${targets.join(", ")}`,
    dedupe: { values: [metadata.uid ?? ""], durationMs: nominatedMs },
  };
}

/** A pool's requirements match no available instance type. (02:L-22, T-6) */
export function noCompatibleInstanceTypesEvent(
  { metadata }: NodePool,
  { becauseOfMinValues }: EmptyPool,
): EventContent {
  const because = becauseOfMinValues ? " due to minValues incompatibility" : "";
  return {
    type: "Warning",
    reason: "NoCompatibleInstanceTypes",
    message: `NodePool requirements filtered out all compatible available instance types${because}`,
    dedupe: { values: [metadata.uid ?? ""], durationMs: noCompatibleTypesMs },
  };
}

/** Pods may lack apiVersion and kind. */
export function podEventSubject({ metadata }: Pod): InvolvedObject {
  return { apiVersion: "v1", kind: "Pod", metadata };
}
