import { type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import type { LookAgain } from "../../../../kube/reconciler.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { workloadAnnotations } from "../names.ts";
import { claimed, controllerOf, isNamespaceLeaving, itself, keyOf, orGone, ownersOf, settled } from "../ownership.ts";
import { isFinished } from "../pods.ts";
import { withCondition, writeStatus } from "../status.ts";
import type { Deployment, DeploymentStatus, LivePod, ReplicaSet } from "../types.ts";
import { ensureNewSet, hasOldPods, scaleSets } from "./new-set.ts";
import { countedStatus, deadlineCheckMs, isComplete, pauseCondition, rolloutSpec, rolloutStatus } from "./progress.ts";
import { annotatedNumber, createdAt, newSetOf, outdated } from "./revisions.ts";
import { byAge, newSetSize, oldSetSizes, proportionalSizes, type SetSize, type Sizes } from "./rollout.ts";

/** Rolls Deployments out through ReplicaSets. (05:CP-L1) */
export const deploymentLoop = reconcileLoop({
  name: "deployment-controller",
  triggers: [
    on(builtIn.Deployment, itself),
    on<ReplicaSet>(
      builtIn.ReplicaSet,
      (change, world) => ownersOf(change, { world, ownerType: builtIn.Deployment }),
      settled,
    ),
    // Recreate waits for the last pod of the old version.
    on<LivePod>(builtIn.Pod, ({ object, old }, world) => {
      const pod = object ?? old;
      return object === undefined || isFinished(pod) ? deploymentOf(pod, world) : [];
    }),
  ],
  reconcile: reconcileDeployment,
});

function deploymentOf(pod: LivePod, world: LoopWorld): readonly string[] {
  const { namespace } = pod.metadata;
  const set = world.view<ReplicaSet>(builtIn.ReplicaSet).get(`${namespace}/${controllerOf(pod)?.name}`);
  const owner = set === undefined ? undefined : controllerOf(set);
  if (owner?.kind !== "Deployment") return [];
  const deployment = world.view<Deployment>(builtIn.Deployment).get(`${namespace}/${owner.name}`);
  return deployment?.spec.strategy?.type === "Recreate" ? [`${namespace}/${owner.name}`] : [];
}

/** A Deployment and its sets as they are now. */
interface Situation {
  readonly deployment: Deployment;
  readonly fresh: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

async function reconcileDeployment(key: string, world: LoopWorld): Promise<LookAgain | undefined> {
  const deployment = world.view<Deployment>(builtIn.Deployment).get(key);
  if (deployment === undefined) return undefined;
  try {
    return await advance(world, deployment);
  } catch (error) {
    if (isNamespaceLeaving(error)) return undefined;
    throw error;
  }
}

async function advance(world: LoopWorld, deployment: Deployment): Promise<LookAgain | undefined> {
  const situation = await look(world, deployment);
  if (deployment.metadata.deletionTimestamp !== undefined) return tellCounts(world, situation);
  const pause = pauseCondition(deployment);
  if (pause !== undefined) {
    const now = world.clock.now();
    const conditions = withCondition(deployment.status?.conditions, pause, { now, hasUpdateTime: true });
    await writeStatus(world, builtIn.Deployment, { object: deployment, status: { ...deployment.status, conditions } });
    return undefined; // our own write brings us back
  }
  if (deployment.spec.paused === true || wasScaled(situation)) return resize(world, situation);
  const ready = await ensureNewSet(world, situation);
  if (ready === undefined) return undefined;
  return deployment.spec.strategy?.type === "Recreate" ? recreate(world, ready) : roll(world, ready);
}

async function look(world: LoopWorld, deployment: Deployment): Promise<Situation> {
  const sets = await claimed<ReplicaSet>(world, {
    type: builtIn.ReplicaSet,
    owner: deployment,
    ownerType: builtIn.Deployment,
  });
  const fresh = newSetOf(deployment, sets);
  return { deployment, fresh, old: sets.filter((set) => set !== fresh) };
}

function wasScaled({ deployment, fresh, old }: Situation): boolean {
  const wanted = deployment.spec.replicas ?? 1;
  return [...old, ...(fresh === undefined ? [] : [fresh])].some((set) => {
    const before = annotatedNumber(set, workloadAnnotations.desiredReplicas);
    return (set.spec.replicas ?? 0) > 0 && before !== undefined && before !== wanted;
  });
}

/** The Deployment was paused or scaled: sizes change, versions do not. */
async function resize(world: LoopWorld, situation: Situation): Promise<LookAgain | undefined> {
  const { deployment, fresh, old } = situation;
  const sizes = sizesAfterScaling(situation);
  const scaled = await scaleSets(world, { deployment, sets: [...old, ...(fresh ? [fresh] : [])], sizes });
  if (deployment.spec.paused === true) await cleanUp(world, situation);
  return tellCounts(world, refreshed(situation, scaled));
}

function sizesAfterScaling({ deployment, fresh, old }: Situation): Sizes {
  const spec = rolloutSpec(deployment);
  const all = [...old, ...(fresh === undefined ? [] : [fresh])].map(sizeOf);
  const active = all.filter(({ replicas }) => replicas > 0);
  const freshSize = fresh === undefined ? undefined : sizeOf(fresh);
  const only = active.length > 1 ? undefined : (active[0] ?? freshSize ?? [...all].sort(byAge).at(-1));
  if (only !== undefined) return new Map([[only.name, spec.replicas]]);
  if (isSaturated(fresh, spec.replicas)) return new Map(old.map((set) => [set.metadata.name ?? "", 0]));
  return spec.strategy === "RollingUpdate" ? proportionalSizes(spec, withShares(active, deployment)) : new Map();
}

/** Sets that do not say what they were a share of are measured by what there is. */
function withShares(sets: readonly SetSize[], { status }: Deployment): readonly SetSize[] {
  return sets.map((set) => ({ ...set, maxReplicas: set.maxReplicas || status?.replicas }));
}

function isSaturated(set: ReplicaSet | undefined, wanted: number): boolean {
  if (set === undefined || annotatedNumber(set, workloadAnnotations.desiredReplicas) === undefined) return false;
  return (
    set.spec.replicas === wanted &&
    annotatedNumber(set, workloadAnnotations.desiredReplicas) === wanted &&
    (set.status?.availableReplicas ?? 0) === wanted
  );
}

async function roll(world: LoopWorld, situation: Situation): Promise<LookAgain | undefined> {
  const { deployment, fresh, old } = situation;
  const spec = rolloutSpec(deployment);
  const [freshSize, oldSizes] = [fresh && sizeOf(fresh), old.map(sizeOf)];
  const wanted = newSetSize(spec, freshSize, oldSizes);
  const isGrowing = fresh !== undefined && wanted !== fresh.spec.replicas;
  const sizes = isGrowing ? new Map([[fresh.metadata.name ?? "", wanted]]) : oldSetSizes(spec, freshSize, oldSizes);
  const scaled = await scaleSets(world, { deployment, sets: [...old, ...(fresh ? [fresh] : [])], sizes });
  return tellProgress(world, refreshed(situation, scaled));
}

async function recreate(world: LoopWorld, situation: Situation): Promise<LookAgain | undefined> {
  const { deployment, fresh, old } = situation;
  const active = old.filter(({ spec }) => (spec.replicas ?? 0) > 0);
  if (active.length > 0) {
    const sizes = new Map(active.map((set) => [set.metadata.name ?? "", 0]));
    const scaled = await scaleSets(world, { deployment, sets: old, sizes });
    return tellProgress(world, refreshed(situation, scaled));
  }
  if (hasOldPods(world, old)) return tellProgress(world, situation); // two versions never run side by side
  if (fresh !== undefined && fresh.spec.replicas !== (deployment.spec.replicas ?? 1)) {
    const sizes = new Map([[fresh.metadata.name ?? "", deployment.spec.replicas ?? 1]]);
    const scaled = await scaleSets(world, { deployment, sets: [fresh], sizes });
    return tellProgress(world, refreshed(situation, scaled));
  }
  return tellProgress(world, situation);
}

function refreshed({ deployment, fresh, old }: Situation, scaled: readonly ReplicaSet[]): Situation {
  const latest = (set: ReplicaSet) => scaled.find(({ metadata }) => metadata.uid === set.metadata.uid) ?? set;
  return { deployment, fresh: fresh && latest(fresh), old: old.map(latest) };
}

async function tellCounts(world: LoopWorld, situation: Situation): Promise<undefined> {
  const status = countedStatus({ ...situation, now: world.clock.now() });
  await write(world, situation.deployment, status);
}

async function tellProgress(world: LoopWorld, situation: Situation): Promise<LookAgain | undefined> {
  const { deployment } = situation;
  const now = world.clock.now();
  const status = rolloutStatus({ ...situation, now });
  if (isComplete(deployment, status)) await cleanUp(world, situation);
  await write(world, deployment, status);
  const afterMs = deadlineCheckMs(deployment, status, now);
  return afterMs === undefined ? undefined : { afterMs };
}

/** Over the Deployment as it is by now: we may have noted its revision a moment ago. */
async function write(world: LoopWorld, { metadata }: Deployment, status: DeploymentStatus): Promise<void> {
  const latest = world.view<Deployment>(builtIn.Deployment).get(`${metadata.namespace}/${metadata.name}`);
  if (latest !== undefined) await writeStatus(world, builtIn.Deployment, { object: latest, status });
}

/** Forgets revisions beyond the history that is kept. */
async function cleanUp(world: LoopWorld, { deployment, old }: Situation): Promise<void> {
  for (const set of outdated(deployment, old)) {
    const { uid = "" } = set.metadata;
    await orGone(world.client.delete(builtIn.ReplicaSet, keyOf(set), { preconditions: { uid } }));
  }
}

function sizeOf(set: ReplicaSet): SetSize {
  return {
    name: set.metadata.name ?? "",
    replicas: set.spec.replicas ?? 0,
    available: set.status?.availableReplicas ?? 0,
    createdAt: createdAt(set),
    maxReplicas: annotatedNumber(set, workloadAnnotations.maxReplicas),
  };
}
