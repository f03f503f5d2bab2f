import { isSameJson } from "../../../../api/json.ts";
import { isTerminalPod } from "../../../../core/pod-predicates.ts";
import type { ControllerContext } from "../../../../kube/controller.ts";
import { isKubeError } from "../../../../kube/kube-error.ts";
import { builtInTypes } from "../../../../kube/resources.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import { isControlledBy, namespacedNameOf, newControllerReference } from "../ownership.ts";
import { sum } from "../scaled-value.ts";
import { templateHash } from "../template-hash.ts";
import type { Deployment, ReplicaSet, WorkloadCondition } from "../types.ts";
import { workloadAnnotations, workloadLabels } from "../workload-labels.ts";
import { findWorkloadCondition, updateStatusIfChanged, withWorkloadCondition } from "../workload-status.ts";
import { newSetAnnotations, replicaSetRevision, sizeAnnotations, templateIdentity } from "./replica-set-revisions.ts";
import {
  type DeploymentRollout,
  progressCondition,
  progressDeadlineMs,
  progressReasons,
  rolloutSpec,
} from "./rollout-progress.ts";
import { newReplicaSetSize, type ReplicaSetSizes } from "./rollout-sizes.ts";

/** Returns the rollout with a ReplicaSet for the current template; undefined if a write must be observed first. */
export async function ensureNewReplicaSet(
  context: ControllerContext,
  rollout: DeploymentRollout,
): Promise<DeploymentRollout | undefined> {
  const { deployment, newReplicaSet, old } = rollout;
  const revision = Math.max(0, ...old.map(replicaSetRevision)) + 1;
  if (newReplicaSet === undefined) {
    // With Recreate two versions never run side by side: the old pods must be gone first.
    const mustWait =
      deployment.spec.strategy?.type === "Recreate" && (totalReplicas(old) > 0 || hasOldPods(context, old));
    if (mustWait) return rollout;
    return createNewReplicaSet(context, rollout, revision);
  }
  const annotations = newSetAnnotations(deployment, newReplicaSet, revision);
  const { minReadySeconds } = deployment.spec;
  if (
    !isSameJson(annotations, newReplicaSet.metadata.annotations) ||
    minReadySeconds !== newReplicaSet.spec.minReadySeconds
  ) {
    const spec = { ...newReplicaSet.spec, minReadySeconds };
    const updated = await context.client.update<ReplicaSet>(builtInTypes.ReplicaSet, {
      ...newReplicaSet,
      metadata: { ...newReplicaSet.metadata, annotations },
      spec,
    });
    return { deployment: await writeRevisionAnnotation(context, deployment, updated), newReplicaSet: updated, old };
  }
  const annotated = await writeRevisionAnnotation(context, deployment, newReplicaSet);
  if (findWorkloadCondition(annotated.status?.conditions, "Progressing") !== undefined)
    return { ...rollout, deployment: annotated };
  const message = `Found new replica set "${newReplicaSet.metadata.name}"`;
  const progress = progressCondition("True", progressReasons.newSetFound, message);
  return { ...rollout, deployment: await writeProgressCondition(context, annotated, progress) };
}

function totalReplicas(sets: readonly ReplicaSet[]): number {
  return sum(sets, ({ spec }) => spec.replicas);
}

/** Whether a pod of an old version may still be running, terminating ones included. */
export function hasOldPods(context: ControllerContext, old: readonly ReplicaSet[]): boolean {
  const pods = context.view<ApiPod>(builtInTypes.Pod);
  return old.some(({ metadata }) => pods.controlledBy(metadata.uid).some((pod) => !isTerminalPod(pod)));
}

async function createNewReplicaSet(
  context: ControllerContext,
  rollout: DeploymentRollout,
  revision: number,
): Promise<DeploymentRollout | undefined> {
  const { deployment, old } = rollout;
  const wanted = buildReplicaSet(rollout, revision);
  try {
    const newReplicaSet = await context.client.create<ReplicaSet>(builtInTypes.ReplicaSet, wanted);
    recordScalingEvent(context, deployment, { set: newReplicaSet, from: 0, to: newReplicaSet.spec.replicas ?? 0 });
    const annotated = await writeRevisionAnnotation(context, deployment, newReplicaSet);
    const message = `Created new replica set "${newReplicaSet.metadata.name}"`;
    const progress = progressCondition("True", progressReasons.newSetCreated, message);
    return { deployment: await writeProgressCondition(context, annotated, progress), newReplicaSet, old };
  } catch (error) {
    if (isKubeError(error, "already-exists")) return handleNameCollision(context, deployment, wanted);
    if (isKubeError(error)) {
      const message = `Failed to create new replica set "${wanted.metadata.name}": ${error.message}`;
      const progress = progressCondition("False", progressReasons.failedCreate, message);
      await writeProgressCondition(context, deployment, progress);
    }
    throw error;
  }
}

