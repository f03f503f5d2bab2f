import { type ControllerContext, reconcileController } from "../../../../kube/controller.ts";
import { type ObjectReference, referenceTo } from "../../../../kube/event.ts";
import { isKubeError } from "../../../../kube/kube-error.ts";
import type { RequeueAfter } from "../../../../kube/reconciler.ts";
import { builtInTypes } from "../../../../kube/resources.ts";
import { rfc3339 } from "../../../../util/timestamp.ts";
import { isJobFinished } from "../job/job-controller.ts";
import {
  deleteIfExists,
  isControlledBy,
  namespacedNameOf,
  newControllerReference,
  reconcileExisting,
  workloadTriggers,
} from "../ownership.ts";
import type { CronJob, CronJobStatus, Job } from "../types.ts";
import { workloadAnnotations } from "../workload-labels.ts";
import { isWorkloadConditionTrue, updateLatestStatus, updateStatusIfChanged } from "../workload-status.ts";
import { dueTimes, parseCronJobSchedule } from "./cron-job-schedule.ts";

/** Creates Jobs on a cron schedule. (05:CP-L5) */
export const cronJobController = reconcileController({
  name: "cronjob-controller",
  triggers: workloadTriggers(builtInTypes.CronJob, builtInTypes.Job, {}),
  reconcile: reconcileExisting(builtInTypes.CronJob, syncCronJob),
});

