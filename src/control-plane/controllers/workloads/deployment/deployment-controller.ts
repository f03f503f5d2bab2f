import { isTerminalPod } from "../../../../core/pod-predicates.ts";
import { type ControllerContext, reconcileController, triggerOn } from "../../../../kube/controller.ts";
import type { RequeueAfter } from "../../../../kube/reconciler.ts";
import { builtInTypes } from "../../../../kube/resources.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import {
  claimChildren,
  controllerReferenceOf,
  deleteIfExists,
  ignoreNamespaceTerminating,
  workloadTriggers,
} from "../ownership.ts";
import type { Deployment, ReplicaSet } from "../types.ts";
import { workloadAnnotations } from "../workload-labels.ts";
import { updateLatestStatus, updateStatusIfChanged, withWorkloadCondition } from "../workload-status.ts";
import { ensureNewReplicaSet, hasOldPods, scaleReplicaSets } from "./new-replica-set.ts";
import { annotatedNumber, findNewReplicaSet, replicaSetCreatedAt, setsBeyondHistory } from "./replica-set-revisions.ts";
import {
  countedStatus,
  type DeploymentRollout,
  deadlineCheckMs,
  isRolloutComplete,
  pauseCondition,
  rolloutSpec,
  rolloutStatus,
} from "./rollout-progress.ts";
import {
  byAge,
  newReplicaSetSize,
  oldReplicaSetSizes,
  proportionalSizes,
  type ReplicaSetSize,
  type ReplicaSetSizes,
} from "./rollout-sizes.ts";

/** Rolls Deployments out through ReplicaSets. (05:CP-L1) */
export const deploymentController = reconcileController({
  name: "deployment-controller",
  triggers: [
    ...workloadTriggers(builtInTypes.Deployment, builtInTypes.ReplicaSet),
    // Recreate waits until the last pod of the old version is gone.
    triggerOn<ApiPod>(builtInTypes.Pod, ({ object, old }, context) => {
      const pod = object ?? old;
      return object === undefined || isTerminalPod(pod) ? recreateDeploymentKey(pod, context) : [];
    }),
  ],
  reconcile: reconcileDeployment,
});

function recreateDeploymentKey(pod: ApiPod, context: ControllerContext): readonly string[] {
  const { namespace } = pod.metadata;
  const set = context.view<ReplicaSet>(builtInTypes.ReplicaSet).get(`${namespace}/${controllerReferenceOf(pod)?.name}`);
  const owner = set === undefined ? undefined : controllerReferenceOf(set);
  if (owner?.kind !== "Deployment") return [];
  const deployment = context.view<Deployment>(builtInTypes.Deployment).get(`${namespace}/${owner.name}`);
  return deployment?.spec.strategy?.type === "Recreate" ? [`${namespace}/${owner.name}`] : [];
}

async function reconcileDeployment(key: string, context: ControllerContext): Promise<RequeueAfter | undefined> {
  const deployment = context.view<Deployment>(builtInTypes.Deployment).get(key);
  return deployment === undefined ? undefined : ignoreNamespaceTerminating(syncDeployment(context, deployment));
}

async function syncDeployment(context: ControllerContext, deployment: Deployment): Promise<RequeueAfter | undefined> {
  const rollout = await readRollout(context, deployment);
  if (deployment.metadata.deletionTimestamp !== undefined) return writeCountedStatus(context, rollout);
  const pause = pauseCondition(deployment);
  if (pause !== undefined) {
    const now = context.clock.now();
    const conditions = withWorkloadCondition(deployment.status?.conditions, pause, { now, hasUpdateTime: true });
    await updateStatusIfChanged(context, builtInTypes.Deployment, {
      object: deployment,
      status: { ...deployment.status, conditions },
    });
    return undefined; // our own write triggers the next reconcile
  }
  if (deployment.spec.paused === true || isScalingEvent(rollout)) return scaleWithoutRollout(context, rollout);
  const ready = await ensureNewReplicaSet(context, rollout);
  if (ready === undefined) return undefined;
  return deployment.spec.strategy?.type === "Recreate"
    ? rolloutRecreate(context, ready)
    : rolloutRolling(context, ready);
}

async function readRollout(context: ControllerContext, deployment: Deployment): Promise<DeploymentRollout> {
  const sets = await claimChildren<ReplicaSet>(context, {
    type: builtInTypes.ReplicaSet,
    owner: deployment,
    ownerType: builtInTypes.Deployment,
  });
  const newReplicaSet = findNewReplicaSet(deployment, sets);
  return { deployment, newReplicaSet, old: sets.filter((set) => set !== newReplicaSet) };
}

function allSets({ newReplicaSet, old }: DeploymentRollout): readonly ReplicaSet[] {
  return newReplicaSet === undefined ? old : [...old, newReplicaSet];
}

function isScalingEvent(rollout: DeploymentRollout): boolean {
  const wanted = rollout.deployment.spec.replicas ?? 1;
  return allSets(rollout).some((set) => {
    const before = annotatedNumber(set, workloadAnnotations.desiredReplicas);
    return (set.spec.replicas ?? 0) > 0 && before !== undefined && before !== wanted;
  });
}

/** The Deployment was paused or scaled: sizes change, the template does not. */
async function scaleWithoutRollout(
  context: ControllerContext,
  rollout: DeploymentRollout,
): Promise<RequeueAfter | undefined> {
  const { deployment } = rollout;
  const sizes = sizesAfterScaling(rollout);
  const scaled = await scaleReplicaSets(context, { deployment, sets: allSets(rollout), sizes });
  if (deployment.spec.paused === true) await deleteSetsBeyondHistory(context, rollout);
  return writeCountedStatus(context, withUpdatedSets(rollout, scaled));
}

