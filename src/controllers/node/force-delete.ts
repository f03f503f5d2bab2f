import type { Pod } from "../../api/kubernetes/pod.ts";

export interface DrainDeadline {
  readonly nowMs: number;
  readonly deadlineMs: number | undefined;
}

/**
 * Whether a pod must be deleted now to have its grace period before the node's deadline, whatever budgets and
 * do-not-disrupt say. A pod that is terminating, but would outlive the deadline, is deleted again with a shorter grace
 * period. (03:T-50)
 */
export function isForceDeleteDue(pod: Pod, { nowMs, deadlineMs }: DrainDeadline): boolean {
  if (deadlineMs === undefined) return false;
  const { deletionTimestamp } = pod.metadata;
  if (deletionTimestamp === undefined) return nowMs > forceDeleteAfterMs(pod, deadlineMs);
  // Deleting it again would end it by then: if it ends sooner anyway, there is nothing to do.
  const soonestMs = nowMs + forceDeleteGraceSeconds({ nowMs, deadlineMs }) * 1_000;
  return Date.parse(deletionTimestamp) > Math.max(deadlineMs, soonestMs);
}

/** The moment after which less time is left than the grace period of the pod; never, if it has none. */
export function forceDeleteAfterMs({ spec }: Pod, deadlineMs: number | undefined): number {
  const graceSeconds = spec.terminationGracePeriodSeconds;
  return deadlineMs === undefined || graceSeconds === undefined ? Infinity : deadlineMs - graceSeconds * 1_000;
}

/** Never zero: that would let a replacement start while the pod may still run. (03:T-51) */
export function forceDeleteGraceSeconds({
  nowMs,
  deadlineMs,
}: {
  readonly nowMs: number;
  readonly deadlineMs: number;
}): number {
  return Math.max(1, Math.floor((deadlineMs - nowMs) / 1_000));
}