async function syncCronJob(context: ControllerContext, before: CronJob): Promise<RequeueAfter | undefined> {
  const jobs = context.view<Job>(builtInTypes.Job).controlledBy(before.metadata.uid);
  const cron = await updateActiveJobs(context, before, jobs);
  await cleanUpFinishedJobs(context, cron, jobs);
  if (cron.spec.suspend === true) return undefined;
  const now = context.clock.now();
  const created = Date.parse(cron.metadata.creationTimestamp ?? "") || 0;
  const last = Date.parse(cron.status?.lastScheduleTime ?? "") || created;
  const reading = parseCronJobSchedule(cron.spec.schedule, { timeZone: cron.spec.timeZone, sinceMs: last });
  if (reading.kind === "error") {
    const message = `unparseable schedule "${cron.spec.schedule}": ${reading.message}`;
    context.recordEvent(cron, { type: "Warning", reason: "UnparseableSchedule", message });
    return undefined; // only a change of the spec can help, and that triggers a reconcile
  }
  const deadlineMs = (cron.spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  const { due, hasTooManyMissed, next } = dueTimes(reading.schedule, {
    sinceMs: Math.max(last, now - deadlineMs),
    now,
  });
  const again = next === undefined ? undefined : { afterMs: next - now };
  if (hasTooManyMissed) {
    const message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
    context.recordEvent(cron, { type: "Warning", reason: "TooManyMissedTimes", message });
  }
  if (due !== undefined) await startDueJob(context, cron, due);
  return again;
}

/** Removes finished and deleted Jobs from `status.active`. */
async function updateActiveJobs(context: ControllerContext, cron: CronJob, jobs: readonly Job[]): Promise<CronJob> {
  const listed = cron.status?.active ?? [];
  const running = jobs.filter((job) => !isJobFinished(job));
  const active: readonly ObjectReference[] = running.map(referenceTo);
  for (const { name, uid } of listed) {
    const ended = jobs.find(({ metadata }) => metadata.uid === uid);
    if (ended !== undefined && isJobFinished(ended)) {
      const status = isWorkloadConditionTrue(ended.status?.conditions, "Complete") ? "Complete" : "Failed";
      const message = `Saw completed job: ${name}, condition: ${status}`;
      context.recordEvent(cron, { type: "Normal", reason: "SawCompletedJob", message });
    }
  }
  const successes = jobs.map(({ status }) => status?.completionTime ?? "").sort();
  const newest = [cron.status?.lastSuccessfulTime ?? "", successes.at(-1) ?? ""].sort().at(-1);
  const status: CronJobStatus = {
    ...cron.status,
    active: active.length === 0 ? undefined : sameReferences(listed, active) ? listed : active,
    lastSuccessfulTime: newest === "" ? undefined : newest,
  };
  return updateStatusIfChanged(context, builtInTypes.CronJob, { object: cron, status });
}

/** Compares by uid only: resource versions may differ. */
function sameReferences(a: readonly ObjectReference[], b: readonly ObjectReference[]): boolean {
  const uids = (references: readonly ObjectReference[]) =>
    references
      .map(({ uid }) => uid)
      .sort()
      .join();
  return uids(a) === uids(b);
}

/** Deletes finished Jobs beyond the history limits, oldest first. */
async function cleanUpFinishedJobs(context: ControllerContext, cron: CronJob, jobs: readonly Job[]): Promise<void> {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cron.spec;
  const of = (type: string) =>
    jobs.filter(({ status }) => isWorkloadConditionTrue(status?.conditions, type)).sort(byStartTime);
  const surplus = (ended: readonly Job[], limit: number) => ended.slice(0, Math.max(0, ended.length - limit));
  const outdated = [
    ...surplus(of("Complete"), successfulJobsHistoryLimit),
    ...surplus(of("Failed"), failedJobsHistoryLimit),
  ];
  for (const job of outdated) {
    if (job.metadata.deletionTimestamp === undefined) await deleteJob(context, cron, job);
  }
}

function byStartTime(a: Job, b: Job): number {
  const start = ({ status, metadata }: Job) => status?.startTime ?? metadata.creationTimestamp ?? "";
  const key = (job: Job) => `${start(job)} ${job.metadata.name}`;
  return key(a) < key(b) ? -1 : 1;
}

async function deleteJob(context: ControllerContext, cron: CronJob, job: Job): Promise<void> {
  await deleteIfExists(context, builtInTypes.Job, job, { propagation: "Background" });
  const message = `Deleted job ${job.metadata.name}`;
  context.recordEvent(cron, { type: "Normal", reason: "SuccessfulDelete", message });
}

async function startDueJob(context: ControllerContext, cron: CronJob, due: number): Promise<void> {
  const active = (cron.status?.active ?? []).length;
  if (active > 0 && cron.spec.concurrencyPolicy === "Forbid") {
    // When the running Job finishes we reconcile again and start this one late.
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    context.recordEvent(cron, { type: "Normal", reason: "JobAlreadyActive", message });
    return;
  }
  if (cron.spec.concurrencyPolicy === "Replace") {
    const running = context.view<Job>(builtInTypes.Job).controlledBy(cron.metadata.uid);
    for (const job of running.filter((one) => !isJobFinished(one))) await deleteJob(context, cron, job);
  }
  const job = await createJob(context, cron, due);
  if (job === undefined) return;
  const others = cron.spec.concurrencyPolicy === "Replace" ? [] : (cron.status?.active ?? []);
  const status: CronJobStatus = {
    ...cron.status,
    lastScheduleTime: rfc3339(due),
    active: [...others.filter(({ uid }) => uid !== job.metadata.uid), referenceTo(job)],
  };
  await updateLatestStatus(context, builtInTypes.CronJob, { object: cron, status });
}

/** The Job is named after its scheduled minute, so that it is never started twice. Undefined if another object has the name. */
async function createJob(context: ControllerContext, cron: CronJob, due: number): Promise<Job | undefined> {
  const { metadata = {}, spec } = cron.spec.jobTemplate;
  const wanted: Job = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: `${cron.metadata.name}-${Math.floor(due / 60_000)}`,
      namespace: cron.metadata.namespace,
      labels: metadata.labels,
      annotations: { ...metadata.annotations, [workloadAnnotations.scheduledTimestamp]: rfc3339(due) },
      ownerReferences: [newControllerReference(builtInTypes.CronJob, cron)],
    },
    spec,
  };
  try {
    const job = await context.client.create<Job>(builtInTypes.Job, wanted);
    context.recordEvent(cron, {
      type: "Normal",
      reason: "SuccessfulCreate",
      message: `Created job ${wanted.metadata.name}`,
    });
    return job;
  } catch (error) {
    if (!isKubeError(error, "already-exists")) throw error;
    const other = await context.client.get<Job>(builtInTypes.Job, namespacedNameOf(wanted));
    return isControlledBy(other, cron) ? other : undefined;
  }
}
