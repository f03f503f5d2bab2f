import { isSameJson } from "../../../../api/json.ts";
import { isTerminalPod, isTerminatingPod } from "../../../../core/pod-predicates.ts";
import { cacheKey } from "../../../../kube/client.ts";
import { type ControllerContext, reconcileController, triggerOn } from "../../../../kube/controller.ts";
import type { RequeueAfter } from "../../../../kube/reconciler.ts";
import { builtInTypes } from "../../../../kube/resources.ts";
import type { ObjectChange } from "../../../../kube/view.ts";
import type { ApiNode, ApiPod } from "../../api-pod-and-node.ts";
import { latestRevision, revisionsOf, truncateHistory } from "../controller-revisions.ts";
import {
  claimChildren,
  debounced,
  deleteIfExists,
  latestOf,
  newControllerReference,
  reconcileExisting,
  workloadTriggers,
} from "../ownership.ts";
import { isPodAvailable, isPodReady, podFromTemplate, untilNextAvailableMs } from "../pods.ts";
import { scaledValue } from "../scaled-value.ts";
import { slowStartBatch } from "../slow-start-batch.ts";
import type { DaemonSetObject, DaemonSetStatus } from "../types.ts";
import { workloadAnnotations, workloadLabels } from "../workload-labels.ts";
import { omitZero, updateStatusIfChanged } from "../workload-status.ts";
import { type DaemonPodState, type DaemonRollout, type NodeDaemonState, planDaemonSet } from "./daemon-set-plan.ts";
import { affinityToNode, nodeEligibility, targetNodeName, withDaemonTolerations } from "./node-eligibility.ts";

/** A pod that failed right after it started is replaced only after this delay, so that a crashing daemon does not flood its node. */
const failedPodBackOffMs = 10_000;

/** Runs one pod on every eligible node. (05:CP-L4) */
export const daemonSetController = reconcileController({
  name: "daemonset-controller",
  triggers: [
    ...workloadTriggers(builtInTypes.DaemonSet, builtInTypes.Pod),
    triggerOn<ApiNode>(
      builtInTypes.Node,
      (change, context) => (changesEligibility(change) ? allDaemonSetKeys(context) : []),
      debounced,
    ),
  ],
  kinds: [builtInTypes.ControllerRevision],
  reconcile: reconcileExisting(builtInTypes.DaemonSet, syncDaemonSet),
});

/** Only labels and taints affect eligibility; heartbeats do not. */
function changesEligibility({ object, old }: ObjectChange<ApiNode>): boolean {
  if (object === undefined || old === undefined) return true;
  return !isSameJson(
    [object.metadata.labels, object.spec?.taints ?? []],
    [old.metadata.labels, old.spec?.taints ?? []],
  );
}

function allDaemonSetKeys(context: ControllerContext): readonly string[] {
  return context
    .view<DaemonSetObject>(builtInTypes.DaemonSet)
    .all()
    .map(({ metadata }) => cacheKey(metadata));
}

interface ObservedDaemonPod extends DaemonPodState {
  readonly pod: ApiPod;
}

async function syncDaemonSet(context: ControllerContext, set: DaemonSetObject): Promise<RequeueAfter | undefined> {
  const revision = await latestRevision(context, { owner: set, ownerType: builtInTypes.DaemonSet });
  const hash = revision.metadata.labels?.[workloadLabels.revisionHash] ?? "";
  const before = await readDaemonSetState(context, set, hash);
  const { create, remove } = planDaemonSet(before.nodeStates, daemonRollout(set, before.nodeStates));
  // Scheduled pods of missing nodes are left to pod garbage collection.
  const unscheduledStrays = before.podsOfMissingNodes.filter(({ pod }) => (pod.spec.nodeName ?? "") === "");
  const now = context.clock.now();
  const isRecentFailure = (daemonPod: ObservedDaemonPod) =>
    daemonPod.isFinished && now - daemonPod.createdAt < failedPodBackOffMs;
  for (const { pod } of [...remove.filter((one) => !isRecentFailure(one)), ...unscheduledStrays])
    await deleteDaemonPod(context, set, pod);
  await slowStartBatch(create.length, (at) => createDaemonPod(context, set, { node: create[at] ?? "", hash }));

  const { nodeStates } = await readDaemonSetState(context, set, hash);
  const latest = latestOf(context, builtInTypes.DaemonSet, set);
  if (latest === undefined) return undefined;
  await updateStatusIfChanged(context, builtInTypes.DaemonSet, { object: latest, status: statusOf(set, nodeStates) });
  const pods = nodeStates.flatMap(({ daemonPods }) => daemonPods.map(({ pod }) => pod));
  await deleteOldRevisions(context, set, { pods, hash });
  const waits = [
    untilNextAvailableMs(pods, { minReadySeconds: set.spec.minReadySeconds, now }),
    ...remove.filter(isRecentFailure).map(({ createdAt }) => createdAt + failedPodBackOffMs - now),
  ].filter((ms) => ms !== undefined);
  return waits.length === 0 ? undefined : { afterMs: Math.min(...waits) };
}

interface DaemonSetState {
  readonly nodeStates: readonly NodeDaemonState<ObservedDaemonPod>[];
  /** Pods assigned to nodes that no longer exist. */
  readonly podsOfMissingNodes: readonly ObservedDaemonPod[];
}

