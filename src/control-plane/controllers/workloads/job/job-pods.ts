import { isActivePod, isTerminalPod, isTerminatingPod } from "../../../../core/pod-predicates.ts";
import type { ControllerContext } from "../../../../kube/controller.ts";
import type { RequeueAfter } from "../../../../kube/reconciler.ts";
import { builtInTypes } from "../../../../kube/resources.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import { deleteIfExists, newControllerReference } from "../ownership.ts";
import { podFromTemplate } from "../pods.ts";
import { podsToDelete } from "../replica-set/pods-to-delete.ts";
import { maxPodsPerSync, slowStartBatch } from "../slow-start-batch.ts";
import type { Job } from "../types.ts";
import { jobTrackingFinalizer, workloadAnnotations, workloadLabels } from "../workload-labels.ts";
import { remainingBackOffMs, wantedActivePods } from "./job-finish-condition.ts";
import { completionIndexOf, type JobPodCounts } from "./job-pod-counts.ts";

interface JobPods {
  readonly pods: readonly ApiPod[];
  readonly counts: JobPodCounts;
}

/** Creates or deletes pods until the wanted number is active; returns when to retry if a back-off is pending. */
export async function manageJobPods(
  context: ControllerContext,
  job: Job,
  jobPods: JobPods,
): Promise<RequeueAfter | undefined> {
  const now = context.clock.now();
  const active = jobPods.pods.filter(isActivePod);
  const wanted = wantedActivePods(job, { succeeded: jobPods.counts.succeeded, active: active.length });
  const surplus = surplusOf(job, { active, wanted, counts: jobPods.counts, now });
  await deleteJobPods(context, job, surplus);
  // With podReplacementPolicy Failed a terminating pod still occupies its slot.
  const terminating = jobPods.pods.filter((pod) => isTerminatingPod(pod) && !isTerminalPod(pod));
  const occupied = [
    ...active.filter((pod) => !surplus.includes(pod)),
    ...(job.spec.podReplacementPolicy === "Failed" ? terminating : []),
  ];
  const missing = Math.min(wanted - occupied.length, maxPodsPerSync);
  if (missing <= 0) return undefined;
  const waitMs = remainingBackOffMs(job, jobPods.pods, now);
  if (waitMs > 0) return { afterMs: waitMs };
  const indexes = job.spec.completionMode === "Indexed" ? freeIndexes(job, { occupied, missing, jobPods }) : undefined;
  await slowStartBatch(indexes?.length ?? missing, (at) => createJobPod(context, job, indexes?.[at]));
  return undefined;
}

interface SurplusInput {
  readonly active: readonly ApiPod[];
  readonly wanted: number;
  readonly counts: JobPodCounts;
  readonly now: number;
}

/** Pods beyond the wanted number; for indexed Jobs also those of completed, out-of-range or duplicate indexes. */
function surplusOf({ spec }: Job, { active, wanted, counts, now }: SurplusInput): readonly ApiPod[] {
  const seen = new Set<number>();
  const isMisplaced = (pod: ApiPod): boolean => {
    const index = completionIndexOf(pod) ?? -1;
    const isTaken =
      index < 0 || index >= (spec.completions ?? 0) || counts.completedIndexes.has(index) || seen.has(index);
    seen.add(index);
    return isTaken;
  };
  const misplaced = spec.completionMode === "Indexed" ? active.filter(isMisplaced) : [];
  const others = active.filter((pod) => !misplaced.includes(pod));
  const count = Math.max(0, others.length - wanted);
  return [...misplaced, ...podsToDelete(others, { count, now, related: others })];
}

function freeIndexes(
  { spec }: Job,
  {
    occupied,
    missing,
    jobPods,
  }: { readonly occupied: readonly ApiPod[]; readonly missing: number; readonly jobPods: JobPods },
): readonly number[] {
  const taken = new Set([...jobPods.counts.completedIndexes, ...occupied.map(completionIndexOf)]);
  const free: number[] = [];
  for (let index = 0; index < (spec.completions ?? 0) && free.length < missing; index++) {
    if (!taken.has(index)) free.push(index);
  }
  return free;
}

async function createJobPod(context: ControllerContext, job: Job, index: number | undefined): Promise<void> {
  const { name = "", namespace } = job.metadata;
  const { template } = job.spec;
  const common = {
    owner: newControllerReference(builtInTypes.Job, job),
    namespace,
    finalizers: [jobTrackingFinalizer],
  };
  const pod =
    index === undefined
      ? podFromTemplate({ ...common, template, naming: { generateName: `${name}-` } })
      : podFromTemplate({
          ...common,
          template,
          naming: { generateName: `${name}-${index}-` },
          labels: { [workloadLabels.completionIndex]: String(index) },
          annotations: { [workloadAnnotations.completionIndex]: String(index) },
          spec: { hostname: `${name}-${index}`, ...withIndexVariable(template.spec) },
        });
  const made = await context.client.create(builtInTypes.Pod, pod);
  const message = `Created pod: ${made.metadata.name}`;
  context.recordEvent(job, { type: "Normal", reason: "SuccessfulCreate", message });
}

/** Sets JOB_COMPLETION_INDEX in every container. */
function withIndexVariable(spec: ApiPod["spec"]): Partial<ApiPod["spec"]> {
  const path = `metadata.labels['${workloadLabels.completionIndex}']`;
  const variable = { name: "JOB_COMPLETION_INDEX", valueFrom: { fieldRef: { fieldPath: path } } };
  const add = <C extends object>(container: C): C => {
    const { env = [] } = container as { readonly env?: readonly { readonly name: string }[] };
    const isThere = env.some(({ name }) => name === variable.name);
    return isThere ? container : { ...container, env: [...env, variable] };
  };
  const { containers = [], initContainers } = spec;
  return {
    containers: containers.map(add),
    ...(initContainers !== undefined && { initContainers: initContainers.map(add) }),
  };
}

export async function deleteJobPods(context: ControllerContext, job: Job, pods: readonly ApiPod[]): Promise<void> {
  for (const pod of pods) {
    await deleteIfExists(context, builtInTypes.Pod, pod);
    const message = `Deleted pod: ${pod.metadata.name}`;
    context.recordEvent(job, { type: "Normal", reason: "SuccessfulDelete", message });
  }
}
