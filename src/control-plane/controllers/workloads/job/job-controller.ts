import { isActivePod, isTerminalPod, isTerminatingPod } from "../../../../core/pod-predicates.ts";
import { type ControllerContext, reconcileController } from "../../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../../kube/kube-error.ts";
import type { RequeueAfter } from "../../../../kube/reconciler.ts";
import { builtInTypes } from "../../../../kube/resources.ts";
import { rfc3339 } from "../../../../util/timestamp.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import {
  claimChildren,
  controllerReferenceOf,
  deleteIfExists,
  ignoreNamespaceTerminating,
  latestOf,
  namespacedNameOf,
  workloadTriggers,
} from "../ownership.ts";
import { isPodReady } from "../pods.ts";
import type { Job, JobStatus, WorkloadCondition } from "../types.ts";
import { jobTrackingFinalizer } from "../workload-labels.ts";
import {
  findWorkloadCondition,
  isWorkloadConditionTrue,
  omitZero,
  updateStatusIfChanged,
  withWorkloadCondition,
} from "../workload-status.ts";
import { activeDeadlineAt, type JobFinishCondition, jobFinishCondition } from "./job-finish-condition.ts";
import { countJobPods, hasTrackingFinalizer, type JobPodCounts } from "./job-pod-counts.ts";
import { deleteJobPods, manageJobPods } from "./job-pods.ts";

const trackedPodsIndex = "job-tracking";

/** Runs pods until enough have succeeded. (05:CP-L5) */
export const jobController = reconcileController({
  name: "job-controller",
  triggers: workloadTriggers(builtInTypes.Job, builtInTypes.Pod),
  start: (context) =>
    context.view<ApiPod>(builtInTypes.Pod).addIndex(trackedPodsIndex, (pod) => {
      const owner = controllerReferenceOf(pod);
      return owner?.kind === "Job" && hasTrackingFinalizer(pod) ? `${pod.metadata.namespace}/${owner.name}` : undefined;
    }),
  reconcile: async (key, context) => {
    const job = context.view<Job>(builtInTypes.Job).get(key);
    await releaseOrphanedPods(context, key, job);
    if (job === undefined) return undefined;
    return ignoreNamespaceTerminating(isJobFinished(job) ? cleanUpFinishedJob(context, job) : syncJob(context, job));
  },
});

export function isJobFinished(job: Job): boolean {
  return finishedCondition(job) !== undefined;
}

/** Removes the tracking finalizer from pods whose Job no longer exists. */
async function releaseOrphanedPods(context: ControllerContext, key: string, job: Job | undefined): Promise<void> {
  for (const pod of context.view<ApiPod>(builtInTypes.Pod).byIndex(trackedPodsIndex, key)) {
    if (controllerReferenceOf(pod)?.uid !== job?.metadata.uid) await removeTrackingFinalizer(context, pod);
  }
}

async function removeTrackingFinalizer({ client }: ControllerContext, pod: ApiPod): Promise<void> {
  const { uid } = pod.metadata;
  const body = { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [jobTrackingFinalizer] } };
  await ignoreKubeErrors(
    client.patch(builtInTypes.Pod, namespacedNameOf(pod), { kind: "strategic", body }),
    "not-found",
  );
}

/** Releases the remaining pods and deletes the Job after its TTL. */
async function cleanUpFinishedJob(context: ControllerContext, job: Job): Promise<RequeueAfter | undefined> {
  for (const pod of await podsOf(context, job))
    if (hasTrackingFinalizer(pod)) await removeTrackingFinalizer(context, pod);
  const ttl = job.spec.ttlSecondsAfterFinished;
  if (ttl === undefined || job.metadata.deletionTimestamp !== undefined) return undefined;
  const leftMs = jobFinishedAt(job) + ttl * 1000 - context.clock.now();
  if (leftMs > 0) return { afterMs: leftMs };
  await deleteIfExists(context, builtInTypes.Job, job, { propagation: "Foreground" });
  return undefined;
}

function jobFinishedAt(job: Job): number {
  return Date.parse(finishedCondition(job)?.lastTransitionTime ?? "") || 0;
}

function finishedCondition({ status }: Job): WorkloadCondition | undefined {
  return status?.conditions?.find((one) => one.status === "True" && ["Complete", "Failed"].includes(one.type));
}

function podsOf(context: ControllerContext, job: Job): Promise<readonly ApiPod[]> {
  return claimChildren<ApiPod>(context, { type: builtInTypes.Pod, owner: job, ownerType: builtInTypes.Job });
}