function buildReplicaSet({ deployment, old }: DeploymentRollout, revision: number): ReplicaSet {
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = templateHash(template, deployment.status?.collisionCount);
  const hashLabel = { [workloadLabels.podTemplateHash]: hash };
  const labels = { ...template.metadata?.labels, ...hashLabel };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      namespace: deployment.metadata.namespace,
      labels,
      annotations: newSetAnnotations(deployment, undefined, revision),
      ownerReferences: [newControllerReference(builtInTypes.Deployment, deployment)],
    },
    spec: {
      replicas: newReplicaSetSize(
        rolloutSpec(deployment),
        undefined,
        old.map(({ metadata, spec }) => ({
          name: metadata.name ?? "",
          replicas: spec.replicas ?? 0,
          available: 0,
          createdAt: 0,
        })),
      ),
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, ...hashLabel } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

/** The name is taken: either by our own set, which is not in the view yet, or by another object, and then the collision count changes the name. */
async function handleNameCollision(
  context: ControllerContext,
  deployment: Deployment,
  wanted: ReplicaSet,
): Promise<undefined> {
  const other = await context.client.get<ReplicaSet>(builtInTypes.ReplicaSet, namespacedNameOf(wanted));
  const isOurs =
    isControlledBy(other, deployment) &&
    templateIdentity(other.spec.template) === templateIdentity(wanted.spec.template);
  if (isOurs) throw new Error(`replica set ${other.metadata.name} exists but has not been observed yet`);
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
  await updateStatusIfChanged(context, builtInTypes.Deployment, {
    object: deployment,
    status: { ...deployment.status, collisionCount },
  });
}

async function writeRevisionAnnotation(
  context: ControllerContext,
  deployment: Deployment,
  set: ReplicaSet,
): Promise<Deployment> {
  const revision = set.metadata.annotations?.[workloadAnnotations.revision];
  if (deployment.metadata.annotations?.[workloadAnnotations.revision] === revision) return deployment;
  const body = { metadata: { annotations: { [workloadAnnotations.revision]: revision } } };
  return context.client.patch<Deployment>(builtInTypes.Deployment, namespacedNameOf(deployment), {
    kind: "merge",
    body,
  });
}

async function writeProgressCondition(
  context: ControllerContext,
  deployment: Deployment,
  condition: WorkloadCondition,
): Promise<Deployment> {
  if (progressDeadlineMs(deployment) === undefined) return deployment;
  const now = context.clock.now();
  const conditions = withWorkloadCondition(deployment.status?.conditions, condition, { now, hasUpdateTime: true });
  const status = { ...deployment.status, conditions };
  return updateStatusIfChanged(context, builtInTypes.Deployment, { object: deployment, status });
}

export interface ReplicaSetScaling {
  readonly deployment: Deployment;
  readonly sets: readonly ReplicaSet[];
  readonly sizes: ReplicaSetSizes;
}

/** Writes the new sizes and the Deployment's size annotations; returns the sets that were written. */
export async function scaleReplicaSets(
  context: ControllerContext,
  { deployment, sets, sizes }: ReplicaSetScaling,
): Promise<readonly ReplicaSet[]> {
  const written: ReplicaSet[] = [];
  for (const set of sets) {
    const from = set.spec.replicas ?? 0;
    const to = sizes.get(set.metadata.name ?? "") ?? from;
    const annotations = { ...set.metadata.annotations, ...sizeAnnotations(deployment) };
    const isAnnotated = to === 0 || isSameJson(annotations, set.metadata.annotations);
    if (to === from && isAnnotated) continue;
    const object = { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas: to } };
    written.push(await context.client.update<ReplicaSet>(builtInTypes.ReplicaSet, object));
    if (to !== from) recordScalingEvent(context, deployment, { set, from, to });
  }
  return written;
}

function recordScalingEvent(
  context: ControllerContext,
  deployment: Deployment,
  { set, from, to }: { readonly set: ReplicaSet; readonly from: number; readonly to: number },
): void {
  const verb = to > from ? "up" : "down";
  const message = `Scaled ${verb} replica set ${set.metadata.name} from ${from} to ${to}`;
  context.recordEvent(deployment, { type: "Normal", reason: "ScalingReplicaSet", message });
}
