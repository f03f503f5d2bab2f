import { isKubeError } from "../../../../kube/error.ts";
import type { LoopWorld } from "../../../../kube/loop.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { sameJson } from "../../../kinds/draft.ts";
import { sum } from "../counts.ts";
import { templateHash } from "../hash.ts";
import { workloadAnnotations, workloadLabels } from "../names.ts";
import { controlledBy, isControlledBy, keyOf } from "../ownership.ts";
import { isFinished } from "../pods.ts";
import { find, withCondition, writeStatus } from "../status.ts";
import type { Deployment, LivePod, ReplicaSet, WorkloadCondition } from "../types.ts";
import { progressDeadlineMs, progressing, progressReasons, rolloutSpec } from "./progress.ts";
import { identity, newSetAnnotations, revisionOf, sizeAnnotations } from "./revisions.ts";
import { newSetSize, type Sizes } from "./rollout.ts";

interface Situation {
  readonly deployment: Deployment;
  readonly fresh: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

/** The situation with a set for the template of today in it; undefined where something was written first. */
export async function ensureNewSet(world: LoopWorld, situation: Situation): Promise<Situation | undefined> {
  const { deployment, fresh, old } = situation;
  const revision = Math.max(0, ...old.map(revisionOf)) + 1;
  if (fresh === undefined) {
    // Two versions never run side by side: the old pods are gone before the new set exists.
    const mustWait =
      deployment.spec.strategy?.type === "Recreate" && (totalReplicas(old) > 0 || hasOldPods(world, old));
    if (mustWait) return situation;
    return create(world, situation, revision);
  }
  const annotations = newSetAnnotations(deployment, fresh, revision);
  const { minReadySeconds } = deployment.spec;
  if (!sameJson(annotations, fresh.metadata.annotations) || minReadySeconds !== fresh.spec.minReadySeconds) {
    const spec = { ...fresh.spec, minReadySeconds };
    const updated = await world.client.update<ReplicaSet>(builtIn.ReplicaSet, {
      ...fresh,
      metadata: { ...fresh.metadata, annotations },
      spec,
    });
    return { deployment: await noteRevision(world, deployment, updated), fresh: updated, old };
  }
  const noted = await noteRevision(world, deployment, fresh);
  if (find(noted.status?.conditions, "Progressing") !== undefined) return { ...situation, deployment: noted };
  const message = `Found new replica set "${fresh.metadata.name}"`;
  const told = await tell(world, noted, progressing("True", progressReasons.newSetFound, message));
  return { ...situation, deployment: told };
}

function totalReplicas(sets: readonly ReplicaSet[]): number {
  return sum(sets, ({ spec }) => spec.replicas);
}

/** Whether a pod of an old version may still be running, terminating ones included. */
export function hasOldPods(world: LoopWorld, old: readonly ReplicaSet[]): boolean {
  const pods = world.view<LivePod>(builtIn.Pod);
  return old.some(({ metadata }) => pods.controlledBy(metadata.uid).some((pod) => !isFinished(pod)));
}

async function create(world: LoopWorld, situation: Situation, revision: number): Promise<Situation | undefined> {
  const { deployment, old } = situation;
  const wanted = newSet(situation, revision);
  try {
    const fresh = await world.client.create<ReplicaSet>(builtIn.ReplicaSet, wanted);
    announce(world, deployment, { set: fresh, from: 0, to: fresh.spec.replicas ?? 0 });
    const noted = await noteRevision(world, deployment, fresh);
    const message = `Created new replica set "${fresh.metadata.name}"`;
    return {
      deployment: await tell(world, noted, progressing("True", progressReasons.newSetCreated, message)),
      fresh,
      old,
    };
  } catch (error) {
    if (isKubeError(error, "already-exists")) return afterCollision(world, deployment, wanted);
    if (isKubeError(error)) {
      const message = `Failed to create new replica set "${wanted.metadata.name}": ${error.message}`;
      await tell(world, deployment, progressing("False", progressReasons.failedCreate, message));
    }
    throw error;
  }
}

function newSet({ deployment, old }: Situation, revision: number): ReplicaSet {
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
      ownerReferences: [controlledBy(builtIn.Deployment, deployment)],
    },
    spec: {
      replicas: newSetSize(
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

/** The name is taken: by our own set, which a watch has yet to tell of, or by another, and we take another name. */
async function afterCollision(world: LoopWorld, deployment: Deployment, wanted: ReplicaSet): Promise<undefined> {
  const other = await world.client.get<ReplicaSet>(builtIn.ReplicaSet, keyOf(wanted));
  const isOurs = isControlledBy(other, deployment) && identity(other.spec.template) === identity(wanted.spec.template);
  if (isOurs) throw new Error(`replica set ${other.metadata.name} exists and is not in view yet`);
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
  await writeStatus(world, builtIn.Deployment, {
    object: deployment,
    status: { ...deployment.status, collisionCount },
  });
}

async function noteRevision(world: LoopWorld, deployment: Deployment, set: ReplicaSet): Promise<Deployment> {
  const revision = set.metadata.annotations?.[workloadAnnotations.revision];
  if (deployment.metadata.annotations?.[workloadAnnotations.revision] === revision) return deployment;
  const body = { metadata: { annotations: { [workloadAnnotations.revision]: revision } } };
  return world.client.patch<Deployment>(builtIn.Deployment, keyOf(deployment), { kind: "merge", body });
}

async function tell(world: LoopWorld, deployment: Deployment, condition: WorkloadCondition): Promise<Deployment> {
  if (progressDeadlineMs(deployment) === undefined) return deployment;
  const now = world.clock.now();
  const conditions = withCondition(deployment.status?.conditions, condition, { now, hasUpdateTime: true });
  const status = { ...deployment.status, conditions };
  return writeStatus(world, builtIn.Deployment, { object: deployment, status });
}

export interface Scaling {
  readonly deployment: Deployment;
  readonly sets: readonly ReplicaSet[];
  readonly sizes: Sizes;
}

/** Gives sets their sizes, and what they remember of the Deployment's; returns those that were written. */
export async function scaleSets(
  world: LoopWorld,
  { deployment, sets, sizes }: Scaling,
): Promise<readonly ReplicaSet[]> {
  const written: ReplicaSet[] = [];
  for (const set of sets) {
    const from = set.spec.replicas ?? 0;
    const to = sizes.get(set.metadata.name ?? "") ?? from;
    const annotations = { ...set.metadata.annotations, ...sizeAnnotations(deployment) };
    const isRemembered = to === 0 || sameJson(annotations, set.metadata.annotations);
    if (to === from && isRemembered) continue;
    const object = { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas: to } };
    written.push(await world.client.update<ReplicaSet>(builtIn.ReplicaSet, object));
    if (to !== from) announce(world, deployment, { set, from, to });
  }
  return written;
}

function announce(
  world: LoopWorld,
  deployment: Deployment,
  { set, from, to }: { readonly set: ReplicaSet; readonly from: number; readonly to: number },
): void {
  const verb = to > from ? "up" : "down";
  const message = `Scaled ${verb} replica set ${set.metadata.name} from ${from} to ${to}`;
  world.tell(deployment, { type: "Normal", reason: "ScalingReplicaSet", message });
}
