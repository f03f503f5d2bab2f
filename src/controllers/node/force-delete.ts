import type { Pod } from "../../api/kubernetes/pod.ts";

export interface DrainDeadline {
  readonly nowMs: number;
  readonly deadlineMs: number | undefined;
}

/**
 * Whether a pod must be deleted now to have its grace before the node's deadline: budgets and protection no longer
 * count. One that is going already, but would outlive the deadline, is asked once more with less grace. (03:T-50)
 */
export function isForceDeleteDue(pod: Pod, { nowMs, deadlineMs }: DrainDeadline): boolean {
  if (deadlineMs === undefined) return false;
  const { deletionTimestamp } = pod.metadata;
  if (deletionTimestamp === undefined) return nowMs > forceDeleteAfterMs(pod, deadlineMs);
  // Asked again it would be gone by then: one that goes sooner, deadline or not, has nothing to be told.
  const soonestMs = nowMs + forceDeleteGraceSeconds({ nowMs, deadlineMs }) * 1_000;
  return Date.parse(deletionTimestamp) > Math.max(deadlineMs, soonestMs);
}

/** The moment after which a pod has less time than its grace; never, for one without a word on it. */
export function forceDeleteAfterMs({ spec }: Pod, deadlineMs: number | undefined): number {
  const graceSeconds = spec.terminationGracePeriodSeconds;
  return deadlineMs === undefined || graceSeconds === undefined ? Infinity : deadlineMs - graceSeconds * 1_000;
}

/** Never zero: that would let a successor start while the pod may still run. (03:T-51) */
export function forceDeleteGraceSeconds({
  nowMs,
  deadlineMs,
}: {
  readonly nowMs: number;
  readonly deadlineMs: number;
}): number {
  return Math.max(1, Math.floor((deadlineMs - nowMs) / 1_000));
}
