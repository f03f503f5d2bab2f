import { jobTrackingFinalizer, workloadAnnotations } from "../names.ts";
import { isTerminating } from "../pods.ts";
import type { Job, JobStatus, LivePod } from "../types.ts";
import { matchFailure, type PolicyMatch } from "./failure-policy.ts";
import { formatIndexes, parseIndexes } from "./indexes.ts";

/** What is known of a Job's finished pods. */
export interface Account {
  /** To be written before any of `release` loses its finalizer: so a crash between counts nobody twice or never. */
  readonly status: JobStatus;
  /** Counted, or about to be: nothing holds them any more. */
  readonly release: readonly LivePod[];
  readonly succeeded: number;
  readonly failed: number;
  readonly completed: ReadonlySet<number>;
  /** A pod failed in a way that fails the Job. */
  readonly fatal: PolicyMatch | undefined;
}

/**
 * Counts pods that finished, however long they stay: a pod on a node that is gone must not run again. Two steps, each
 * safe to repeat: its uid is noted in the status, then its finalizer goes and the note becomes a number.
 */
export function account(job: Job, pods: readonly LivePod[]): Account {
  const { status = {}, spec } = job;
  const isIndexed = spec.completionMode === "Indexed";
  const held = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid ?? ""));
  const before = {
    succeeded: status.uncountedTerminatedPods?.succeeded ?? [],
    failed: status.uncountedTerminatedPods?.failed ?? [],
  };
  const [waitingSucceeded, waitingFailed] = [
    before.succeeded.filter((uid) => held.has(uid)),
    before.failed.filter((uid) => held.has(uid)),
  ];
  const completed = new Set(isIndexed ? parseIndexes(status.completedIndexes, spec.completions ?? 0) : []);
  const [newSucceeded, newFailed, release]: [string[], string[], LivePod[]] = [[], [], []];
  let fatal: PolicyMatch | undefined;
  for (const pod of pods) {
    const { uid = "" } = pod.metadata;
    const outcome = outcomeOf(job, pod);
    if (outcome === undefined) continue;
    const match = outcome === "failed" ? matchFailure(spec, pod) : undefined;
    if (match?.action === "FailJob") fatal ??= match;
    if (!isTracked(pod)) continue;
    release.push(pod);
    if (before.succeeded.includes(uid) || before.failed.includes(uid) || match?.action === "Ignore") continue;
    if (outcome === "failed") newFailed.push(uid);
    else if (!isIndexed) newSucceeded.push(uid);
    else if (indexOf(pod) !== undefined) completed.add(indexOf(pod) ?? 0);
  }
  const counted = {
    succeeded: isIndexed ? completed.size : (status.succeeded ?? 0) + before.succeeded.length - waitingSucceeded.length,
    failed: (status.failed ?? 0) + before.failed.length - waitingFailed.length,
  };
  const uncounted = { succeeded: [...waitingSucceeded, ...newSucceeded], failed: [...waitingFailed, ...newFailed] };
  return {
    status: {
      ...status,
      succeeded: counted.succeeded || undefined,
      failed: counted.failed || undefined,
      ...(isIndexed && { completedIndexes: formatIndexes(completed) || undefined }),
      uncountedTerminatedPods: {
        ...(uncounted.succeeded.length > 0 && { succeeded: uncounted.succeeded }),
        ...(uncounted.failed.length > 0 && { failed: uncounted.failed }),
      },
    },
    release,
    succeeded: counted.succeeded + uncounted.succeeded.length,
    failed: counted.failed + uncounted.failed.length,
    completed,
    fatal,
  };
}

export function isTracked({ metadata }: LivePod): boolean {
  return metadata.finalizers?.includes(jobTrackingFinalizer) ?? false;
}

/** A pod that is deleted counts as failed, unless the Job waits for how it ends; nobody tells that of one without a node. */
export function outcomeOf({ spec }: Job, pod: LivePod): "succeeded" | "failed" | undefined {
  const phase = pod.status?.phase;
  if (phase === "Succeeded") return "succeeded";
  if (phase === "Failed") return "failed";
  const isWaitedFor = spec.podReplacementPolicy === "Failed" && (pod.spec.nodeName ?? "") !== "";
  return isTerminating(pod) && !isWaitedFor ? "failed" : undefined;
}

export function indexOf({ metadata }: LivePod): number | undefined {
  const written = metadata.annotations?.[workloadAnnotations.completionIndex] ?? "";
  return /^\d{1,9}$/.test(written) ? Number(written) : undefined;
}
