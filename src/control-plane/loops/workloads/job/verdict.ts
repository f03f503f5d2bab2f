import { sum } from "../counts.ts";
import { isActive } from "../pods.ts";
import type { Job, LivePod } from "../types.ts";
import { type Account, outcomeOf } from "./accounting.ts";

/** How a Job ends. */
export interface Verdict {
  readonly type: "SuccessCriteriaMet" | "FailureTarget";
  readonly reason: string;
  readonly message: string;
}

/** Whether a Job is over, and why. (05:CP-L5) */
export function verdictOf(
  { spec, status }: Job,
  { account, pods, now }: { readonly account: Account; readonly pods: readonly LivePod[]; readonly now: number },
): Verdict | undefined {
  if (account.fatal !== undefined) return failure("PodFailurePolicy", account.fatal.message);
  const { backoffLimit = 6, completions, activeDeadlineSeconds } = spec;
  const active = pods.filter(isActive);
  if (account.failed > backoffLimit || hasRestartedTooOften(spec, active)) {
    return failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }
  if (activeDeadlineSeconds !== undefined && (deadlineAt(status?.startTime, activeDeadlineSeconds) ?? now + 1) <= now) {
    return failure("DeadlineExceeded", "Job was active longer than specified deadline");
  }
  // A work queue is empty when one of its workers says so and the others are done.
  const isDone =
    completions === undefined ? account.succeeded > 0 && active.length === 0 : account.succeeded >= completions;
  if (!isDone) return undefined;
  const message = "Reached expected number of succeeded pods";
  return { type: "SuccessCriteriaMet", reason: "CompletionsReached", message };
}

function failure(reason: string, message: string): Verdict {
  return { type: "FailureTarget", reason, message };
}

export function deadlineAt(startTime: string | undefined, seconds: number): number | undefined {
  return startTime === undefined ? undefined : Date.parse(startTime) + seconds * 1000;
}

/** Pods that restart in place do not fail: their restarts count instead. */
function hasRestartedTooOften({ template, backoffLimit = 6 }: Job["spec"], active: readonly LivePod[]): boolean {
  if (template.spec.restartPolicy !== "OnFailure") return false;
  const restarts = sum(active, ({ status }) =>
    sum([...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])], (one) => one.restartCount),
  );
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
}

/** How many pods should be at work. */
export function wantedActive(
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
export function backOffLeftMs(job: Job, pods: readonly LivePod[], now: number): number {
  const finished = pods
    .map((pod) => ({ outcome: outcomeOf(job, pod), at: finishedAt(pod) }))
    .filter(({ outcome }) => outcome !== undefined)
    .sort((a, b) => a.at - b.at);
  const lastSuccess = finished.findLastIndex(({ outcome }) => outcome === "succeeded");
  const failures = finished.slice(lastSuccess + 1);
  const last = failures.at(-1);
  if (last === undefined) return 0;
  return Math.max(0, last.at + Math.min(maxBackOffMs, firstBackOffMs * 2 ** (failures.length - 1)) - now);
}

/** When its last container ended, or else what comes nearest to it. */
function finishedAt({ metadata, status }: LivePod): number {
  const ends = (status?.containerStatuses ?? [])
    .map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ""))
    .filter((at) => !Number.isNaN(at));
  if (ends.length > 0) return Math.max(...ends);
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime;
  return Date.parse(metadata.deletionTimestamp ?? ready ?? metadata.creationTimestamp ?? "") || 0;
}