async function syncJob(context: ControllerContext, job: Job): Promise<RequeueAfter | undefined> {
  const now = context.clock.now();
  const pods = await podsOf(context, job);
  const counted = countJobPods(job, pods);
  const isSuspended = job.spec.suspend === true;
  const finishCondition =
    recordedFinishCondition(job) ?? (isSuspended ? undefined : jobFinishCondition(job, { counts: counted, pods, now }));
  const isBeingDeleted = job.metadata.deletionTimestamp !== undefined;
  // Status first, finalizers second: no pod is counted twice, even after a crash in between.
  const updated = await writeJobStatus(context, job, { counted, pods, finishCondition });
  for (const pod of counted.podsToRelease) await removeTrackingFinalizer(context, pod);
  if (isBeingDeleted) return undefined;
  let again: RequeueAfter | undefined;
  if (finishCondition !== undefined || isSuspended) await deleteJobPods(context, job, pods.filter(isActivePod));
  else again = await manageJobPods(context, job, { pods, counts: counted });
  const current = await podsOf(context, updated);
  const latest = latestOf(context, builtInTypes.Job, job) ?? updated;
  const written = await writeJobStatus(context, latest, {
    counted: countJobPods(latest, current),
    pods: current,
    finishCondition,
  });
  if (isJobFinished(written) || finishCondition !== undefined || isSuspended) return undefined;
  const deadline = activeDeadlineAt(
    written.status?.startTime,
    job.spec.activeDeadlineSeconds ?? Number.POSITIVE_INFINITY,
  );
  const never = Number.POSITIVE_INFINITY;
  const afterMs = Math.min(again?.afterMs ?? never, (deadline ?? never) - now);
  return Number.isFinite(afterMs) ? { afterMs: Math.max(0, afterMs) } : undefined;
}

/** Once written, the outcome stands: a failed Job does not recover while its pods terminate. */
function recordedFinishCondition({ status }: Job): JobFinishCondition | undefined {
  for (const type of ["SuccessCriteriaMet", "FailureTarget"] as const) {
    const condition = findWorkloadCondition(status?.conditions, type);
    if (condition?.status === "True") return { type, reason: condition.reason ?? "", message: condition.message ?? "" };
  }
  return undefined;
}

interface JobStatusInput {
  readonly counted: JobPodCounts;
  readonly pods: readonly ApiPod[];
  readonly finishCondition: JobFinishCondition | undefined;
}

async function writeJobStatus(context: ControllerContext, job: Job, findings: JobStatusInput): Promise<Job> {
  const status = statusOf(job, findings, context.clock.now());
  const written = await updateStatusIfChanged(context, builtInTypes.Job, { object: job, status });
  if (!isJobFinished(job) && isJobFinished(written)) recordFinishEvent(context, written);
  return written;
}

function recordFinishEvent(context: ControllerContext, job: Job): void {
  const failed = findWorkloadCondition(job.status?.conditions, "Failed");
  if (failed?.status !== "True")
    context.recordEvent(job, { type: "Normal", reason: "Completed", message: "Job completed" });
  else context.recordEvent(job, { type: "Warning", reason: failed.reason ?? "", message: failed.message ?? "" });
}

function statusOf(job: Job, { counted, pods, finishCondition }: JobStatusInput, now: number): JobStatus {
  const active = pods.filter(isActivePod);
  const terminating = pods.filter((pod) => isTerminatingPod(pod) && !isTerminalPod(pod)).length;
  const isSettled = active.length === 0 && terminating === 0 && isNothingUncounted(counted.status);
  const ended = finishCondition !== undefined && isSettled ? finalCondition(finishCondition) : undefined;
  const isSuspended = job.spec.suspend === true && finishCondition === undefined;
  let conditions = withSuspendedCondition(job, { isSuspended, now });
  for (const condition of [finishCondition, ended]) {
    if (condition !== undefined) conditions = setJobCondition(conditions, { ...condition, status: "True" }, now);
  }
  const startTime = isSuspended ? undefined : (job.status?.startTime ?? rfc3339(now));
  return {
    ...counted.status,
    active: omitZero(active.length),
    ready: active.filter(isPodReady).length,
    terminating,
    startTime,
    ...(ended?.type === "Complete" && { completionTime: rfc3339(now) }),
    conditions: conditions.length === 0 ? undefined : conditions,
  };
}

function isNothingUncounted({ uncountedTerminatedPods: { succeeded = [], failed = [] } = {} }: JobStatus): boolean {
  return succeeded.length + failed.length === 0;
}

function finalCondition({ type, reason, message }: JobFinishCondition): Omit<WorkloadCondition, "status"> {
  return { type: type === "SuccessCriteriaMet" ? "Complete" : "Failed", reason, message };
}

function withSuspendedCondition({ status }: Job, { isSuspended, now }: { isSuspended: boolean; now: number }) {
  const { conditions = [] } = status ?? {};
  if (!isSuspended && !isWorkloadConditionTrue(conditions, "Suspended")) return conditions;
  const condition: WorkloadCondition = isSuspended
    ? { type: "Suspended", status: "True", reason: "JobSuspended", message: "Job suspended" }
    : { type: "Suspended", status: "False", reason: "JobResumed", message: "Job resumed" };
  return setJobCondition(conditions, condition, now);
}

function setJobCondition(conditions: readonly WorkloadCondition[], condition: WorkloadCondition, now: number) {
  return withWorkloadCondition(conditions, { ...condition, lastProbeTime: rfc3339(now) }, { now });
}
