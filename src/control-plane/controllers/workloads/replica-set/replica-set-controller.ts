import { compileSelector } from "../../../../core/label-selector.ts";
import { isActivePod, isTerminalPod, isTerminatingPod } from "../../../../core/pod-predicates.ts";
import { type ControllerContext, reconcileController } from "../../../../kube/controller.ts";
import type { RequeueAfter } from "../../../../kube/reconciler.ts";
import { builtInTypes } from "../../../../kube/resources.ts";
import { errorMessage } from "../../../../util/error-text.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import {
  claimChildren,
  controllerReferenceOf,
  deleteIfExists,
  isNamespaceTerminatingError,
  newControllerReference,
  workloadTriggers,
} from "../ownership.ts";
import { isPodAvailable, isPodReady, podFromTemplate, untilNextAvailableMs } from "../pods.ts";
import { maxPodsPerSync, slowStartBatch } from "../slow-start-batch.ts";
import type { ReplicaSet, ReplicaSetStatus } from "../types.ts";
import {
  omitZero,
  updateStatusIfChanged,
  withoutWorkloadCondition,
  withWorkloadCondition,
} from "../workload-status.ts";
import { podsToDelete } from "./pods-to-delete.ts";

/** Keeps the wanted number of pods. (05:CP-L2) */
export const replicaSetController = reconcileController({
  name: "replicaset-controller",
  triggers: workloadTriggers(builtInTypes.ReplicaSet, builtInTypes.Pod),
  reconcile: reconcileReplicaSet,
  concurrency: 5, // as kube-controller-manager has by default
});

async function reconcileReplicaSet(key: string, context: ControllerContext): Promise<RequeueAfter | undefined> {
  const set = context.view<ReplicaSet>(builtInTypes.ReplicaSet).get(key);
  if (set === undefined) return undefined;
  const pods = await podsOf(context, set);
  const failure = set.metadata.deletionTimestamp === undefined ? await manageReplicas(context, set, pods) : undefined;
  const now = context.clock.now();
  const isChanged = pods.length !== (set.spec.replicas ?? 1);
  const current = isChanged ? await podsOf(context, set) : pods;
  // The spec may have changed since: the status still refers to the generation we read.
  const latest = context.view<ReplicaSet>(builtInTypes.ReplicaSet).get(key);
  if (latest === undefined) return undefined;
  const terminating = countTerminatingPods(context, set);
  const status = replicaSetStatus(set, current, { now, failure, terminating });
  await updateStatusIfChanged(context, builtInTypes.ReplicaSet, { object: latest, status });
  if (failure !== undefined) throw failure.error;
  const afterMs = untilNextAvailableMs(current, { minReadySeconds: set.spec.minReadySeconds, now });
  return afterMs === undefined ? undefined : { afterMs };
}

function podsOf(context: ControllerContext, set: ReplicaSet): Promise<readonly ApiPod[]> {
  return claimChildren<ApiPod>(context, {
    type: builtInTypes.Pod,
    owner: set,
    ownerType: builtInTypes.ReplicaSet,
    filter: isActivePod,
  });
}

function countTerminatingPods(context: ControllerContext, { metadata, spec }: ReplicaSet): number {
  const selector = compileSelector(spec.selector);
  const pods = context.view<ApiPod>(builtInTypes.Pod).controlledBy(metadata.uid);
  return pods.filter((pod) => isTerminatingPod(pod) && !isTerminalPod(pod) && selector.matches(pod.metadata.labels))
    .length;
}

interface ReplicaFailure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly error: unknown;
}

async function manageReplicas(
  context: ControllerContext,
  set: ReplicaSet,
  pods: readonly ApiPod[],
): Promise<ReplicaFailure | undefined> {
  const missing = (set.spec.replicas ?? 1) - pods.length;
  try {
    if (missing > 0) await slowStartBatch(Math.min(missing, maxPodsPerSync), () => createReplica(context, set));
    else if (missing < 0) await deleteReplicas(context, set, { pods, count: Math.min(-missing, maxPodsPerSync) });
    return undefined;
  } catch (error) {
    // In a terminating namespace nothing can be created: not a failure, and retrying is no use. (05:CP-L8)
    if (isNamespaceTerminatingError(error)) return undefined;
    return { reason: missing > 0 ? "FailedCreate" : "FailedDelete", error };
  }
}

async function createReplica(context: ControllerContext, set: ReplicaSet): Promise<void> {
  const { name = "", namespace } = set.metadata;
  const pod = podFromTemplate({
    template: set.spec.template,
    owner: newControllerReference(builtInTypes.ReplicaSet, set),
    namespace,
    naming: { generateName: `${name}-` },
  });
  try {
    const made = await context.client.create(builtInTypes.Pod, pod);
    const message = `Created pod: ${made.metadata.name}`;
    context.recordEvent(set, { type: "Normal", reason: "SuccessfulCreate", message });
  } catch (error) {
    const message = `Error creating: ${errorMessage(error)}`;
    context.recordEvent(set, { type: "Warning", reason: "FailedCreate", message });
    throw error;
  }
}

async function deleteReplicas(
  context: ControllerContext,
  set: ReplicaSet,
  { pods, count }: { readonly pods: readonly ApiPod[]; readonly count: number },
): Promise<void> {
  const now = context.clock.now();
  for (const pod of podsToDelete(pods, { count, now, related: relatedPods(context, set) })) {
    await deleteIfExists(context, builtInTypes.Pod, pod);
    const message = `Deleted pod: ${pod.metadata.name}`;
    context.recordEvent(set, { type: "Normal", reason: "SuccessfulDelete", message });
  }
}

/** Pods of the set and of all sets of its owner. */
function relatedPods(context: ControllerContext, set: ReplicaSet): readonly ApiPod[] {
  const owner = controllerReferenceOf(set);
  const sets = owner === undefined ? [set] : context.view<ReplicaSet>(builtInTypes.ReplicaSet).controlledBy(owner.uid);
  return sets.flatMap(({ metadata }) => context.view<ApiPod>(builtInTypes.Pod).controlledBy(metadata.uid));
}

/** Computes `status` from these pods. */
function replicaSetStatus(
  set: ReplicaSet,
  pods: readonly ApiPod[],
  {
    now,
    failure,
    terminating,
  }: { readonly now: number; readonly failure: ReplicaFailure | undefined; readonly terminating: number },
): ReplicaSetStatus {
  const { minReadySeconds, template } = set.spec;
  const labels = compileSelector({ matchLabels: template.metadata?.labels ?? {} });
  const message = errorMessage(failure?.error);
  const before = set.status?.conditions;
  const conditions =
    failure === undefined
      ? withoutWorkloadCondition(before, "ReplicaFailure")
      : withWorkloadCondition(
          before,
          { type: "ReplicaFailure", status: "True", reason: failure.reason, message },
          { now },
        );
  return {
    replicas: pods.length,
    fullyLabeledReplicas: omitZero(pods.filter(({ metadata }) => labels.matches(metadata.labels)).length),
    readyReplicas: omitZero(pods.filter(isPodReady).length),
    availableReplicas: omitZero(pods.filter((pod) => isPodAvailable(pod, { minReadySeconds, now })).length),
    terminatingReplicas: terminating,
    observedGeneration: set.metadata.generation,
    conditions: conditions.length === 0 ? undefined : conditions,
  };
}
