import { type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import type { LookAgain } from "../../../../kube/reconciler.ts";
import { builtIn } from "../../../../kube/resources.ts";
import { latestRevision, revisionsOf, templateOf, truncate } from "../history.ts";
import { workloadLabels } from "../names.ts";
import { claimed, isNamespaceLeaving, itself, keyOf, orGone, ownersOf, settled } from "../ownership.ts";
import { isAvailable, isFinished, isReady, isTerminating, nextAvailableMs } from "../pods.ts";
import { unlessZero, writeStatus } from "../status.ts";
import type { ControllerRevision, LivePod, StatefulSet, StatefulSetStatus } from "../types.ts";
import { ensureClaims, keepClaimsWith, memberPod, ordinalOf } from "./identity.ts";
import { type Member, planStatefulSet, type SetShape } from "./plan.ts";

/** Keeps pods with a name and a place of their own. (05:CP-L3) */
export const statefulSetLoop = reconcileLoop({
  name: "statefulset-controller",
  triggers: [
    on(builtIn.StatefulSet, itself),
    on<LivePod>(builtIn.Pod, (change, world) => ownersOf(change, { world, ownerType: builtIn.StatefulSet }), settled),
  ],
  kinds: [builtIn.ControllerRevision, builtIn.PersistentVolumeClaim],
  reconcile: async (key, world) => {
    const set = world.view<StatefulSet>(builtIn.StatefulSet).get(key);
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return undefined;
    try {
      return await advance(world, set);
    } catch (error) {
      if (isNamespaceLeaving(error)) return undefined;
      throw error;
    }
  },
});

interface Revisions {
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
}

interface SeatedPod extends Member {
  readonly pod: LivePod;
}

async function advance(world: LoopWorld, set: StatefulSet): Promise<LookAgain | undefined> {
  const revisions = await revisionsFor(world, set);
  const members = await membersOf(world, set);
  const shape = shapeOf(set, revisions.update);
  const { create, remove } = planStatefulSet(shape, members);
  for (const ordinal of create) await createMember(world, set, { ordinal, revisions, shape });
  for (const { pod } of remove) await removeMember(world, set, { pod, shape });
  const current = await membersOf(world, set);
  const latest = world.view<StatefulSet>(builtIn.StatefulSet).get(`${set.metadata.namespace}/${set.metadata.name}`);
  if (latest === undefined) return undefined;
  const status = statusOf(set, current, revisions);
  await writeStatus(world, builtIn.StatefulSet, { object: latest, status });
  await truncate(world, {
    owner: set,
    limit: set.spec.revisionHistoryLimit ?? 10,
    isUsed: ({ metadata: { name = "" } }) =>
      [status.currentRevision, status.updateRevision].includes(name) ||
      current.some(({ revision }) => revision === name),
  });
  const pods = current.map(({ pod }) => pod);
  const afterMs = nextAvailableMs(pods, { minReadySeconds: set.spec.minReadySeconds, now: world.clock.now() });
  return afterMs === undefined ? undefined : { afterMs };
}

async function revisionsFor(world: LoopWorld, set: StatefulSet): Promise<Revisions> {
  const update = await latestRevision(world, { owner: set, ownerType: builtIn.StatefulSet });
  const current = revisionsOf(world, set).find(({ metadata }) => metadata.name === set.status?.currentRevision);
  return { current: current ?? update, update };
}

function shapeOf({ spec }: StatefulSet, { metadata }: ControllerRevision): SetShape {
  return {
    replicas: spec.replicas ?? 1,
    start: spec.ordinals?.start ?? 0,
    isOrdered: spec.podManagementPolicy !== "Parallel",
    isRolling: spec.updateStrategy?.type !== "OnDelete",
    partition: spec.updateStrategy?.rollingUpdate?.partition ?? 0,
    updateRevision: metadata.name ?? "",
  };
}

async function membersOf(world: LoopWorld, set: StatefulSet): Promise<readonly SeatedPod[]> {
  const now = world.clock.now();
  const pods = await claimed<LivePod>(world, {
    type: builtIn.Pod,
    owner: set,
    ownerType: builtIn.StatefulSet,
    among: (pod) => ordinalOf(set, pod) !== undefined,
  });
  return pods.map((pod) => ({
    pod,
    ordinal: ordinalOf(set, pod) ?? 0,
    isTerminating: isTerminating(pod),
    isFinished: isFinished(pod),
    isAvailable: isRunningAndReady(pod) && isAvailable(pod, { minReadySeconds: set.spec.minReadySeconds, now }),
    revision: pod.metadata.labels?.[workloadLabels.revisionHash] ?? "",
  }));
}

function isRunningAndReady(pod: LivePod): boolean {
  return pod.status?.phase === "Running" && isReady(pod);
}

interface NewMember {
  readonly ordinal: number;
  readonly revisions: Revisions;
  readonly shape: SetShape;
}

async function createMember(world: LoopWorld, set: StatefulSet, { ordinal, revisions, shape }: NewMember) {
  // Below the partition a pod that was lost comes back as it was.
  const revision = ordinal < shape.start + shape.partition ? revisions.current : revisions.update;
  const pod = memberPod(set, { ordinal, template: templateOf(revision), revision: revision.metadata.name ?? "" });
  await ensureClaims(world, set, pod);
  await world.client.create(builtIn.Pod, pod);
  const message = `create Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`;
  world.tell(set, { type: "Normal", reason: "SuccessfulCreate", message });
}

async function removeMember(
  world: LoopWorld,
  set: StatefulSet,
  { pod, shape }: { readonly pod: LivePod; readonly shape: SetShape },
): Promise<void> {
  const ordinal = ordinalOf(set, pod) ?? 0;
  const isCondemned = ordinal < shape.start || ordinal >= shape.start + shape.replicas;
  if (isCondemned) await keepClaimsWith(world, set, pod);
  const { uid = "", name } = pod.metadata;
  await orGone(world.client.delete(builtIn.Pod, keyOf(pod), { preconditions: { uid } }));
  const message = `delete Pod ${name} in StatefulSet ${set.metadata.name} successful`;
  world.tell(set, { type: "Normal", reason: "SuccessfulDelete", message });
}

/** What `status` has to say of these pods. */
function statusOf(set: StatefulSet, members: readonly SeatedPod[], revisions: Revisions): StatefulSetStatus {
  const updateRevision = revisions.update.metadata.name ?? "";
  const currentRevision = revisions.current.metadata.name ?? "";
  const staying = members.filter((member) => !member.isTerminating);
  const of = (revision: string) => staying.filter((member) => member.revision === revision).length;
  const ready = members.filter(({ pod }) => isRunningAndReady(pod)).length;
  const updated = of(updateRevision);
  const isDone = set.spec.updateStrategy?.type !== "OnDelete" && updated === members.length && ready === members.length;
  return {
    observedGeneration: set.metadata.generation,
    replicas: members.length,
    readyReplicas: unlessZero(ready),
    availableReplicas: members.filter((member) => member.isAvailable).length,
    currentReplicas: unlessZero(isDone ? updated : of(currentRevision)),
    updatedReplicas: unlessZero(updated),
    currentRevision: isDone ? updateRevision : currentRevision,
    updateRevision,
    collisionCount: set.status?.collisionCount ?? 0,
  };
}
