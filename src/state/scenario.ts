import type { NodePool } from "../api/kinds/node-pool.ts";
import type { LabelPolicy } from "../api/label-policy.ts";
import type { NodeClassRef } from "../api/node-class-ref.ts";
import type { KubeObject, ObjectMeta } from "../api/object.ts";
import { type GroupKind, isManagedPool } from "../api/validation/node-pool.ts";
import type { OfferChooser } from "../cloud/launchable-offerings.ts";
import type { DisruptionSearch, DisruptionSnapshot } from "../core/disruption/snapshot.ts";
import type { InstanceType } from "../core/instance-type.ts";
import { applyOverlays, type OverlayFault } from "../core/overlay.ts";
import { ignoredPodText } from "../core/pod-validation.ts";
import { type BufferFault, resolveBuffers } from "../core/round/resolve-buffers.ts";
import { collectRoundPods, type IgnoredPod, podsToPlace } from "../core/round/round-pods.ts";
import { type ClusterDevices, roundProblem } from "../core/round/round-problem.ts";
import { readyStaticPools, type StaticPool } from "../core/round/static-pools.ts";
import { selectUsablePools, type UnusablePoolReason } from "../core/round/usable-pools.ts";
import type { Pool, SchedulingPolicy, SchedulingProblem } from "../core/scheduling/problem.ts";
import type { Refusal } from "../core/scheduling/refusal.ts";
import { forEachInSteps, runSteps, type Steps } from "../util/steps.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import { ClusterState } from "./cluster-state.ts";
import { type DisruptionSources, disruptionSnapshotOf } from "./disruption-snapshot.ts";
import { ObjectsByKind } from "./objects-by-kind.ts";
import { ProjectedCluster } from "./projected-cluster.ts";
import { type StateKind, stateKinds, stateUpdates } from "./state-kinds.ts";
import { withoutUsedReservations } from "./used-reservations.ts";

export interface ScenarioOptions {
  /** Instance types offered to a node class. */
  readonly typesFor: (nodeClass: NodeClassRef) => readonly InstanceType[];
  /** Node classes the provider serves. (02:P-33) */
  readonly served: readonly GroupKind[];
  readonly labelPolicy: LabelPolicy;
  readonly policy: SchedulingPolicy;
  readonly seed: number;
  readonly nowMs: number;
  /** What the provider asks its cloud for when it launches a claim; by default everything that fits. */
  readonly chooseOffers?: OfferChooser | undefined;
  /** Workloads that were expanded to pods: buffers and default topology constraints refer to them. */
  readonly workloads?: readonly KubeObject[];
  /** Unless requests for devices are ignored. (02:D-3) */
  readonly devices?: ClusterDevices | undefined;
}

/** Something a reader of the result should know, though it is no pod's refusal. */
export type ScenarioNote =
  | { readonly code: "pool-passed-over"; readonly pool: string; readonly because: UnusablePoolReason }
  | { readonly code: "pool-without-types"; readonly pool: string }
  | { readonly code: "overlay-refused"; readonly fault: OverlayFault }
  | { readonly code: "buffer-unresolved"; readonly buffer: ObjectMeta; readonly because: BufferFault }
  | { readonly code: "claim-not-launched"; readonly claim: string }
  /** A static pool that gets fewer nodes than its replicas, because of `limits.nodes` or of our own limit. */
  | {
      readonly code: "static-pool-limited";
      readonly pool: string;
      readonly replicas: number;
      readonly nodes: number;
      readonly by: "limits" | "plan";
    }
  /** The provider would find nothing to launch for the nodes of a static pool. */
  | { readonly code: "pool-not-launchable"; readonly pool: string }
  /** The last round still changed something. */
  | { readonly code: "rounds-not-settled"; readonly rounds: number };

/** The scheduling problem of a round over given objects, and what was left out of it. */
export interface Scenario {
  readonly problem: SchedulingProblem;
  /** Pending pods that do not pass validation. (02 §1.5) */
  readonly ignored: readonly Refusal[];
  readonly notes: readonly ScenarioNote[];
  /** Types changed by overlays; NodeClaims are annotated with it. (02:L-3) */
  readonly overlaid: { readonly priced: ReadonlySet<InstanceType>; readonly enlarged: ReadonlySet<InstanceType> };
}

