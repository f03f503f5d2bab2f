import { isActivePod } from "../../../../core/pod-predicates.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import { sum } from "../scaled-value.ts";
import type { Job } from "../types.ts";
import { type JobPodCounts, podOutcome } from "./job-pod-counts.ts";

/** The condition that decides a Job. */
export interface JobFinishCondition {
  readonly type: "SuccessCriteriaMet" | "FailureTarget";
  readonly reason: string;
  readonly message: string;
}

/** Whether the Job has succeeded or failed, and why; undefined while it runs. (05:CP-L5) */
export function jobFinishCondition(
  { spec, status }: Job,
  { counts, pods, now }: { readonly counts: JobPodCounts; readonly pods: readonly ApiPod[]; readonly now: number },
): JobFinishCondition | undefined {
  if (counts.failJobMatch !== undefined) return failureTarget("PodFailurePolicy", counts.failJobMatch.message);
  const { backoffLimit = 6, completions, activeDeadlineSeconds } = spec;
  const active = pods.filter(isActivePod);
  if (counts.failed > backoffLimit || hasRestartedTooOften(spec, active)) {
    return failureTarget("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }
  if (
    activeDeadlineSeconds !== undefined &&
    (activeDeadlineAt(status?.startTime, activeDeadlineSeconds) ?? now + 1) <= now
  ) {
    return failureTarget("DeadlineExceeded", "Job was active longer than specified deadline");
  }
  // A work-queue Job (no completions) is done when one pod succeeded and none is active.
  const isDone =
    completions === undefined ? counts.succeeded > 0 && active.length === 0 : counts.succeeded >= completions;
  if (!isDone) return undefined;
  const message = "Reached expected number of succeeded pods";
  return { type: "SuccessCriteriaMet", reason: "CompletionsReached", message };
}

function failureTarget(reason: string, message: string): JobFinishCondition {
  return { type: "FailureTarget", reason, message };
}

export function activeDeadlineAt(startTime: string | undefined, seconds: number): number | undefined {
  return startTime === undefined ? undefined : Date.parse(startTime) + seconds * 1000;
}

/** Pods that restart in place do not fail; their restarts count instead. */
function hasRestartedTooOften({ template, backoffLimit = 6 }: Job["spec"], active: readonly ApiPod[]): boolean {
  if (template.spec.restartPolicy !== "OnFailure") return false;
  const restarts = sum(active, ({ status }) =>
    sum([...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])], (one) => one.restartCount),
  );
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
}

/** How many pods should be active. */
export function wantedActivePods(
  { spec }: Job,
  { succeeded, active }: { readonly succeeded: number; readonly active: number },
) {
  const { parallelism = 1, completions } = spec;
  if (completions !== undefined) return Math.min(parallelism, completions - succeeded);
  return succeeded > 0 ? Math.min(active, parallelism) : parallelism;
}

const firstBackOffMs = 10_000;
const maxBackOffMs = 600_000;

/** How long to wait before the next try: twice as long after every failure since the last success. */
export function remainingBackOffMs(job: Job, pods: readonly ApiPod[], now: number): number {
  const finished = pods
    .map((pod) => ({ outcome: podOutcome(job, pod), at: podFinishedAt(pod) }))
    .filter(({ outcome }) => outcome !== undefined)
    .sort((a, b) => a.at - b.at);
  const lastSuccess = finished.findLastIndex(({ outcome }) => outcome === "succeeded");
  const failures = finished.slice(lastSuccess + 1);
  const last = failures.at(-1);
  if (last === undefined) return 0;
  return Math.max(0, last.at + Math.min(maxBackOffMs, firstBackOffMs * 2 ** (failures.length - 1)) - now);
}

/** When its last container ended, or the closest timestamp there is. */
function podFinishedAt({ metadata, status }: ApiPod): number {
  const ends = (status?.containerStatuses ?? [])
    .map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ""))
    .filter((at) => !Number.isNaN(at));
  if (ends.length > 0) return Math.max(...ends);
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime;
  return Date.parse(metadata.deletionTimestamp ?? ready ?? metadata.creationTimestamp ?? "") || 0;
}