async function readDaemonSetState(
  context: ControllerContext,
  set: DaemonSetObject,
  hash: string,
): Promise<DaemonSetState> {
  const pods = await claimChildren<ApiPod>(context, {
    type: builtInTypes.Pod,
    owner: set,
    ownerType: builtInTypes.DaemonSet,
  });
  const now = context.clock.now();
  const byNode = new Map<string, ObservedDaemonPod[]>();
  for (const pod of pods) {
    const node = targetNodeName(pod) ?? "";
    byNode.set(node, [...(byNode.get(node) ?? []), observeDaemonPod(set, pod, { hash, now })]);
  }
  const isEligible = nodeEligibility(set.spec.template);
  const nodes = context.view<ApiNode>(builtInTypes.Node).all();
  const nodeStates = nodes.map((node) => {
    const { name = "" } = node.metadata;
    return { node: name, daemonPods: byNode.get(name) ?? [], ...isEligible(node) };
  });
  for (const { node } of nodeStates) byNode.delete(node);
  return { nodeStates, podsOfMissingNodes: [...byNode.values()].flat() };
}

function observeDaemonPod(
  { spec }: DaemonSetObject,
  pod: ApiPod,
  { hash, now }: { readonly hash: string; readonly now: number },
): ObservedDaemonPod {
  return {
    pod,
    name: pod.metadata.name ?? "",
    isTerminating: isTerminatingPod(pod),
    isFinished: isTerminalPod(pod),
    isAvailable: isPodAvailable(pod, { minReadySeconds: spec.minReadySeconds, now }),
    isUpdated: pod.metadata.labels?.[workloadLabels.revisionHash] === hash,
    isAssigned: (pod.spec.nodeName ?? "") !== "",
    createdAt: Date.parse(pod.metadata.creationTimestamp ?? "") || 0,
  };
}

function daemonRollout(
  { spec }: DaemonSetObject,
  nodeStates: readonly NodeDaemonState<DaemonPodState>[],
): DaemonRollout | undefined {
  if (spec.updateStrategy?.type === "OnDelete") return undefined;
  const { maxUnavailable = 1, maxSurge = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
  const of = nodeStates.filter(({ shouldRun }) => shouldRun).length;
  const surge = scaledValue(maxSurge, { of, round: "up" });
  const unavailable = scaledValue(maxUnavailable, { of, round: "up" });
  return { maxSurge: surge, maxUnavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

async function createDaemonPod(
  context: ControllerContext,
  set: DaemonSetObject,
  { node, hash }: { readonly node: string; readonly hash: string },
): Promise<void> {
  const { template } = set.spec;
  const generation = set.metadata.annotations?.[workloadAnnotations.templateGeneration];
  const pod = podFromTemplate({
    template,
    owner: newControllerReference(builtInTypes.DaemonSet, set),
    namespace: set.metadata.namespace,
    naming: { generateName: `${set.metadata.name}-` },
    labels: {
      [workloadLabels.revisionHash]: hash,
      ...(generation !== undefined && { [workloadLabels.templateGeneration]: generation }),
    },
    spec: { affinity: affinityToNode(node, template), tolerations: withDaemonTolerations(template) },
  });
  const made = await context.client.create(builtInTypes.Pod, pod);
  const message = `Created pod: ${made.metadata.name}`;
  context.recordEvent(set, { type: "Normal", reason: "SuccessfulCreate", message });
}

async function deleteDaemonPod(context: ControllerContext, set: DaemonSetObject, pod: ApiPod): Promise<void> {
  await deleteIfExists(context, builtInTypes.Pod, pod);
  const message = `Deleted pod: ${pod.metadata.name}`;
  context.recordEvent(set, { type: "Normal", reason: "SuccessfulDelete", message });
}

async function deleteOldRevisions(
  context: ControllerContext,
  set: DaemonSetObject,
  { pods, hash }: { readonly pods: readonly ApiPod[]; readonly hash: string },
): Promise<void> {
  if (revisionsOf(context, set).length <= 1) return;
  const used = new Set([hash, ...pods.map(({ metadata }) => metadata.labels?.[workloadLabels.revisionHash])]);
  await truncateHistory(context, {
    owner: set,
    limit: set.spec.revisionHistoryLimit ?? 10,
    isUsed: ({ metadata }) => used.has(metadata.labels?.[workloadLabels.revisionHash]),
  });
}

/** Computes `status` from the nodes and their daemon pods. */
function statusOf(set: DaemonSetObject, nodeStates: readonly NodeDaemonState<ObservedDaemonPod>[]): DaemonSetStatus {
  const wanted = nodeStates.filter(({ shouldRun }) => shouldRun);
  const oldestPods = wanted.flatMap(({ daemonPods }) => {
    const [first] = [...daemonPods].sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1));
    return first === undefined ? [] : [first];
  });
  const available = oldestPods.filter((daemonPod) => daemonPod.isAvailable).length;
  return {
    currentNumberScheduled: oldestPods.length,
    desiredNumberScheduled: wanted.length,
    numberMisscheduled: nodeStates.filter(({ shouldRun, daemonPods }) => !shouldRun && daemonPods.length > 0).length,
    numberReady: oldestPods.filter(({ pod }) => isPodReady(pod)).length,
    updatedNumberScheduled: omitZero(oldestPods.filter(({ isUpdated }) => isUpdated).length),
    numberAvailable: omitZero(available),
    numberUnavailable: omitZero(wanted.length - available),
    observedGeneration: set.metadata.generation,
    collisionCount: set.status?.collisionCount,
  };
}