/**
 * What one provisioning round would be asked about a cluster with these objects, which must be complete. Cluster state
 * and the round are those of the controller. (02:P-30)
 */
export function scenarioOf(objects: readonly KubeObject[], options: ScenarioOptions): Scenario {
  return openScenario(objects, options).scenario;
}

/** A scenario whose cluster can change as if decisions were carried out. */
export interface OpenScenario {
  readonly scenario: Scenario;
  readonly cluster: ClusterState;
  readonly projected: ProjectedCluster;
  /** Ready pools with a fixed number of nodes. */
  readonly staticPools: readonly StaticPool[];
  /** The problem of a round over the cluster as it is now. */
  readonly currentProblem: () => SchedulingProblem;
}

export function openScenario(objects: readonly KubeObject[], options: ScenarioOptions): OpenScenario {
  const { labelPolicy, policy, seed } = options;
  const { byKind, cluster, workloads, buffers, roundPods } = runSteps(clusterScenarioInSteps(objects, options));
  const nodePools = byKind.ofKind("NodePool");
  const { usable, unusable } = selectUsablePools(nodePools, options.served);
  const staticPools = readyStaticPools(nodePools, options.served);
  const offered = withInstanceTypes([...usable, ...staticPools], options);
  const overlaid = applyOverlays(offered, { overlays: byKind.ofKind("NodeOverlay"), policy: labelPolicy });
  const pods = podsToPlace(roundPods);
  const projected = new ProjectedCluster(cluster, { ...options, pools: overlaid.pools, pendingPods: pods });
  const dynamicPools = overlaid.pools.slice(0, usable.length);
  const currentProblem = (): SchedulingProblem =>
    roundProblem({
      pods: projected.pendingPods,
      pools: withoutUsedReservations(dynamicPools, projected.reservationUsage),
      snapshot: cluster.snapshot(),
      workloads: () => workloads,
      devices: options.devices && (() => options.devices as ClusterDevices),
      policy,
      labelPolicy,
      seed,
    });
  const scenario: Scenario = {
    problem: currentProblem(),
    ignored: roundPods.ignored.map(ignoredPodRefusal),
    overlaid,
    notes: [
      ...unusable.map(({ pool, because }) => poolNote(pool.metadata.name, because)),
      ...offered.filter(({ instanceTypes }) => instanceTypes.length === 0).map(poolWithoutTypesNote),
      ...overlaid.faults.map((fault): ScenarioNote => ({ code: "overlay-refused", fault })),
      ...buffers.faults.map(bufferNote),
      ...cluster.unlaunchedClaims().map((claim): ScenarioNote => ({ code: "claim-not-launched", claim })),
    ],
  };
  return { scenario, cluster, projected, staticPools, currentProblem };
}

export interface DisruptionScenarioOptions extends ScenarioOptions {
  /** Names of nodes that a recent round placed pods on. (03:D-13) */
  readonly nominated: readonly string[];
  readonly allowsSpotToSpot: boolean;
  readonly allowsMultiReplacement?: boolean;
  readonly mode: DisruptionSearch;
}

/** What a disruption pass would decide on, with these objects. */
export function disruptionScenarioOf(
  objects: readonly KubeObject[],
  options: DisruptionScenarioOptions,
): DisruptionSnapshot {
  return runSteps(disruptionScenarioInSteps(objects, options));
}

/** The same in short steps. */
export function* disruptionScenarioInSteps(
  objects: readonly KubeObject[],
  options: DisruptionScenarioOptions,
): Steps<DisruptionSnapshot> {
  const { cluster, sources } = yield* disruptionSourcesInSteps(objects, options);
  yield;
  return disruptionSnapshotOf(cluster, sources);
}

/** Cluster state with these objects, and what a disruption pass reads beside it. */
export function disruptionSourcesOf(
  objects: readonly KubeObject[],
  options: DisruptionScenarioOptions,
): ClusterAndSources {
  return runSteps(disruptionSourcesInSteps(objects, options));
}

