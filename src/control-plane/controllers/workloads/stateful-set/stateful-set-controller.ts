import { isTerminalPod, isTerminatingPod } from "../../../../core/pod-predicates.ts";
import { type ControllerContext, reconcileController } from "../../../../kube/controller.ts";
import type { RequeueAfter } from "../../../../kube/reconciler.ts";
import { builtInTypes } from "../../../../kube/resources.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import { latestRevision, revisionsOf, templateOfRevision, truncateHistory } from "../controller-revisions.ts";
import { claimChildren, deleteIfExists, latestOf, reconcileExisting, workloadTriggers } from "../ownership.ts";
import { isPodAvailable, isPodReady, untilNextAvailableMs } from "../pods.ts";
import type { ControllerRevision, StatefulSet, StatefulSetStatus } from "../types.ts";
import { workloadLabels } from "../workload-labels.ts";
import { omitZero, updateStatusIfChanged } from "../workload-status.ts";
import { deleteClaimsWithPod, ensureClaims, memberPod, ordinalOf } from "./member-pod.ts";
import { planStatefulSet, type StatefulSetMember, type StatefulSetTarget } from "./stateful-set-plan.ts";

/** Keeps pods with stable names and volumes. (05:CP-L3) */
export const statefulSetController = reconcileController({
  name: "statefulset-controller",
  triggers: workloadTriggers(builtInTypes.StatefulSet, builtInTypes.Pod),
  kinds: [builtInTypes.ControllerRevision, builtInTypes.PersistentVolumeClaim],
  reconcile: reconcileExisting(builtInTypes.StatefulSet, syncStatefulSet),
});

interface Revisions {
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
}

interface MemberWithPod extends StatefulSetMember {
  readonly pod: ApiPod;
}

async function syncStatefulSet(context: ControllerContext, set: StatefulSet): Promise<RequeueAfter | undefined> {
  const revisions = await revisionsFor(context, set);
  const members = await membersOf(context, set);
  const target = targetOf(set, revisions.update);
  const { create, remove } = planStatefulSet(target, members);
  for (const ordinal of create) await createMember(context, set, { ordinal, revisions, target });
  for (const { pod } of remove) await removeMember(context, set, { pod, target });
  const current = await membersOf(context, set);
  const latest = latestOf(context, builtInTypes.StatefulSet, set);
  if (latest === undefined) return undefined;
  const status = statusOf(set, current, revisions);
  await updateStatusIfChanged(context, builtInTypes.StatefulSet, { object: latest, status });
  await truncateHistory(context, {
    owner: set,
    limit: set.spec.revisionHistoryLimit ?? 10,
    isUsed: ({ metadata: { name = "" } }) =>
      [status.currentRevision, status.updateRevision].includes(name) ||
      current.some(({ revision }) => revision === name),
  });
  const pods = current.map(({ pod }) => pod);
  const afterMs = untilNextAvailableMs(pods, { minReadySeconds: set.spec.minReadySeconds, now: context.clock.now() });
  return afterMs === undefined ? undefined : { afterMs };
}

async function revisionsFor(context: ControllerContext, set: StatefulSet): Promise<Revisions> {
  const update = await latestRevision(context, { owner: set, ownerType: builtInTypes.StatefulSet });
  const current = revisionsOf(context, set).find(({ metadata }) => metadata.name === set.status?.currentRevision);
  return { current: current ?? update, update };
}

function targetOf({ spec }: StatefulSet, { metadata }: ControllerRevision): StatefulSetTarget {
  return {
    replicas: spec.replicas ?? 1,
    start: spec.ordinals?.start ?? 0,
    isOrdered: spec.podManagementPolicy !== "Parallel",
    isRolling: spec.updateStrategy?.type !== "OnDelete",
    partition: spec.updateStrategy?.rollingUpdate?.partition ?? 0,
    updateRevision: metadata.name ?? "",
  };
}

async function membersOf(context: ControllerContext, set: StatefulSet): Promise<readonly MemberWithPod[]> {
  const now = context.clock.now();
  const pods = await claimChildren<ApiPod>(context, {
    type: builtInTypes.Pod,
    owner: set,
    ownerType: builtInTypes.StatefulSet,
    filter: (pod) => ordinalOf(set, pod) !== undefined,
  });
  return pods.map((pod) => ({
    pod,
    ordinal: ordinalOf(set, pod) ?? 0,
    isTerminating: isTerminatingPod(pod),
    isFinished: isTerminalPod(pod),
    isAvailable: isRunningAndReady(pod) && isPodAvailable(pod, { minReadySeconds: set.spec.minReadySeconds, now }),
    revision: pod.metadata.labels?.[workloadLabels.revisionHash] ?? "",
  }));
}

function isRunningAndReady(pod: ApiPod): boolean {
  return pod.status?.phase === "Running" && isPodReady(pod);
}

interface NewMember {
  readonly ordinal: number;
  readonly revisions: Revisions;
  readonly target: StatefulSetTarget;
}

async function createMember(context: ControllerContext, set: StatefulSet, { ordinal, revisions, target }: NewMember) {
  // Below the partition a lost pod is recreated at its old revision.
  const revision = ordinal < target.start + target.partition ? revisions.current : revisions.update;
  const pod = memberPod(set, {
    ordinal,
    template: templateOfRevision(revision),
    revision: revision.metadata.name ?? "",
  });
  await ensureClaims(context, set, pod);
  await context.client.create(builtInTypes.Pod, pod);
  const message = `create Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`;
  context.recordEvent(set, { type: "Normal", reason: "SuccessfulCreate", message });
}

async function removeMember(
  context: ControllerContext,
  set: StatefulSet,
  { pod, target }: { readonly pod: ApiPod; readonly target: StatefulSetTarget },
): Promise<void> {
  const ordinal = ordinalOf(set, pod) ?? 0;
  const isCondemned = ordinal < target.start || ordinal >= target.start + target.replicas;
  if (isCondemned) await deleteClaimsWithPod(context, set, pod);
  await deleteIfExists(context, builtInTypes.Pod, pod);
  const message = `delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`;
  context.recordEvent(set, { type: "Normal", reason: "SuccessfulDelete", message });
}

/** Computes `status` from these pods. */
function statusOf(set: StatefulSet, members: readonly MemberWithPod[], revisions: Revisions): StatefulSetStatus {
  const updateRevision = revisions.update.metadata.name ?? "";
  const currentRevision = revisions.current.metadata.name ?? "";
  const notTerminating = members.filter((member) => !member.isTerminating);
  const of = (revision: string) => notTerminating.filter((member) => member.revision === revision).length;
  const ready = members.filter(({ pod }) => isRunningAndReady(pod)).length;
  const updated = of(updateRevision);
  const isDone = set.spec.updateStrategy?.type !== "OnDelete" && updated === members.length && ready === members.length;
  return {
    observedGeneration: set.metadata.generation,
    replicas: members.length,
    readyReplicas: omitZero(ready),
    availableReplicas: members.filter((member) => member.isAvailable).length,
    currentReplicas: omitZero(isDone ? updated : of(currentRevision)),
    updatedReplicas: omitZero(updated),
    currentRevision: isDone ? updateRevision : currentRevision,
    updateRevision,
    collisionCount: set.status?.collisionCount ?? 0,
  };
}