function sizesAfterScaling(rollout: DeploymentRollout): ReplicaSetSizes {
  const { deployment, newReplicaSet, old } = rollout;
  const spec = rolloutSpec(deployment);
  const all = allSets(rollout).map(replicaSetSize);
  const active = all.filter(({ replicas }) => replicas > 0);
  const currentNewSize = newReplicaSet === undefined ? undefined : replicaSetSize(newReplicaSet);
  const only = active.length > 1 ? undefined : (active[0] ?? currentNewSize ?? [...all].sort(byAge).at(-1));
  if (only !== undefined) return new Map([[only.name, spec.replicas]]);
  if (isSaturated(newReplicaSet, spec.replicas)) return new Map(old.map((set) => [set.metadata.name ?? "", 0]));
  return spec.strategy === "RollingUpdate" ? proportionalSizes(spec, withMaxReplicas(active, deployment)) : new Map();
}

/** Sets without the max-replicas annotation are measured against the Deployment's current replicas. */
function withMaxReplicas(sets: readonly ReplicaSetSize[], { status }: Deployment): readonly ReplicaSetSize[] {
  return sets.map((set) => ({ ...set, maxReplicas: set.maxReplicas || status?.replicas }));
}

function isSaturated(set: ReplicaSet | undefined, wanted: number): boolean {
  return (
    set?.spec.replicas === wanted &&
    annotatedNumber(set, workloadAnnotations.desiredReplicas) === wanted &&
    (set.status?.availableReplicas ?? 0) === wanted
  );
}

async function rolloutRolling(
  context: ControllerContext,
  rollout: DeploymentRollout,
): Promise<RequeueAfter | undefined> {
  const { deployment, newReplicaSet, old } = rollout;
  const spec = rolloutSpec(deployment);
  const [currentNewSize, oldSizes] = [newReplicaSet && replicaSetSize(newReplicaSet), old.map(replicaSetSize)];
  const wanted = newReplicaSetSize(spec, currentNewSize, oldSizes);
  const isGrowing = newReplicaSet !== undefined && wanted !== newReplicaSet.spec.replicas;
  const sizes = isGrowing
    ? new Map([[newReplicaSet.metadata.name ?? "", wanted]])
    : oldReplicaSetSizes(spec, currentNewSize, oldSizes);
  const scaled = await scaleReplicaSets(context, { deployment, sets: allSets(rollout), sizes });
  return writeRolloutStatus(context, withUpdatedSets(rollout, scaled));
}

async function rolloutRecreate(
  context: ControllerContext,
  rollout: DeploymentRollout,
): Promise<RequeueAfter | undefined> {
  const { deployment, newReplicaSet, old } = rollout;
  const active = old.filter(({ spec }) => (spec.replicas ?? 0) > 0);
  if (active.length > 0) {
    const sizes = new Map(active.map((set) => [set.metadata.name ?? "", 0]));
    const scaled = await scaleReplicaSets(context, { deployment, sets: old, sizes });
    return writeRolloutStatus(context, withUpdatedSets(rollout, scaled));
  }
  if (hasOldPods(context, old)) return writeRolloutStatus(context, rollout); // two versions never run side by side
  if (newReplicaSet !== undefined && newReplicaSet.spec.replicas !== (deployment.spec.replicas ?? 1)) {
    const sizes = new Map([[newReplicaSet.metadata.name ?? "", deployment.spec.replicas ?? 1]]);
    const scaled = await scaleReplicaSets(context, { deployment, sets: [newReplicaSet], sizes });
    return writeRolloutStatus(context, withUpdatedSets(rollout, scaled));
  }
  return writeRolloutStatus(context, rollout);
}

function withUpdatedSets(
  { deployment, newReplicaSet, old }: DeploymentRollout,
  scaled: readonly ReplicaSet[],
): DeploymentRollout {
  const latest = (set: ReplicaSet) => scaled.find(({ metadata }) => metadata.uid === set.metadata.uid) ?? set;
  return { deployment, newReplicaSet: newReplicaSet && latest(newReplicaSet), old: old.map(latest) };
}

async function writeCountedStatus(context: ControllerContext, rollout: DeploymentRollout): Promise<undefined> {
  const status = countedStatus({ ...rollout, now: context.clock.now() });
  await updateLatestStatus(context, builtInTypes.Deployment, { object: rollout.deployment, status });
}

async function writeRolloutStatus(
  context: ControllerContext,
  rollout: DeploymentRollout,
): Promise<RequeueAfter | undefined> {
  const { deployment } = rollout;
  const now = context.clock.now();
  const status = rolloutStatus({ ...rollout, now });
  if (isRolloutComplete(deployment, status)) await deleteSetsBeyondHistory(context, rollout);
  await updateLatestStatus(context, builtInTypes.Deployment, { object: deployment, status });
  const afterMs = deadlineCheckMs(deployment, status, now);
  return afterMs === undefined ? undefined : { afterMs };
}

async function deleteSetsBeyondHistory(
  context: ControllerContext,
  { deployment, old }: DeploymentRollout,
): Promise<void> {
  for (const set of setsBeyondHistory(deployment, old)) await deleteIfExists(context, builtInTypes.ReplicaSet, set);
}

function replicaSetSize(set: ReplicaSet): ReplicaSetSize {
  return {
    name: set.metadata.name ?? "",
    replicas: set.spec.replicas ?? 0,
    available: set.status?.availableReplicas ?? 0,
    createdAt: replicaSetCreatedAt(set),
    maxReplicas: annotatedNumber(set, workloadAnnotations.maxReplicas),
  };
}
