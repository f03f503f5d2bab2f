import type {
  CsiNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../../../../api/kubernetes/cluster.ts";
import type { Labels } from "../../../../core/label-selector.ts";
import type { LiveNode } from "../live.ts";
import { claimRefOf } from "../volumes/claims.ts";
import { AmountReader } from "./amounts.ts";
import { type NodeFacts, NodeView, nodeFacts } from "./node-view.ts";
import type { PodProfile } from "./profile.ts";
import { keepsAway, prefersPods, type Snapshot } from "./snapshot.ts";

interface Placed {
  readonly pod: PodProfile;
  readonly node: string;
  /** Decided, and not yet seen to be so. */
  readonly isAssumed: boolean;
}

/**
 * The cluster as the scheduler believes it is: what it saw, and what it decided and has not seen yet. So it can decide
 * about the next pod before the last one is bound.
 */
export class SchedulerCache implements Snapshot {
  readonly reader = new AmountReader();
  readonly namespaceLabels = new Map<string, Labels>();
  readonly volumes = {
    claims: new Map<string, PersistentVolumeClaim>(),
    volumes: new Map<string, PersistentVolume>(),
    classes: new Map<string, StorageClass>(),
  };
  readonly volumeLimits = new Map<string, ReadonlyMap<string, number>>();
  readonly nominated = new Map<string, readonly PodProfile[]>();
  readonly #views = new Map<string, NodeView>();
  readonly #placed = new Map<string, Placed>();
  /** Also of nodes that are not there: a pod may be seen before its node. */
  readonly #byNode = new Map<string, Map<string, PodProfile>>();
  readonly #nominations = new Map<string, string>();
  #sorted: readonly NodeView[] | undefined;
  #freeVolumes: readonly PersistentVolume[] | undefined;
  #keepingAway = 0;
  #preferring = 0;

  get nodes(): readonly NodeView[] {
    this.#sorted ??= [...this.#views.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sorted;
  }

  get freeVolumes(): readonly PersistentVolume[] {
    this.#freeVolumes ??= [...this.volumes.volumes]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, volume]) => volume)
      .filter((volume) => volume.metadata.deletionTimestamp === undefined && !this.#isTaken(volume));
    return this.#freeVolumes;
  }

  get hasAntiAffinity(): boolean {
    return this.#keepingAway > 0;
  }

  get hasPodPreferences(): boolean {
    return this.#preferring > 0;
  }

  /** Says whether anything changed that scheduling looks at. */
  putNode(node: LiveNode): boolean {
    const facts = nodeFacts(node, this.reader);
    const before = this.#views.get(facts.name);
    if (before !== undefined && sameFacts(before.facts, facts)) return false;
    this.#views.set(facts.name, new NodeView(facts, this.#byNode.get(facts.name)?.values()));
    this.#sorted = undefined;
    return true;
  }

  removeNode(name: string): void {
    this.#views.delete(name);
    this.#sorted = undefined;
  }

  node(name: string): NodeView | undefined {
    return this.#views.get(name);
  }

  place(pod: PodProfile, node: string): void {
    this.#put({ pod, node, isAssumed: false });
  }

  /** Counts a pod on its node before the API server says so. */
  assume(pod: PodProfile, node: string): void {
    this.#put({ pod, node, isAssumed: true });
  }

  isAssumed(key: string): boolean {
    return this.#placed.get(key)?.isAssumed === true;
  }

  placed(key: string): PodProfile | undefined {
    return this.#placed.get(key)?.pod;
  }

  /** Says whether it was there. */
  remove(key: string): boolean {
    const known = this.#placed.get(key);
    if (known === undefined) return false;
    this.#placed.delete(key);
    this.#byNode.get(known.node)?.delete(key);
    this.#views.get(known.node)?.remove(key);
    this.#count(known.pod, -1);
    return true;
  }

  /** Keeps room for a pod for which others are leaving. */
  nominate(pod: PodProfile, node: string): void {
    this.unnominate(pod.key);
    this.#nominations.set(pod.key, node);
    this.nominated.set(node, [...(this.nominated.get(node) ?? []), pod]);
  }

  nominationOf(key: string): string | undefined {
    return this.#nominations.get(key);
  }

  unnominate(key: string): void {
    const node = this.#nominations.get(key);
    if (node === undefined) return;
    this.#nominations.delete(key);
    const others = (this.nominated.get(node) ?? []).filter((other) => other.key !== key);
    if (others.length === 0) this.nominated.delete(node);
    else this.nominated.set(node, others);
  }

  putVolume(name: string, volume: PersistentVolume | undefined): void {
    this.#freeVolumes = undefined;
    if (volume === undefined) this.volumes.volumes.delete(name);
    else this.volumes.volumes.set(name, volume);
  }

  putClaim(key: string, claim: PersistentVolumeClaim | undefined): void {
    this.#freeVolumes = undefined;
    if (claim === undefined) this.volumes.claims.delete(key);
    else this.volumes.claims.set(key, claim);
  }

  putLimits(node: string, csi: CsiNode | undefined): void {
    const limits = new Map<string, number>();
    for (const { name, allocatable } of csi?.spec?.drivers ?? []) {
      if (allocatable?.count !== undefined) limits.set(name, allocatable.count);
    }
    if (limits.size === 0) this.volumeLimits.delete(node);
    else this.volumeLimits.set(node, limits);
  }

  #put(placed: Placed): void {
    const { pod, node } = placed;
    this.remove(pod.key);
    this.#placed.set(pod.key, placed);
    const pods = this.#byNode.get(node) ?? new Map<string, PodProfile>();
    this.#byNode.set(node, pods);
    pods.set(pod.key, pod);
    this.#views.get(node)?.add(pod);
    this.#count(pod, 1);
  }

  #count(pod: PodProfile, sign: 1 | -1): void {
    if (keepsAway(pod)) this.#keepingAway += sign;
    if (prefersPods(pod)) this.#preferring += sign;
  }

  /** A volume that is kept for a claim is free for that claim until they are bound to each other. */
  #isTaken(volume: PersistentVolume): boolean {
    const ref = claimRefOf(volume);
    if (ref === undefined) return false;
    const claim = this.volumes.claims.get(ref.key);
    return claim === undefined || (ref.uid !== "" && ref.uid !== claim.metadata.uid);
  }
}

function sameFacts(a: NodeFacts, b: NodeFacts): boolean {
  return (
    a.isUnschedulable === b.isUnschedulable &&
    JSON.stringify([a.labels, a.taints, [...a.allocatable]]) ===
      JSON.stringify([b.labels, b.taints, [...b.allocatable]])
  );
}
