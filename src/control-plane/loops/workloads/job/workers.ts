import type { LoopWorld } from "../../../../kube/loop.ts";
import type { LookAgain } from "../../../../kube/reconciler.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { slowStart } from "../batches.ts";
import { jobTrackingFinalizer, workloadAnnotations, workloadLabels } from "../names.ts";
import { controlledBy, keyOf, orGone } from "../ownership.ts";
import { isActive, isFinished, isTerminating, podFrom } from "../pods.ts";
import { victims } from "../replica-set/victims.ts";
import type { Job, LivePod } from "../types.ts";
import { type Account, indexOf } from "./accounting.ts";
import { backOffLeftMs, wantedActive } from "./verdict.ts";

const burst = 500;

interface Workers {
  readonly pods: readonly LivePod[];
  readonly account: Account;
}

/** Makes pods or deletes some until as many work as should; says when, if it has to wait after failures. */
export async function adjustPods(world: LoopWorld, job: Job, workers: Workers): Promise<LookAgain | undefined> {
  const now = world.clock.now();
  const active = workers.pods.filter(isActive);
  const wanted = wantedActive(job, { succeeded: workers.account.succeeded, active: active.length });
  const surplus = surplusOf(job, { active, wanted, account: workers.account, now });
  await deletePods(world, job, surplus);
  // Where the Job waits for how a pod ends, one that stops still holds its place.
  const stopping = workers.pods.filter((pod) => isTerminating(pod) && !isFinished(pod));
  const held = [
    ...active.filter((pod) => !surplus.includes(pod)),
    ...(job.spec.podReplacementPolicy === "Failed" ? stopping : []),
  ];
  const missing = Math.min(wanted - held.length, burst);
  if (missing <= 0) return undefined;
  const waitMs = backOffLeftMs(job, workers.pods, now);
  if (waitMs > 0) return { afterMs: waitMs };
  const indexes = job.spec.completionMode === "Indexed" ? freeIndexes(job, { held, missing, workers }) : undefined;
  await slowStart(indexes?.length ?? missing, (at) => createPod(world, job, indexes?.[at]));
  return undefined;
}

interface Surplus {
  readonly active: readonly LivePod[];
  readonly wanted: number;
  readonly account: Account;
  readonly now: number;
}

/** Too many; of an index that is done, is beyond the end, or has another pod. */
function surplusOf({ spec }: Job, { active, wanted, account, now }: Surplus): readonly LivePod[] {
  const seen = new Set<number>();
  const isMisplaced = (pod: LivePod): boolean => {
    const index = indexOf(pod) ?? -1;
    const isTaken = index < 0 || index >= (spec.completions ?? 0) || account.completed.has(index) || seen.has(index);
    seen.add(index);
    return isTaken;
  };
  const misplaced = spec.completionMode === "Indexed" ? active.filter(isMisplaced) : [];
  const others = active.filter((pod) => !misplaced.includes(pod));
  const count = Math.max(0, others.length - wanted);
  return [...misplaced, ...victims(others, { count, now, related: others })];
}

function freeIndexes(
  { spec }: Job,
  {
    held,
    missing,
    workers,
  }: { readonly held: readonly LivePod[]; readonly missing: number; readonly workers: Workers },
): readonly number[] {
  const taken = new Set([...workers.account.completed, ...held.map(indexOf)]);
  const free: number[] = [];
  for (let index = 0; index < (spec.completions ?? 0) && free.length < missing; index++) {
    if (!taken.has(index)) free.push(index);
  }
  return free;
}

async function createPod(world: LoopWorld, job: Job, index: number | undefined): Promise<void> {
  const { name = "", namespace } = job.metadata;
  const { template } = job.spec;
  const common = {
    owner: controlledBy(builtIn.Job, job),
    namespace,
    finalizers: [jobTrackingFinalizer],
  };
  const pod =
    index === undefined
      ? podFrom({ ...common, template, naming: { generateName: `${name}-` } })
      : podFrom({
          ...common,
          template,
          naming: { generateName: `${name}-${index}-` },
          labels: { [workloadLabels.completionIndex]: String(index) },
          annotations: { [workloadAnnotations.completionIndex]: String(index) },
          spec: { hostname: `${name}-${index}`, ...withIndexVariable(template.spec) },
        });
  const made = await world.client.create(builtIn.Pod, pod);
  const message = `Created pod: ${made.metadata.name}`;
  world.tell(job, { type: "Normal", reason: "SuccessfulCreate", message });
}

/** Containers learn their index from the environment. */
function withIndexVariable(spec: LivePod["spec"]): Partial<LivePod["spec"]> {
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

export async function deletePods(world: LoopWorld, job: Job, pods: readonly LivePod[]): Promise<void> {
  for (const pod of pods) {
    const { uid = "", name } = pod.metadata;
    await orGone(world.client.delete(builtIn.Pod, keyOf(pod), { preconditions: { uid } }));
    world.tell(job, { type: "Normal", reason: "SuccessfulDelete", message: `Deleted pod: ${name}` });
  }
}
