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
} from "../api/kubernetes/cluster.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import { namespacedName, type ObjectMeta } from "../api/object.ts";
import type { GroupKind } from "../api/validation/node-pool.ts";
import type { Resources } from "../core/resources.ts";
import { isLeaving, placedNode } from "../core/scenario/nodes.ts";
import type { PlacedNode } from "../core/scheduling/problem.ts";
import { claimKeys } from "../core/volumes.ts";
import type { Clock } from "../util/clock.ts";
import { SortedMap } from "../util/sorted-map.ts";
import type { Steps } from "../util/steps.ts";
import { AmountsOfPods } from "./amounts.ts";
import type { Cluster, ClusterSnapshot, StateNode } from "./cluster.ts";
import { ConsolidationClock } from "./consolidation-clock.ts";
import { CopyOnChange } from "./copy-on-change.ts";
import { Daemons } from "./daemons.ts";
import type { Entry } from "./entry.ts";
import { Machines } from "./machines.ts";
import { PodTimes } from "./pod-times.ts";
import { nodeOf, Pods } from "./pods.ts";
import { PoolMembers } from "./pool-members.ts";
import { PoolNodes } from "./pool-nodes.ts";
import { stateNode } from "./state-node.ts";
import { SyncGuard } from "./sync-guard.ts";
import { Volumes } from "./volumes.ts";

export interface ClusterStateOptions {
  readonly clock: Clock;
  /** Claims of other node classes are not ours to know of. (02:S-1) */
  readonly served: readonly GroupKind[];
  readonly nominationMs: number;
}

/** What is enough to say that something is gone. */
type Gone = { readonly metadata: ObjectMeta };

/**
 * The cluster as we believe it is, told object by object. What it believes depends on the objects alone, never on the
 * order they came in; a look at it is a value that nothing changes any more. (02 §2, 03 §8.2)
 */
export class ClusterState implements Cluster {
  readonly poolNodes = new PoolNodes();
  readonly times = new PodTimes();
  readonly #options: ClusterStateOptions;
  readonly #sync: SyncGuard;
  readonly #changes: ConsolidationClock;
  readonly #machines: Machines;
  readonly #pods = new Pods();
  readonly #daemons = new Daemons();
  readonly #volumes: Volumes;
  readonly #amounts = new AmountsOfPods();
  readonly #placed = new CopyOnChange<PlacedNode>();
  readonly #csiNodes = new Map<string, CsiNode>();
  readonly #namespaces = new SortedMap<Namespace>();
  readonly #pools = new Map<string, NodePool>();
  readonly #members = new PoolMembers(this.poolNodes);
  #bufferPods: ReadonlyMap<string, number> = new Map();

  constructor(options: ClusterStateOptions) {
    this.#options = options;
    this.#sync = new SyncGuard(options.clock);
    this.#changes = new ConsolidationClock(options.clock);
    this.#machines = new Machines({ look: (entry) => this.#look(entry), onStir: () => this.markUnconsolidated() });
    this.#volumes = new Volumes((pod) => this.#touchNodeOf(this.#pods.get(pod)));
  }

  get isSynced(): boolean {
    return this.#sync.isSynced;
  }

  get hasSynced(): boolean {
    return this.#sync.hasSynced;
  }

  get unsyncedSince(): number | undefined {
    return this.#sync.unsyncedSince;
  }

  snapshot(): ClusterSnapshot {
    return {
      nodes: this.nodes(),
      boundPods: this.#pods.bound(),
      pendingPods: this.#pods.pending(),
      nodesByName: this.#placed.now(),
      daemons: this.#daemons.all(),
      namespaces: this.#namespaces.values(),
      volumes: this.#volumes.index(),
    };
  }

  nodes(): readonly StateNode[] {
    return this.#machines.all();
  }

  node(providerId: string): StateNode | undefined {
    return this.#machines.get(providerId);
  }

  nodeByName(name: string): StateNode | undefined {
    return this.#machines.ofNode(name);
  }

  nodeOfClaim(name: string): StateNode | undefined {
    return this.#machines.ofClaim(name);
  }

  pool(name: string): NodePool | undefined {
    return this.#pools.get(name);
  }

  poolTotals(pool: string): Resources {
    return this.#machines.totals().of(pool);
  }

  markForDeletion(...providerIds: readonly string[]): void {
    for (const id of providerIds) this.#mark(id, { isMarked: true });
  }

  unmarkForDeletion(...providerIds: readonly string[]): void {
    for (const id of providerIds) this.#mark(id, { isMarked: false });
  }

  isMarked(providerId: string): boolean {
    return this.#machines.entry(providerId)?.isMarked ?? false;
  }

  nominate(providerId: string): void {
    const entry = this.#machines.entry(providerId);
    if (entry !== undefined) entry.nominatedUntil = this.#options.clock.now() + this.#options.nominationMs;
  }

  isNominated(providerId: string): boolean {
    return this.#options.clock.now() < (this.#machines.entry(providerId)?.nominatedUntil ?? 0);
  }

  consolidationTime(): number {
    return this.#changes.time();
  }

  markUnconsolidated(): void {
    this.#changes.changed();
  }

  setBufferPods(counts: ReadonlyMap<string, number>): void {
    this.#bufferPods = new Map(counts);
  }

  bufferPods(providerId: string): number {
    return this.#bufferPods.get(providerId) ?? 0;
  }

