import { isKubeError } from "../../../../kube/error.ts";
import { referenceTo } from "../../../../kube/event.ts";
import { type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import type { LookAgain } from "../../../../kube/reconciler.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { rfc3339 } from "../../../api/times.ts";
import { isOver } from "../job/job.ts";
import { workloadAnnotations } from "../names.ts";
import { controlledBy, isControlledBy, isNamespaceLeaving, itself, keyOf, orGone, ownersOf } from "../ownership.ts";
import { isTrue, writeStatus } from "../status.ts";
import type { CronJob, CronJobStatus, Job, JobReference } from "../types.ts";
import { dueTimes, readTimetable } from "./schedule.ts";

/** Makes Jobs by the clock. (05:CP-L5) */
export const cronJobLoop = reconcileLoop({
  name: "cronjob-controller",
  triggers: [
    on(builtIn.CronJob, itself),
    on<Job>(builtIn.Job, (change, world) => ownersOf(change, { world, ownerType: builtIn.CronJob })),
  ],
  reconcile: async (key, world) => {
    const cron = world.view<CronJob>(builtIn.CronJob).get(key);
    if (cron === undefined || cron.metadata.deletionTimestamp !== undefined) return undefined;
    try {
      return await advance(world, cron);
    } catch (error) {
      if (isNamespaceLeaving(error)) return undefined;
      throw error;
    }
  },
});

async function advance(world: LoopWorld, before: CronJob): Promise<LookAgain | undefined> {
  const jobs = world.view<Job>(builtIn.Job).controlledBy(before.metadata.uid);
  const cron = await noteEnded(world, before, jobs);
  await cleanUp(world, cron, jobs);
  if (cron.spec.suspend === true) return undefined;
  const now = world.clock.now();
  const created = Date.parse(cron.metadata.creationTimestamp ?? "") || 0;
  const last = Date.parse(cron.status?.lastScheduleTime ?? "") || created;
  const reading = readTimetable(cron.spec.schedule, { timeZone: cron.spec.timeZone, sinceMs: last });
  if (reading.kind === "error") {
    const message = `unparseable schedule "${cron.spec.schedule}": ${reading.message}`;
    world.tell(cron, { type: "Warning", reason: "UnparseableSchedule", message });
    return undefined; // it has to be changed first, and that brings us back
  }
  const deadlineMs = (cron.spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  const { due, isTooMany, next } = dueTimes(reading.timetable, { sinceMs: Math.max(last, now - deadlineMs), now });
  const again = next === undefined ? undefined : { afterMs: next - now };
  if (isTooMany) {
    const message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
    world.tell(cron, { type: "Warning", reason: "TooManyMissedTimes", message });
  }
  if (due !== undefined) await start(world, cron, due);
  return again;
}

/** Jobs that ended, or are gone, are active no more. */
async function noteEnded(world: LoopWorld, cron: CronJob, jobs: readonly Job[]): Promise<CronJob> {
  const listed = cron.status?.active ?? [];
  const running = jobs.filter((job) => !isOver(job));
  const active = running.map(jobReference);
  for (const { name, uid } of listed) {
    const ended = jobs.find(({ metadata }) => metadata.uid === uid);
    if (ended !== undefined && isOver(ended)) {
      const status = isTrue(ended.status?.conditions, "Complete") ? "Complete" : "Failed";
      const message = `Saw completed job: ${name}, condition: ${status}`;
      world.tell(cron, { type: "Normal", reason: "SawCompletedJob", message });
    }
  }
  const successes = jobs.map(({ status }) => status?.completionTime ?? "").sort();
  const newest = [cron.status?.lastSuccessfulTime ?? "", successes.at(-1) ?? ""].sort().at(-1);
  const status: CronJobStatus = {
    ...cron.status,
    active: active.length === 0 ? undefined : sameReferences(listed, active) ? listed : active,
    lastSuccessfulTime: newest === "" ? undefined : newest,
  };
  return writeStatus(world, builtIn.CronJob, { object: cron, status });
}

/** Which versions of the Jobs we saw does not matter. */
function sameReferences(a: readonly JobReference[], b: readonly JobReference[]): boolean {
  const uids = (references: readonly JobReference[]) =>
    references
      .map(({ uid }) => uid)
      .sort()
      .join();
  return uids(a) === uids(b);
}

function jobReference(job: Job): JobReference {
  return referenceTo(job);
}

/** Keeps so many of those that succeeded and so many that failed; older ones go. */
async function cleanUp(world: LoopWorld, cron: CronJob, jobs: readonly Job[]): Promise<void> {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cron.spec;
  const of = (type: string) => jobs.filter(({ status }) => isTrue(status?.conditions, type)).sort(byStart);
  const surplus = (ended: readonly Job[], limit: number) => ended.slice(0, Math.max(0, ended.length - limit));
  const outdated = [
    ...surplus(of("Complete"), successfulJobsHistoryLimit),
    ...surplus(of("Failed"), failedJobsHistoryLimit),
  ];
  for (const job of outdated) {
    if (job.metadata.deletionTimestamp === undefined) await deleteJob(world, cron, job);
  }
}

function byStart(a: Job, b: Job): number {
  const start = ({ status, metadata }: Job) => status?.startTime ?? metadata.creationTimestamp ?? "";
  const key = (job: Job) => `${start(job)} ${job.metadata.name}`;
  return key(a) < key(b) ? -1 : 1;
}

async function deleteJob(world: LoopWorld, cron: CronJob, job: Job): Promise<void> {
  const { uid = "", name } = job.metadata;
  await orGone(world.client.delete(builtIn.Job, keyOf(job), { propagation: "Background", preconditions: { uid } }));
  world.tell(cron, { type: "Normal", reason: "SuccessfulDelete", message: `Deleted job ${name}` });
}

async function start(world: LoopWorld, cron: CronJob, due: number): Promise<void> {
  const active = (cron.status?.active ?? []).length;
  if (active > 0 && cron.spec.concurrencyPolicy === "Forbid") {
    // Its end brings us back, and then this run is late but not lost.
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    world.tell(cron, { type: "Normal", reason: "JobAlreadyActive", message });
    return;
  }
  if (cron.spec.concurrencyPolicy === "Replace") {
    const running = world.view<Job>(builtIn.Job).controlledBy(cron.metadata.uid);
    for (const job of running.filter((one) => !isOver(one))) await deleteJob(world, cron, job);
  }
  const job = await createJob(world, cron, due);
  if (job === undefined) return;
  const others = cron.spec.concurrencyPolicy === "Replace" ? [] : (cron.status?.active ?? []);
  const status: CronJobStatus = {
    ...cron.status,
    lastScheduleTime: rfc3339(due),
    active: [...others.filter(({ uid }) => uid !== job.metadata.uid), jobReference(job)],
  };
  const { name, namespace } = cron.metadata;
  const latest = world.view<CronJob>(builtIn.CronJob).get(`${namespace}/${name}`);
  if (latest !== undefined) await writeStatus(world, builtIn.CronJob, { object: latest, status });
}

/** Named by its minute, so that no run happens twice. Undefined where the name is another's. */
async function createJob(world: LoopWorld, cron: CronJob, due: number): Promise<Job | undefined> {
  const { metadata = {}, spec } = cron.spec.jobTemplate;
  const wanted: Job = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: `${cron.metadata.name}-${Math.floor(due / 60_000)}`,
      namespace: cron.metadata.namespace,
      labels: metadata.labels,
      annotations: { ...metadata.annotations, [workloadAnnotations.scheduledTimestamp]: rfc3339(due) },
      ownerReferences: [controlledBy(builtIn.CronJob, cron)],
    },
    spec,
  };
  try {
    const job = await world.client.create<Job>(builtIn.Job, wanted);
    world.tell(cron, { type: "Normal", reason: "SuccessfulCreate", message: `Created job ${wanted.metadata.name}` });
    return job;
  } catch (error) {
    if (!isKubeError(error, "already-exists")) throw error;
    const other = await world.client.get<Job>(builtIn.Job, keyOf(wanted));
    return isControlledBy(other, cron) ? other : undefined;
  }
}
