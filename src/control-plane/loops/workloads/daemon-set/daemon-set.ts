import { type LoopWorld, on, reconcileLoop } from "../../../../kube/loop.ts";
import type { LookAgain } from "../../../../kube/reconciler.ts";
import { builtIn } from "../../../../kube/resources.ts";
import type { Change } from "../../../../kube/view.ts";
import { sameJson } from "../../../kinds/draft.ts";
import { slowStart } from "../batches.ts";
import { scaled } from "../counts.ts";
import { latestRevision, revisionsOf, truncate } from "../history.ts";
import { workloadAnnotations, workloadLabels } from "../names.ts";
import { claimed, controlledBy, isNamespaceLeaving, itself, keyOf, orGone, ownersOf, settled } from "../ownership.ts";
import { isAvailable, isFinished, isReady, isTerminating, nextAvailableMs, podFrom } from "../pods.ts";
import { unlessZero, writeStatus } from "../status.ts";
import type { DaemonSet, DaemonSetStatus, LivePod } from "../types.ts";
import { eligibility, type LiveNode, pinnedTo, targetNode, withDaemonTolerations } from "./eligibility.ts";
import { type Daemon, type DaemonRollout, type NodeSeat, planDaemonSet } from "./plan.ts";

/** A pod that failed at once is not replaced at once: its node would see nothing else. */
const failedPodMs = 10_000;

/** One pod of each DaemonSet on every node that should have one. (05:CP-L4) */
export const daemonSetLoop = reconcileLoop({
  name: "daemonset-controller",
  triggers: [
    on(builtIn.DaemonSet, itself),
    on<LivePod>(builtIn.Pod, (change, world) => ownersOf(change, { world, ownerType: builtIn.DaemonSet }), settled),
    on<LiveNode>(builtIn.Node, (change, world) => (changesPlaces(change) ? allSets(world) : []), settled),
  ],
  kinds: [builtIn.ControllerRevision],
  reconcile: async (key, world) => {
    const set = world.view<DaemonSet>(builtIn.DaemonSet).get(key);
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return undefined;
    try {
      return await advance(world, set);
    } catch (error) {
      if (isNamespaceLeaving(error)) return undefined;
      throw error;
    }
  },
});

/** Heartbeats do not; labels and taints do. */
function changesPlaces({ object, old }: Change<LiveNode>): boolean {
  if (object === undefined || old === undefined) return true;
  return !sameJson([object.metadata.labels, object.spec?.taints ?? []], [old.metadata.labels, old.spec?.taints ?? []]);
}