  forgetUnlaunched(claimName: string): void {
    if (this.#sync.isUnlaunched(claimName)) this.claimGone({ metadata: { name: claimName } });
  }

  unlaunchedClaims(): readonly string[] {
    return this.#sync.unlaunched();
  }

  /** Looks at what nobody has looked at yet, so that a first snapshot finds it done. */
  *warming(): Steps<void> {
    yield* this.#machines.warming();
    this.#pods.bound();
    yield;
  }

  /** Everything that existed has been told. */
  begun(): void {
    this.#sync.begin();
  }

  claimChanged(claim: NodeClaim): void {
    const { group, kind } = claim.spec.nodeClassRef;
    if (!this.#options.served.some((one) => one.group === group && one.kind === kind)) return;
    const { name = "" } = claim.metadata;
    this.#machines.putClaim(claim);
    const entry = this.#machines.entry(claim.status?.providerID);
    this.#members.put(claim, { isLeaving: entry?.isLeaving ?? isLeaving({ claim }) });
    this.#sync.claim(name, { isLaunched: (claim.status?.providerID ?? "") !== "" });
    this.#keepWarm();
  }

  claimGone({ metadata: { name = "" } }: Gone): void {
    this.#machines.removeClaim(name);
    this.#members.remove(name);
    this.#sync.claim(name, { isLaunched: true });
  }

  nodeChanged(node: Node): void {
    const { name = "" } = node.metadata;
    const placed = placedNode(node);
    // Most news of a Node is that it is still there: a look at all of them is not copied for that.
    if (JSON.stringify(placed) !== JSON.stringify(this.#placed.get(name))) this.#placed.set(name, placed);
    this.#sync.node(name, { isTold: this.#machines.putNode(node) });
    this.#keepWarm();
  }

  nodeGone({ metadata: { name = "" } }: Gone): void {
    this.#placed.delete(name);
    this.#machines.removeNode(name);
    this.#sync.node(name, { isTold: true });
  }

  /** Also of nodes nobody has told of: they count when the node is there. (02:S-7) */
  podChanged(pod: Pod): void {
    const key = namespacedName(pod.metadata);
    const { old, isNewBinding, isLoadSame } = this.#pods.put(key, pod);
    if (isNewBinding) this.markUnconsolidated();
    this.#daemons.putPod(key, { pod, old });
    this.#volumes.use(key, { before: old === undefined ? [] : claimKeys(old), now: claimKeys(pod) });
    if (old !== undefined && nodeOf(old) !== nodeOf(pod)) this.#touchNodeOf(old);
    this.#touchNodeOf(pod, { isLoadSame });
    this.#keepWarm();
  }

  /** 02:S-9. */
  podGone({ metadata }: Gone): void {
    const key = namespacedName(metadata);
    const old = this.#pods.remove(key);
    this.times.forget(key);
    this.markUnconsolidated();
    if (old === undefined) return;
    this.#daemons.removePod(key, old);
    this.#volumes.use(key, { before: claimKeys(old), now: [] });
    this.#touchNodeOf(old);
    this.#keepWarm();
  }

  daemonSetChanged(daemonSet: DaemonSet): void {
    this.#daemons.putSet(daemonSet);
  }

  daemonSetGone({ metadata }: Gone): void {
    this.#daemons.removeSet(namespacedName(metadata));
  }

  poolChanged(pool: NodePool): void {
    const { name = "", generation } = pool.metadata;
    const old = this.#pools.get(name);
    this.#pools.set(name, pool);
    if (old === undefined || old.metadata.generation !== generation) this.markUnconsolidated();
  }

  poolGone({ metadata: { name = "" } }: Gone): void {
    if (this.#pools.delete(name)) this.markUnconsolidated();
  }

  csiNodeChanged(csiNode: CsiNode): void {
    const { name = "" } = csiNode.metadata;
    this.#csiNodes.set(name, csiNode);
    this.#machines.touch(name);
  }

  csiNodeGone({ metadata: { name = "" } }: Gone): void {
    this.#csiNodes.delete(name);
    this.#machines.touch(name);
  }

  namespaceChanged(namespace: Namespace): void {
    this.#namespaces.set(namespace.metadata.name ?? "", namespace);
  }

  namespaceGone({ metadata: { name = "" } }: Gone): void {
    this.#namespaces.delete(name);
  }

  volumeClaimChanged(claim: PersistentVolumeClaim): void {
    this.#volumes.putClaim(claim);
  }

  volumeClaimGone({ metadata }: Gone): void {
    this.#volumes.removeClaim(namespacedName(metadata));
  }

  volumeChanged(volume: PersistentVolume): void {
    this.#volumes.putVolume(volume);
  }

  volumeGone({ metadata: { name = "" } }: Gone): void {
    this.#volumes.removeVolume(name);
  }

  storageClassChanged(storageClass: StorageClass): void {
    this.#volumes.putClass(storageClass);
  }

  storageClassGone({ metadata: { name = "" } }: Gone): void {
    this.#volumes.removeClass(name);
  }

  /** Once it is told what there is: until then most of it would only be looked at again. */
  #keepWarm(): void {
    if (!this.#sync.hasSynced) return;
    this.#machines.keepWarm();
    this.#pods.keepWarm();
  }

  #look(entry: Entry): StateNode {
    return stateNode(entry, {
      podsOn: (node) => this.#pods.on(node),
      amounts: this.#amounts,
      volumes: this.#volumes.live(),
      csiNodes: this.#csiNodes,
    });
  }

  #touchNodeOf(pod: Pod | undefined, how?: { readonly isLoadSame: boolean }): void {
    if (pod !== undefined && nodeOf(pod) !== "") this.#machines.touch(nodeOf(pod), how);
  }

  #mark(providerId: string, { isMarked }: { readonly isMarked: boolean }): void {
    this.#machines.mark(providerId, { isMarked });
    const claim = this.#machines.entry(providerId)?.claim?.metadata.name;
    if (claim !== undefined) this.#members.mark(claim, { isMarked });
  }
}
