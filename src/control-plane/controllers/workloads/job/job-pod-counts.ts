import { isTerminatingPod } from "../../../../core/pod-predicates.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import type { Job, JobStatus } from "../types.ts";
import { jobTrackingFinalizer, workloadAnnotations } from "../workload-labels.ts";
import { formatIndexes, parseIndexes } from "./completed-indexes.ts";
import { matchPodFailurePolicy, type PodFailurePolicyMatch } from "./pod-failure-policy.ts";

/** The counts of a Job's finished pods. */
export interface JobPodCounts {
  /** Must be written before any pod in `podsToRelease` loses its finalizer: a crash in between must neither lose nor double-count a pod. */
  readonly status: JobStatus;
  /** Pods whose finalizer can be removed once the status is written. */
  readonly podsToRelease: readonly ApiPod[];
  readonly succeeded: number;
  readonly failed: number;
  readonly completedIndexes: ReadonlySet<number>;
  /** The failure policy rule that fails the Job, if one matched. */
  readonly failJobMatch: PodFailurePolicyMatch | undefined;
}

/**
 * Counts finished pods even after they are deleted. Two steps, each safe to repeat: the pod's uid is written to
 * `uncountedTerminatedPods`; then its finalizer is removed and the uid becomes part of the count.
 */
export function countJobPods(job: Job, pods: readonly ApiPod[]): JobPodCounts {
  const { status = {}, spec } = job;
  const isIndexed = spec.completionMode === "Indexed";
  const trackedUids = new Set(pods.filter(hasTrackingFinalizer).map(({ metadata }) => metadata.uid ?? ""));
  const before = {
    succeeded: status.uncountedTerminatedPods?.succeeded ?? [],
    failed: status.uncountedTerminatedPods?.failed ?? [],
  };
  const [waitingSucceeded, waitingFailed] = [
    before.succeeded.filter((uid) => trackedUids.has(uid)),
    before.failed.filter((uid) => trackedUids.has(uid)),
  ];
  const completedIndexes = new Set(isIndexed ? parseIndexes(status.completedIndexes, spec.completions ?? 0) : []);
  const [newSucceeded, newFailed, podsToRelease]: [string[], string[], ApiPod[]] = [[], [], []];
  let failJobMatch: PodFailurePolicyMatch | undefined;
  for (const pod of pods) {
    const { uid = "" } = pod.metadata;
    const outcome = podOutcome(job, pod);
    if (outcome === undefined) continue;
    const match = outcome === "failed" ? matchPodFailurePolicy(spec, pod) : undefined;
    if (match?.action === "FailJob") failJobMatch ??= match;
    if (!hasTrackingFinalizer(pod)) continue;
    podsToRelease.push(pod);
    if (before.succeeded.includes(uid) || before.failed.includes(uid) || match?.action === "Ignore") continue;
    if (outcome === "failed") newFailed.push(uid);
    else if (!isIndexed) newSucceeded.push(uid);
    else if (completionIndexOf(pod) !== undefined) completedIndexes.add(completionIndexOf(pod) ?? 0);
  }
  const counted = {
    succeeded: isIndexed
      ? completedIndexes.size
      : (status.succeeded ?? 0) + before.succeeded.length - waitingSucceeded.length,
    failed: (status.failed ?? 0) + before.failed.length - waitingFailed.length,
  };
  const uncounted = { succeeded: [...waitingSucceeded, ...newSucceeded], failed: [...waitingFailed, ...newFailed] };
  return {
    status: {
      ...status,
      succeeded: counted.succeeded || undefined,
      failed: counted.failed || undefined,
      ...(isIndexed && { completedIndexes: formatIndexes(completedIndexes) || undefined }),
      uncountedTerminatedPods: {
        ...(uncounted.succeeded.length > 0 && { succeeded: uncounted.succeeded }),
        ...(uncounted.failed.length > 0 && { failed: uncounted.failed }),
      },
    },
    podsToRelease,
    succeeded: counted.succeeded + uncounted.succeeded.length,
    failed: counted.failed + uncounted.failed.length,
    completedIndexes,
    failJobMatch,
  };
}

export function hasTrackingFinalizer({ metadata }: ApiPod): boolean {
  return metadata.finalizers?.includes(jobTrackingFinalizer) ?? false;
}

/** A deleted pod counts as failed, unless the Job waits for its end and it has a node whose kubelet will report it. */
export function podOutcome({ spec }: Job, pod: ApiPod): "succeeded" | "failed" | undefined {
  const phase = pod.status?.phase;
  if (phase === "Succeeded") return "succeeded";
  if (phase === "Failed") return "failed";
  const isWaitedFor = spec.podReplacementPolicy === "Failed" && (pod.spec.nodeName ?? "") !== "";
  return isTerminatingPod(pod) && !isWaitedFor ? "failed" : undefined;
}

export function completionIndexOf({ metadata }: ApiPod): number | undefined {
  const written = metadata.annotations?.[workloadAnnotations.completionIndex] ?? "";
  return /^\d{1,9}$/.test(written) ? Number(written) : undefined;
}