interface ClusterAndSources {
  readonly cluster: ClusterState;
  readonly sources: DisruptionSources;
}

function* disruptionSourcesInSteps(
  objects: readonly KubeObject[],
  options: DisruptionScenarioOptions,
): Steps<ClusterAndSources> {
  const { labelPolicy, nominated, served, nowMs, policy, seed, allowsSpotToSpot, mode } = options;
  const { allowsMultiReplacement = false } = options;
  const { byKind, cluster, workloads, roundPods } = yield* clusterScenarioInSteps(objects, options);
  for (const { name, providerId } of cluster.nodes()) if (nominated.includes(name)) cluster.nominate(providerId);
  const managed = byKind.ofKind("NodePool").filter((pool) => isManagedPool(pool, served));
  const overlays = byKind.ofKind("NodeOverlay");
  const { pools } = applyOverlays(withInstanceTypes(managed, options), { overlays, policy: labelPolicy });
  const sources: DisruptionSources = {
    nowMs,
    served,
    policy,
    labelPolicy,
    seed,
    allowsSpotToSpot,
    allowsMultiReplacement,
    mode,
    pools,
    pendingPods: [...roundPods.pending, ...roundPods.ofBuffers],
    disruptionBudgets: byKind.ofKind("PodDisruptionBudget"),
    inCommand: new Set(),
    workloads,
    devices: options.devices,
  };
  return { cluster, sources };
}

function withInstanceTypes(pools: readonly NodePool[], { typesFor }: ScenarioOptions): readonly Pool[] {
  return pools.map((nodePool) => ({ nodePool, instanceTypes: typesFor(nodePool.spec.template.spec.nodeClassRef) }));
}

/** Cluster state with these objects, and the pods a round would place. */
function* clusterScenarioInSteps(objects: readonly KubeObject[], options: ScenarioOptions) {
  const { labelPolicy, nowMs } = options;
  const byKind = new ObjectsByKind(objects);
  yield;
  const cluster = yield* clusterStateInSteps(byKind, options);
  const workloads = [...objects, ...(options.workloads ?? [])];
  const buffers = resolveBuffers(byKind.ofKind("CapacityBuffer"), {
    podTemplates: byKind.ofKind("PodTemplate"),
    workloads,
  });
  const collecting = collectRoundPods(cluster.snapshot(), {
    labelPolicy,
    bufferPods: buffers.pods,
    disruptionBudgets: byKind.ofKind("PodDisruptionBudget"),
    nowMs,
  });
  return { byKind, cluster, workloads, buffers, roundPods: yield* collecting };
}

/** Any time will do: the clock of a scenario stands still. */
const scenarioNominationMs = 20_000;

/** Cluster state as it would be in a controller that has listed these objects. */
function* clusterStateInSteps(objects: ObjectsByKind, { served, nowMs }: ScenarioOptions): Steps<ClusterState> {
  const clock = new VirtualClock({ startAt: nowMs }); // nobody advances it: it stands still
  const cluster = new ClusterState({ clock, servedNodeClasses: served, nominationMs: scenarioNominationMs });
  const updates = stateUpdates(cluster);
  const feed = <K extends StateKind>(kind: K): Steps<void> =>
    forEachInSteps(objects.ofKind(kind), (object) => updates[kind].changed(object));
  for (const kind of stateKinds) yield* feed(kind);
  return cluster;
}

function ignoredPodRefusal({ pod, problems }: IgnoredPod): Refusal {
  return { pod, code: "invalid-pod", message: ignoredPodText(problems), pools: [] };
}

function poolNote(pool: string | undefined, because: UnusablePoolReason): ScenarioNote {
  return { code: "pool-passed-over", pool: pool ?? "", because };
}

function poolWithoutTypesNote({ nodePool }: Pool): ScenarioNote {
  return { code: "pool-without-types", pool: nodePool.metadata.name ?? "" };
}

function bufferNote({ buffer, reason }: ReturnType<typeof resolveBuffers>["faults"][number]): ScenarioNote {
  return { code: "buffer-unresolved", buffer: buffer.metadata as ObjectMeta, because: reason };
}
