import { type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import { cacheKey } from "../../../../kube/object-cache.ts";
import type { LookAgain } from "../../../../kube/reconciler.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { rfc3339 } from "../../../api/times.ts";
import { jobTrackingFinalizer } from "../names.ts";
import { claimed, controllerOf, isNamespaceLeaving, itself, keyOf, orGone, ownersOf, settled } from "../ownership.ts";
import { isActive, isFinished, isReady, isTerminating } from "../pods.ts";
import { find, isTrue, unlessZero, withCondition, writeStatus } from "../status.ts";
import type { Job, JobStatus, LivePod, WorkloadCondition } from "../types.ts";
import { type Account, account, isTracked } from "./accounting.ts";
import { deadlineAt, type Verdict, verdictOf } from "./verdict.ts";
import { adjustPods, deletePods } from "./workers.ts";

const trackedPods = "job-tracking";

/** Runs pods until enough of them succeeded. (05:CP-L5) */
export const jobLoop = reconcileLoop({
  name: "job-controller",
  triggers: [
    on(builtIn.Job, itself),
    on<LivePod>(builtIn.Pod, (change, world) => ownersOf(change, { world, ownerType: builtIn.Job }), settled),
  ],
  prepare: (world) =>
    world.view<LivePod>(builtIn.Pod).index(trackedPods, (pod) => {
      const owner = controllerOf(pod);
      return owner?.kind === "Job" && isTracked(pod) ? `${pod.metadata.namespace}/${owner.name}` : undefined;
    }),
  reconcile: async (key, world) => {
    const job = world.view<Job>(builtIn.Job).get(key);
    await releaseOrphans(world, key, job);
    if (job === undefined) return undefined;
    try {
      return isOver(job) ? await afterTheEnd(world, job) : await advance(world, job);
    } catch (error) {
      if (isNamespaceLeaving(error)) return undefined;
      throw error;
    }
  },
});

export function isOver({ status }: Job): boolean {
  return isTrue(status?.conditions, "Complete") || isTrue(status?.conditions, "Failed");
}

/** Pods of a Job that is no more are nobody's to count. */
async function releaseOrphans(world: LoopWorld, key: string, job: Job | undefined): Promise<void> {
  for (const pod of world.view<LivePod>(builtIn.Pod).by(trackedPods, key)) {
    if (controllerOf(pod)?.uid !== job?.metadata.uid) await release(world, pod);
  }
}

async function release(world: LoopWorld, { metadata }: LivePod): Promise<void> {
  const body = { metadata: { uid: metadata.uid, "$deleteFromPrimitiveList/finalizers": [jobTrackingFinalizer] } };
  const key = { name: metadata.name ?? "", namespace: metadata.namespace };
  await orGone(world.client.patch(builtIn.Pod, key, { kind: "strategic", body }));
}

/** What is left of it is let go, and in time it goes itself. */
async function afterTheEnd(world: LoopWorld, job: Job): Promise<LookAgain | undefined> {
  for (const pod of await podsOf(world, job)) if (isTracked(pod)) await release(world, pod);
  const ttl = job.spec.ttlSecondsAfterFinished;
  if (ttl === undefined || job.metadata.deletionTimestamp !== undefined) return undefined;
  const { uid = "" } = job.metadata;
  const leftMs = finishedAt(job) + ttl * 1000 - world.clock.now();
  if (leftMs > 0) return { afterMs: leftMs };
  await orGone(world.client.delete(builtIn.Job, keyOf(job), { propagation: "Foreground", preconditions: { uid } }));
  return undefined;
}

function finishedAt({ status }: Job): number {
  const end = status?.conditions?.find(
    ({ type, status: is }) => is === "True" && (type === "Complete" || type === "Failed"),
  );
  return Date.parse(end?.lastTransitionTime ?? "") || 0;
}

function podsOf(world: LoopWorld, job: Job): Promise<readonly LivePod[]> {
  return claimed<LivePod>(world, { type: builtIn.Pod, owner: job, ownerType: builtIn.Job });
}

async function advance(world: LoopWorld, job: Job): Promise<LookAgain | undefined> {
  const now = world.clock.now();
  const pods = await podsOf(world, job);
  const counted = account(job, pods);
  const isSuspended = job.spec.suspend === true;
  const verdict = standingVerdict(job) ?? (isSuspended ? undefined : verdictOf(job, { account: counted, pods, now }));
  const isLeaving = job.metadata.deletionTimestamp !== undefined;
  // First the notes, then the pods they are about: nothing is counted twice, whatever happens in between.
  const noted = await write(world, job, { counted, pods, verdict });
  for (const pod of counted.release) await release(world, pod);
  if (isLeaving) return undefined;
  let again: LookAgain | undefined;
  if (verdict !== undefined || isSuspended) await deletePods(world, job, pods.filter(isActive));
  else again = await adjustPods(world, job, { pods, account: counted });
  const current = await podsOf(world, noted);
  const latest = world.view<Job>(builtIn.Job).get(cacheKey(job.metadata)) ?? noted;
  const written = await write(world, latest, { counted: account(latest, current), pods: current, verdict });
  if (isOver(written) || verdict !== undefined || isSuspended) return undefined;
  const deadline = deadlineAt(written.status?.startTime, job.spec.activeDeadlineSeconds ?? Number.POSITIVE_INFINITY);
  const waits = [again?.afterMs, deadline === undefined ? undefined : deadline - now].filter(
    (ms) => ms !== undefined && Number.isFinite(ms),
  ) as number[];
  return waits.length === 0 ? undefined : { afterMs: Math.max(0, Math.min(...waits)) };
}

/** What was said once stays: a Job that failed does not recover while its pods stop. */
function standingVerdict({ status }: Job): Verdict | undefined {
  for (const type of ["SuccessCriteriaMet", "FailureTarget"] as const) {
    const condition = find(status?.conditions, type);
    if (condition?.status === "True") return { type, reason: condition.reason ?? "", message: condition.message ?? "" };
  }
  return undefined;
}

interface Findings {
  readonly counted: Account;
  readonly pods: readonly LivePod[];
  readonly verdict: Verdict | undefined;
}

async function write(world: LoopWorld, job: Job, findings: Findings): Promise<Job> {
  const status = statusOf(job, findings, world.clock.now());
  const written = await writeStatus(world, builtIn.Job, { object: job, status });
  if (!isOver(job) && isOver(written)) announceEnd(world, written);
  return written;
}

function announceEnd(world: LoopWorld, job: Job): void {
  const failed = find(job.status?.conditions, "Failed");
  if (failed?.status !== "True") world.tell(job, { type: "Normal", reason: "Completed", message: "Job completed" });
  else world.tell(job, { type: "Warning", reason: failed.reason ?? "", message: failed.message ?? "" });
}

function statusOf(job: Job, { counted, pods, verdict }: Findings, now: number): JobStatus {
  const active = pods.filter(isActive);
  const terminating = pods.filter((pod) => isTerminating(pod) && !isFinished(pod)).length;
  const isSettled = active.length === 0 && terminating === 0 && isNothingUncounted(counted.status);
  const ended = verdict !== undefined && isSettled ? endOf(verdict) : undefined;
  const isSuspended = job.spec.suspend === true && verdict === undefined;
  let conditions = suspension(job, { isSuspended, now });
  for (const condition of [verdict, ended]) {
    if (condition !== undefined) conditions = set(conditions, { ...condition, status: "True" }, now);
  }
  const startTime = isSuspended ? undefined : (job.status?.startTime ?? rfc3339(now));
  return {
    ...counted.status,
    active: unlessZero(active.length),
    ready: active.filter(isReady).length,
    terminating,
    startTime,
    ...(ended?.type === "Complete" && { completionTime: rfc3339(now) }),
    conditions: conditions.length === 0 ? undefined : conditions,
  };
}

function isNothingUncounted({ uncountedTerminatedPods: { succeeded = [], failed = [] } = {} }: JobStatus): boolean {
  return succeeded.length + failed.length === 0;
}

function endOf({ type, reason, message }: Verdict): Omit<WorkloadCondition, "status"> {
  return { type: type === "SuccessCriteriaMet" ? "Complete" : "Failed", reason, message };
}

function suspension({ status }: Job, { isSuspended, now }: { isSuspended: boolean; now: number }) {
  const { conditions = [] } = status ?? {};
  if (isSuspended) {
    return set(
      conditions,
      { type: "Suspended", status: "True", reason: "JobSuspended", message: "Job suspended" },
      now,
    );
  }
  if (!isTrue(conditions, "Suspended")) return conditions;
  return set(conditions, { type: "Suspended", status: "False", reason: "JobResumed", message: "Job resumed" }, now);
}

function set(conditions: readonly WorkloadCondition[], condition: WorkloadCondition, now: number) {
  return withCondition(conditions, { ...condition, lastProbeTime: rfc3339(now) }, { now });
}
