import { compileSelector } from "../../../../core/label-selector.ts";
import { type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import type { LookAgain } from "../../../../kube/reconciler.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { slowStart } from "../batches.ts";
import {
  claimed,
  controlledBy,
  controllerOf,
  isNamespaceLeaving,
  itself,
  keyOf,
  orGone,
  ownersOf,
  settled,
} from "../ownership.ts";
import { isActive, isAvailable, isFinished, isReady, isTerminating, nextAvailableMs, podFrom } from "../pods.ts";
import { unlessZero, withCondition, without, writeStatus } from "../status.ts";
import type { LivePod, ReplicaSet, ReplicaSetStatus } from "../types.ts";
import { victims } from "./victims.ts";

/** As many at a time as Kubernetes makes or deletes before it looks again. */
const burst = 500;

/** Keeps as many pods as each ReplicaSet wants. (05:CP-L2) */
export const replicaSetLoop = reconcileLoop({
  name: "replicaset-controller",
  triggers: [
    on(builtIn.ReplicaSet, itself),
    on<LivePod>(builtIn.Pod, (change, world) => ownersOf(change, { world, ownerType: builtIn.ReplicaSet }), settled),
  ],
  reconcile: reconcileReplicaSet,
});

async function reconcileReplicaSet(key: string, world: LoopWorld): Promise<LookAgain | undefined> {
  const set = world.view<ReplicaSet>(builtIn.ReplicaSet).get(key);
  if (set === undefined) return undefined;
  const pods = await podsOf(world, set);
  const failure = set.metadata.deletionTimestamp === undefined ? await adjust(world, set, pods) : undefined;
  const now = world.clock.now();
  const isChanged = pods.length !== (set.spec.replicas ?? 1);
  const current = isChanged ? await podsOf(world, set) : pods;
  // Scaled in the meantime: what we say is still of the generation we looked at.
  const latest = world.view<ReplicaSet>(builtIn.ReplicaSet).get(key);
  if (latest === undefined) return undefined;
  const terminating = terminatingPods(world, set);
  const status = statusOf(set, current, { now, failure, terminating });
  await writeStatus(world, builtIn.ReplicaSet, { object: latest, status });
  if (failure !== undefined) throw failure.error;
  const afterMs = nextAvailableMs(current, { minReadySeconds: set.spec.minReadySeconds, now });
  return afterMs === undefined ? undefined : { afterMs };
}

function podsOf(world: LoopWorld, set: ReplicaSet): Promise<readonly LivePod[]> {
  return claimed<LivePod>(world, {
    type: builtIn.Pod,
    owner: set,
    ownerType: builtIn.ReplicaSet,
    among: isActive,
  });
}

function terminatingPods(world: LoopWorld, { metadata, spec }: ReplicaSet): number {
  const selector = compileSelector(spec.selector);
  const pods = world.view<LivePod>(builtIn.Pod).controlledBy(metadata.uid);
  return pods.filter((pod) => isTerminating(pod) && !isFinished(pod) && selector.matches(pod.metadata.labels)).length;
}

interface Failure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly error: unknown;
}

async function adjust(world: LoopWorld, set: ReplicaSet, pods: readonly LivePod[]): Promise<Failure | undefined> {
  const missing = (set.spec.replicas ?? 1) - pods.length;
  try {
    if (missing > 0) await slowStart(Math.min(missing, burst), () => createPod(world, set));
    else if (missing < 0) await deletePods(world, set, { pods, count: Math.min(-missing, burst) });
    return undefined;
  } catch (error) {
    // Nothing can be made where the namespace is going: it is no failure, and no use to try again. (05:CP-L8)
    if (isNamespaceLeaving(error)) return undefined;
    return { reason: missing > 0 ? "FailedCreate" : "FailedDelete", error };
  }
}

async function createPod(world: LoopWorld, set: ReplicaSet): Promise<void> {
  const { name = "", namespace } = set.metadata;
  const pod = podFrom({
    template: set.spec.template,
    owner: controlledBy(builtIn.ReplicaSet, set),
    namespace,
    naming: { generateName: `${name}-` },
  });
  try {
    const made = await world.client.create(builtIn.Pod, pod);
    const message = `Created pod: ${made.metadata.name}`;
    world.tell(set, { type: "Normal", reason: "SuccessfulCreate", message });
  } catch (error) {
    const message = `Error creating: ${error instanceof Error ? error.message : String(error)}`;
    world.tell(set, { type: "Warning", reason: "FailedCreate", message });
    throw error;
  }
}

async function deletePods(
  world: LoopWorld,
  set: ReplicaSet,
  { pods, count }: { readonly pods: readonly LivePod[]; readonly count: number },
): Promise<void> {
  const now = world.clock.now();
  for (const pod of victims(pods, { count, now, related: relatedTo(world, set) })) {
    const { uid = "", name } = pod.metadata;
    await orGone(world.client.delete(builtIn.Pod, keyOf(pod), { preconditions: { uid } }));
    world.tell(set, { type: "Normal", reason: "SuccessfulDelete", message: `Deleted pod: ${name}` });
  }
}

/** Pods of the set, and of the others its owner has. */
function relatedTo(world: LoopWorld, set: ReplicaSet): readonly LivePod[] {
  const owner = controllerOf(set);
  const sets = owner === undefined ? [set] : world.view<ReplicaSet>(builtIn.ReplicaSet).controlledBy(owner.uid);
  return sets.flatMap(({ metadata }) => world.view<LivePod>(builtIn.Pod).controlledBy(metadata.uid));
}

/** What `status` has to say of these pods. */
export function statusOf(
  set: ReplicaSet,
  pods: readonly LivePod[],
  {
    now,
    failure,
    terminating,
  }: { readonly now: number; readonly failure: Failure | undefined; readonly terminating: number },
): ReplicaSetStatus {
  const { minReadySeconds, template } = set.spec;
  const labels = compileSelector({ matchLabels: template.metadata?.labels ?? {} });
  const message = failure?.error instanceof Error ? failure.error.message : String(failure?.error);
  const before = set.status?.conditions;
  const conditions =
    failure === undefined
      ? without(before, "ReplicaFailure")
      : withCondition(before, { type: "ReplicaFailure", status: "True", reason: failure.reason, message }, { now });
  return {
    replicas: pods.length,
    fullyLabeledReplicas: unlessZero(pods.filter(({ metadata }) => labels.matches(metadata.labels)).length),
    readyReplicas: unlessZero(pods.filter(isReady).length),
    availableReplicas: unlessZero(pods.filter((pod) => isAvailable(pod, { minReadySeconds, now })).length),
    terminatingReplicas: terminating,
    observedGeneration: set.metadata.generation,
    conditions: conditions.length === 0 ? undefined : conditions,
  };
}
