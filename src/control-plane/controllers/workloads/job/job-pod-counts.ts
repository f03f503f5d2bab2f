import { isPodTerminating } from "../pods.ts";
import type { Job, JobStatus, WorkloadPod } from "../types.ts";
import { jobTrackingFinalizer, workloadAnnotations } from "../workload-labels.ts";
import { formatIndexes, parseIndexes } from "./completed-indexes.ts";
import { matchPodFailurePolicy, type PodFailurePolicyMatch } from "./pod-failure-policy.ts";

/** What is known of a Job's finished pods. */
export interface JobPodCounts {
  /** To be written before any of `release` loses its finalizer: so a crash between counts nobody twice or never. */
  readonly status: JobStatus;
  /** Counted, or about to be: nothing holds them any more. */
  readonly podsToRelease: readonly WorkloadPod[];
  readonly succeeded: number;
  readonly failed: number;
  readonly completedIndexes: ReadonlySet<number>;
  /** A pod failed in a way that fails the Job. */
  readonly failJobMatch: PodFailurePolicyMatch | undefined;
}

/**
 * Counts pods that finished, however long they stay: a pod on a node that is gone must not run again. Two steps, each
 * safe to repeat: its uid is noted in the status, then its finalizer goes and the note becomes a number.
 */
export function countJobPods(job: Job, pods: readonly WorkloadPod[]): JobPodCounts {
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
  const [newSucceeded, newFailed, podsToRelease]: [string[], string[], WorkloadPod[]] = [[], [], []];
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

export function hasTrackingFinalizer({ metadata }: WorkloadPod): boolean {
  return metadata.finalizers?.includes(jobTrackingFinalizer) ?? false;
}

/** A pod that is deleted counts as failed, unless the Job waits for how it ends; nobody tells that of one without a node. */
export function podOutcome({ spec }: Job, pod: WorkloadPod): "succeeded" | "failed" | undefined {
  const phase = pod.status?.phase;
  if (phase === "Succeeded") return "succeeded";
  if (phase === "Failed") return "failed";
  const isWaitedFor = spec.podReplacementPolicy === "Failed" && (pod.spec.nodeName ?? "") !== "";
  return isPodTerminating(pod) && !isWaitedFor ? "failed" : undefined;
}

export function completionIndexOf({ metadata }: WorkloadPod): number | undefined {
  const written = metadata.annotations?.[workloadAnnotations.completionIndex] ?? "";
  return /^\d{1,9}$/.test(written) ? Number(written) : undefined;
}