function allSets(world: LoopWorld): readonly string[] {
  return world
    .view<DaemonSet>(builtIn.DaemonSet)
    .all()
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

interface SeatedDaemon extends Daemon {
  readonly pod: LivePod;
}

async function advance(world: LoopWorld, set: DaemonSet): Promise<LookAgain | undefined> {
  const revision = await latestRevision(world, { owner: set, ownerType: builtIn.DaemonSet });
  const hash = revision.metadata.labels?.[workloadLabels.revisionHash] ?? "";
  const before = await seatsOf(world, set, hash);
  const { create, remove } = planDaemonSet(before.seats, rolloutOf(set, before.seats));
  const stray = before.strays.filter(({ pod }) => (pod.spec.nodeName ?? "") === "");
  const now = world.clock.now();
  const isRash = (daemon: SeatedDaemon) => daemon.isFinished && now - daemon.createdAt < failedPodMs;
  for (const { pod } of [...remove.filter((one) => !isRash(one)), ...stray]) await removePod(world, set, pod);
  await slowStart(create.length, (at) => createPod(world, set, { node: create[at] ?? "", hash }));

  const { seats } = await seatsOf(world, set, hash);
  const latest = world.view<DaemonSet>(builtIn.DaemonSet).get(`${set.metadata.namespace}/${set.metadata.name}`);
  if (latest === undefined) return undefined;
  await writeStatus(world, builtIn.DaemonSet, { object: latest, status: statusOf(set, seats) });
  const pods = seats.flatMap(({ daemons }) => daemons.map(({ pod }) => pod));
  await forgetRevisions(world, set, { pods, hash });
  const waits = [
    nextAvailableMs(pods, { minReadySeconds: set.spec.minReadySeconds, now }),
    ...remove.filter(isRash).map(({ createdAt }) => createdAt + failedPodMs - now),
  ].filter((ms) => ms !== undefined);
  return waits.length === 0 ? undefined : { afterMs: Math.min(...waits) };
}

interface Seats {
  readonly seats: readonly NodeSeat<SeatedDaemon>[];
  /** Meant for nodes that are not there. */
  readonly strays: readonly SeatedDaemon[];
}

async function seatsOf(world: LoopWorld, set: DaemonSet, hash: string): Promise<Seats> {
  const pods = await claimed<LivePod>(world, { type: builtIn.Pod, owner: set, ownerType: builtIn.DaemonSet });
  const now = world.clock.now();
  const byNode = new Map<string, SeatedDaemon[]>();
  for (const pod of pods) {
    const node = targetNode(pod) ?? "";
    byNode.set(node, [...(byNode.get(node) ?? []), daemonOf(set, pod, { hash, now })]);
  }
  const isEligible = eligibility(set.spec.template);
  const nodes = world.view<LiveNode>(builtIn.Node).all();
  const seats = nodes.map((node) => {
    const { name = "" } = node.metadata;
    return { node: name, daemons: byNode.get(name) ?? [], ...isEligible(node) };
  });
  for (const { node } of seats) byNode.delete(node);
  return { seats, strays: [...byNode.values()].flat() };
}

function daemonOf(
  { spec }: DaemonSet,
  pod: LivePod,
  { hash, now }: { readonly hash: string; readonly now: number },
): SeatedDaemon {
  return {
    pod,
    name: pod.metadata.name ?? "",
    isTerminating: isTerminating(pod),
    isFinished: isFinished(pod),
    isAvailable: isAvailable(pod, { minReadySeconds: spec.minReadySeconds, now }),
    isUpdated: pod.metadata.labels?.[workloadLabels.revisionHash] === hash,
    isAssigned: (pod.spec.nodeName ?? "") !== "",
    createdAt: Date.parse(pod.metadata.creationTimestamp ?? "") || 0,
  };
}

function rolloutOf({ spec }: DaemonSet, seats: readonly NodeSeat<Daemon>[]): DaemonRollout | undefined {
  if (spec.updateStrategy?.type === "OnDelete") return undefined;
  const { maxUnavailable = 1, maxSurge = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
  const of = seats.filter(({ shouldRun }) => shouldRun).length;
  const surge = scaled(maxSurge, { of, round: "up" });
  const unavailable = scaled(maxUnavailable, { of, round: "up" });
  return { maxSurge: surge, maxUnavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

async function createPod(
  world: LoopWorld,
  set: DaemonSet,
  { node, hash }: { readonly node: string; readonly hash: string },
): Promise<void> {
  const { template } = set.spec;
  const generation = set.metadata.annotations?.[workloadAnnotations.templateGeneration];
  const pod = podFrom({
    template,
    owner: controlledBy(builtIn.DaemonSet, set),
    namespace: set.metadata.namespace,
    naming: { generateName: `${set.metadata.name}-` },
    labels: {
      [workloadLabels.revisionHash]: hash,
      ...(generation !== undefined && { [workloadLabels.templateGeneration]: generation }),
    },
    spec: { affinity: pinnedTo(node, template), tolerations: withDaemonTolerations(template) },
  });
  const made = await world.client.create(builtIn.Pod, pod);
  const message = `Created pod: ${made.metadata.name}`;
  world.tell(set, { type: "Normal", reason: "SuccessfulCreate", message });
}

async function removePod(world: LoopWorld, set: DaemonSet, pod: LivePod): Promise<void> {
  const { uid = "", name } = pod.metadata;
  await orGone(world.client.delete(builtIn.Pod, keyOf(pod), { preconditions: { uid } }));
  world.tell(set, { type: "Normal", reason: "SuccessfulDelete", message: `Deleted pod: ${name}` });
}

async function forgetRevisions(
  world: LoopWorld,
  set: DaemonSet,
  { pods, hash }: { readonly pods: readonly LivePod[]; readonly hash: string },
): Promise<void> {
  if (revisionsOf(world, set).length <= 1) return;
  const used = new Set([hash, ...pods.map(({ metadata }) => metadata.labels?.[workloadLabels.revisionHash])]);
  await truncate(world, {
    owner: set,
    limit: set.spec.revisionHistoryLimit ?? 10,
    isUsed: ({ metadata }) => used.has(metadata.labels?.[workloadLabels.revisionHash]),
  });
}

/** What `status` has to say of these places. */
function statusOf(set: DaemonSet, seats: readonly NodeSeat<SeatedDaemon>[]): DaemonSetStatus {
  const wanted = seats.filter(({ shouldRun }) => shouldRun);
  const seated = wanted.flatMap(({ daemons }) => {
    const [first] = [...daemons].sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1));
    return first === undefined ? [] : [first];
  });
  const available = seated.filter((daemon) => daemon.isAvailable).length;
  return {
    currentNumberScheduled: seated.length,
    desiredNumberScheduled: wanted.length,
    numberMisscheduled: seats.filter(({ shouldRun, daemons }) => !shouldRun && daemons.length > 0).length,
    numberReady: seated.filter(({ pod }) => isReady(pod)).length,
    updatedNumberScheduled: unlessZero(seated.filter(({ isUpdated }) => isUpdated).length),
    numberAvailable: unlessZero(available),
    numberUnavailable: unlessZero(wanted.length - available),
    observedGeneration: set.metadata.generation,
    collisionCount: set.status?.collisionCount,
  };
}
