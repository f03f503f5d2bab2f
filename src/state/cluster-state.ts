import { isStatusConditionTrue } from "../api/conditions/set-condition.ts";
import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { NodePool } from "../api/kinds/node-pool.ts";
import type {
  CsiNode,
  DaemonSet,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import { annotations } from "../api/labels.ts";
import { namespacedName, type ObjectMeta } from "../api/object.ts";
import { isNodeProtected } from "../api/validation/do-not-disrupt.ts";
import type { GroupKind } from "../api/validation/node-pool.ts";
import { withExpectedNode } from "../core/nominations.ts";
import { isTerminalPod } from "../core/pod-predicates.ts";
import type { Resources } from "../core/resources.ts";
import type { ClusterSnapshot, StateNode } from "../core/round/cluster-snapshot.ts";
import type { NodeLabelsAndTaints } from "../core/scheduling/problem.ts";
import { volumeClaimKeys } from "../core/volumes.ts";
import type { Clock } from "../util/clock.ts";
import { SortedMap } from "../util/sorted-map.ts";
import type { Steps } from "../util/steps.ts";
import { buildStateNode } from "./build-state-node.ts";
import type { Cluster } from "./cluster.ts";
import { ConsolidationClock } from "./consolidation-clock.ts";
import { CopyOnWriteMap } from "./copy-on-write-map.ts";
import { DaemonSetPods } from "./daemon-set-pods.ts";
import { isNodeBeingDeleted, placedNodeOf } from "./existing-node.ts";
import { ExpectedPlaces } from "./expected-places.ts";
import { NodePoolState } from "./node-pool-state.ts";
import { PlannedPods } from "./planned-pods.ts";
import { nodeNameOfPod, PodIndex } from "./pod-index.ts";
import { PodResourcesCache } from "./pod-resources-cache.ts";
import { PodTimes } from "./pod-times.ts";
import { PoolClaimTracker } from "./pool-claim-tracker.ts";
import type { StateNodeEntry } from "./state-node-entry.ts";
import { StateNodeIndex } from "./state-node-index.ts";
import { SyncStatus } from "./sync-status.ts";
import { VolumeTracker } from "./volume-tracker.ts";

export interface ClusterStateOptions {
  readonly clock: Clock;
  /** Claims of other node classes are ignored. (02:S-1) */
  readonly servedNodeClasses: readonly GroupKind[];
  readonly nominationMs: number;
}

/** Enough to identify a deleted object. */
type DeletedObject = { readonly metadata: ObjectMeta };

/**
 * The cluster as we believe it is, fed object by object. It depends on the objects alone, not on the order of events;
 * snapshots never change. (02 §2, 03 §8.2)
 */
export class ClusterState implements Cluster {
  readonly nodePoolState = new NodePoolState();
  readonly podTimes = new PodTimes((pod) => this.#pods.get(pod) !== undefined);
  readonly beingReplaced = new Set<string>();
  readonly expectedPlaces = new ExpectedPlaces();
  readonly plannedPods = new PlannedPods((pod) => this.#pods.get(pod) !== undefined);
  readonly #options: ClusterStateOptions;
  readonly #syncStatus: SyncStatus;
  readonly #consolidationClock: ConsolidationClock;
  readonly #stateNodes: StateNodeIndex;
  readonly #pods = new PodIndex();
  readonly #daemons = new DaemonSetPods();
  readonly #volumes: VolumeTracker;
  readonly #podResources = new PodResourcesCache();
  readonly #placed = new CopyOnWriteMap<NodeLabelsAndTaints>();
  readonly #csiNodes = new Map<string, CsiNode>();
  readonly #namespaces = new SortedMap<Namespace>();
  readonly #pools = new Map<string, NodePool>();
  readonly #poolClaims = new PoolClaimTracker(this.nodePoolState);
  #bufferPodCounts: ReadonlyMap<string, number> = new Map();

  constructor(options: ClusterStateOptions) {
    this.#options = options;
    this.#syncStatus = new SyncStatus(options.clock);
    this.#consolidationClock = new ConsolidationClock(options.clock);
    this.#stateNodes = new StateNodeIndex({
      build: (entry) => this.#buildStateNode(entry),
      onConsolidationChange: () => this.markUnconsolidated(),
    });
    this.#volumes = new VolumeTracker((pod) => this.#outdateNodeOf(this.#pods.get(pod)));
  }

  get isSynced(): boolean {
    return this.#syncStatus.isSynced;
  }

  get hasSynced(): boolean {
    return this.#syncStatus.hasSynced;
  }

  get unsyncedSince(): number | undefined {
    return this.#syncStatus.unsyncedSince;
  }

  snapshot(): ClusterSnapshot {
    return {
      nodes: this.nodes(),
      boundPods: this.#pods.bound(),
      pendingPods: this.#pods.pending(),
      nodesByName: this.#placed.snapshot(),
      daemons: this.#daemons.all(),
      namespaces: this.#namespaces.values(),
      volumes: this.#volumes.snapshot(),
    };
  }

  nodes(): readonly StateNode[] {
    return this.#stateNodes.all();
  }

  nodeByProviderId(providerId: string): StateNode | undefined {
    return this.#stateNodes.get(providerId);
  }

  nodeByName(name: string): StateNode | undefined {
    return this.#stateNodes.byNodeName(name);
  }

  nodeByClaimName(name: string): StateNode | undefined {
    return this.#stateNodes.byClaimName(name);
  }

  pool(name: string): NodePool | undefined {
    return this.#pools.get(name);
  }

  poolTotals(pool: string): Resources {
    return this.#stateNodes.totals().of(pool);
  }

  markForDeletion(...providerIds: readonly string[]): void {
    for (const id of providerIds) this.#mark(id, { isMarked: true });
  }

  unmarkForDeletion(...providerIds: readonly string[]): void {
    for (const id of providerIds) this.#mark(id, { isMarked: false });
  }

  isMarkedForDeletion(providerId: string): boolean {
    return this.#stateNodes.entry(providerId)?.isMarked ?? false;
  }

  nominate(providerId: string): void {
    const entry = this.#stateNodes.entry(providerId);
    if (entry !== undefined) entry.nominatedUntil = this.#options.clock.now() + this.#options.nominationMs;
  }

  isNominated(providerId: string): boolean {
    return this.#options.clock.now() < (this.#stateNodes.entry(providerId)?.nominatedUntil ?? 0);
  }

  consolidationEpoch(): number {
    return this.#consolidationClock.epoch();
  }

  markUnconsolidated(): void {
    this.#consolidationClock.changed();
  }

  setBufferPodCounts(counts: ReadonlyMap<string, number>): void {
    const isFreed = [...this.#bufferPodCounts.keys()].some((providerId) => !counts.has(providerId));
    this.#bufferPodCounts = new Map(counts);
    if (isFreed) this.markUnconsolidated();
  }

  bufferPodCount(providerId: string): number {
    return this.#bufferPodCounts.get(providerId) ?? 0;
  }

  forgetUnlaunched(claimName: string): void {
    if (this.#syncStatus.isUnlaunched(claimName)) this.claimGone({ metadata: { name: claimName } });
  }

  unlaunchedClaims(): readonly string[] {
    return this.#syncStatus.unlaunched();
  }

  /** Builds stale state nodes, so that the first snapshot is quick. */
  *refreshStale(): Steps<void> {
    yield* this.#stateNodes.refreshStale();
    this.#pods.bound();
    yield;
  }

  /** The initial lists are complete. */
  markInitialListComplete(): void {
    this.#syncStatus.markInitialListComplete();
  }

  claimChanged(claim: NodeClaim): void {
    const { group, kind } = claim.spec.nodeClassRef;
    if (!this.#options.servedNodeClasses.some((one) => one.group === group && one.kind === kind)) return;
    const { name = "" } = claim.metadata;
    const wasConsolidatable = isConsolidatable(this.#stateNodes.byClaimName(name)?.claim);
    this.#stateNodes.putClaim(claim);
    if (isConsolidatable(claim) && !wasConsolidatable) this.markUnconsolidated();
    const entry = this.#stateNodes.entry(claim.status?.providerID);
    this.#poolClaims.put(claim, { isBeingDeleted: entry?.isBeingDeleted ?? isNodeBeingDeleted({ claim }) });
    this.#syncStatus.updateClaim(name, { isLaunched: (claim.status?.providerID ?? "") !== "" });
    this.#limitStale();
  }

  claimGone({ metadata: { name = "" } }: DeletedObject): void {
    this.#stateNodes.removeClaim(name);
    this.#poolClaims.remove(name);
    this.#syncStatus.updateClaim(name, { isLaunched: true });
  }

  nodeChanged(node: Node): void {
    const { name = "" } = node.metadata;
    const old = this.#stateNodes.byNodeName(name)?.node;
    const placed = placedNodeOf(node);
    // Most updates of a Node are heartbeats: the shared map is not copied for those.
    const isPlacedSame = JSON.stringify(placed) === JSON.stringify(this.#placed.get(name));
    if (!isPlacedSame) this.#placed.set(name, placed);
    if (!isPlacedSame || (old !== undefined && isNodeProtected(old) && !isNodeProtected(node)))
      this.markUnconsolidated();
    this.#syncStatus.updateNode(name, { isIdentified: this.#stateNodes.putNode(node) });
    this.#limitStale();
  }

  nodeGone({ metadata: { name = "" } }: DeletedObject): void {
    this.#placed.delete(name);
    this.#stateNodes.removeNode(name);
    this.#syncStatus.updateNode(name, { isIdentified: true });
  }

  /** Pods of unknown nodes are kept, and count once the node is there. (02:S-7) */
  podChanged(changed: Pod): void {
    const pod = withExpectedNode(changed);
    const key = namespacedName(pod.metadata);
    const { old, isNewBinding, isLoadSame } = this.#pods.put(key, pod);
    if (isNewBinding || (old !== undefined && mayFreeNode(old, pod))) this.markUnconsolidated();
    this.#daemons.putPod(key, { pod, old });
    this.#volumes.setClaimsOfPod(key, {
      before: old === undefined ? [] : volumeClaimKeys(old),
      now: volumeClaimKeys(pod),
    });
    if (old !== undefined && nodeNameOfPod(old) !== nodeNameOfPod(pod)) this.#outdateNodeOf(old);
    this.#outdateNodeOf(pod, { isLoadSame });
    this.#limitStale();
  }

  /** Its node has room again, which may make consolidation possible. (02:S-9) */
  podGone({ metadata }: DeletedObject): void {
    const key = namespacedName(metadata);
    const old = this.#pods.remove(key);
    this.podTimes.forget(key);
    this.plannedPods.forget(key);
    this.markUnconsolidated();
    if (old === undefined) return;
    this.#daemons.removePod(key, old);
    this.#volumes.setClaimsOfPod(key, { before: volumeClaimKeys(old), now: [] });
    this.#outdateNodeOf(old);
    this.#limitStale();
  }

  daemonSetChanged(daemonSet: DaemonSet): void {
    this.#daemons.putSet(daemonSet);
  }

  daemonSetGone({ metadata }: DeletedObject): void {
    this.#daemons.removeSet(namespacedName(metadata));
  }

  poolChanged(pool: NodePool): void {
    const { name = "", generation } = pool.metadata;
    const old = this.#pools.get(name);
    this.#pools.set(name, pool);
    if (old === undefined || old.metadata.generation !== generation) this.markUnconsolidated();
  }

  poolGone({ metadata: { name = "" } }: DeletedObject): void {
    if (this.#pools.delete(name)) this.markUnconsolidated();
  }

  csiNodeChanged(csiNode: CsiNode): void {
    const { name = "" } = csiNode.metadata;
    this.#csiNodes.set(name, csiNode);
    this.#stateNodes.outdateNode(name);
  }

  csiNodeGone({ metadata: { name = "" } }: DeletedObject): void {
    this.#csiNodes.delete(name);
    this.#stateNodes.outdateNode(name);
  }

  namespaceChanged(namespace: Namespace): void {
    this.#namespaces.set(namespace.metadata.name ?? "", namespace);
  }

  namespaceGone({ metadata: { name = "" } }: DeletedObject): void {
    this.#namespaces.delete(name);
  }

  volumeClaimChanged(claim: PersistentVolumeClaim): void {
    this.#volumes.putClaim(claim);
  }

  volumeClaimGone({ metadata }: DeletedObject): void {
    this.#volumes.removeClaim(namespacedName(metadata));
  }

  volumeChanged(volume: PersistentVolume): void {
    this.#volumes.putVolume(volume);
  }

  volumeGone({ metadata: { name = "" } }: DeletedObject): void {
    this.#volumes.removeVolume(name);
  }

  storageClassChanged(storageClass: StorageClass): void {
    this.#volumes.putClass(storageClass);
  }

  storageClassGone({ metadata: { name = "" } }: DeletedObject): void {
    this.#volumes.removeClass(name);
  }

  /** Only after the first sync: before it, most state nodes would become stale again. */
  #limitStale(): void {
    if (!this.#syncStatus.hasSynced) return;
    this.#stateNodes.limitStale();
    this.#pods.limitUnordered();
  }

  #buildStateNode(entry: StateNodeEntry): StateNode {
    return buildStateNode(entry, {
      podsOnNode: (node) => this.#pods.onNode(node),
      podResources: this.#podResources,
      volumes: this.#volumes.live(),
      csiNodes: this.#csiNodes,
    });
  }

  #outdateNodeOf(pod: Pod | undefined, how?: { readonly isLoadSame: boolean }): void {
    if (pod !== undefined && nodeNameOfPod(pod) !== "") this.#stateNodes.outdateNode(nodeNameOfPod(pod), how);
  }

  #mark(providerId: string, { isMarked }: { readonly isMarked: boolean }): void {
    this.#stateNodes.mark(providerId, { isMarked });
    const entry = this.#stateNodes.entry(providerId);
    if (entry?.claim !== undefined) this.#poolClaims.put(entry.claim, entry);
  }
}

/** Whether the pod no longer keeps its node from being disrupted: it ended, is ending, or lost its protection. (03:D-34) */
function mayFreeNode(old: Pod, pod: Pod): boolean {
  return (
    isTerminalPod(pod) !== isTerminalPod(old) ||
    pod.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    pod.metadata.annotations?.[annotations.doNotDisrupt] !== old.metadata.annotations?.[annotations.doNotDisrupt]
  );
}

function isConsolidatable(claim: NodeClaim | undefined): boolean {
  return claim !== undefined && isStatusConditionTrue(claim, "Consolidatable");
}
