import type {
  CsiNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../../../api/kubernetes/cluster-objects.ts";
import type { LabelSet } from "../../../core/label-selector.ts";
import { claimRefOf } from "../../../core/volume-matching.ts";
import type { ApiNode } from "../api-pod-and-node.ts";
import { type NodeFacts, NodeInfo, nodeFacts } from "./node-info.ts";
import type { PodProfile } from "./pod-profile.ts";
import { SchedulerAmountReader } from "./scheduler-amounts.ts";
import { hasAntiAffinityTerms, hasPodAffinityTerms, type SchedulerSnapshot } from "./scheduler-snapshot.ts";

interface CachedPod {
  readonly pod: PodProfile;
  readonly node: string;
  /** Decided, and not yet confirmed by the watch. */
  readonly isAssumed: boolean;
}

/**
 * The scheduler's view of the cluster: what it observed, and what it decided and has not observed yet, so that it can
 * schedule the next pod before the last is bound.
 */
export class SchedulerCache implements SchedulerSnapshot {
  readonly reader = new SchedulerAmountReader();
  readonly namespaceLabels = new Map<string, LabelSet>();
  readonly volumes = {
    claims: new Map<string, PersistentVolumeClaim>(),
    volumes: new Map<string, PersistentVolume>(),
    classes: new Map<string, StorageClass>(),
  };
  readonly volumeLimits = new Map<string, ReadonlyMap<string, number>>();
  readonly nominated = new Map<string, readonly PodProfile[]>();
  readonly #nodeInfos = new Map<string, NodeInfo>();
  readonly #pods = new Map<string, CachedPod>();
  /** Also for unknown nodes: a pod may be observed before its node. */
  readonly #podsByNode = new Map<string, Map<string, PodProfile>>();
  readonly #nominations = new Map<string, string>();
  #sortedNodes: readonly NodeInfo[] | undefined;
  #freeVolumes: readonly PersistentVolume[] | undefined;
  #podsWithAntiAffinity = 0;
  #podsWithPreferences = 0;

  get nodes(): readonly NodeInfo[] {
    this.#sortedNodes ??= [...this.#nodeInfos.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sortedNodes;
  }

  get freeVolumes(): readonly PersistentVolume[] {
    this.#freeVolumes ??= [...this.volumes.volumes]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, volume]) => volume)
      .filter((volume) => volume.metadata.deletionTimestamp === undefined && !this.#isTaken(volume));
    return this.#freeVolumes;
  }

  get hasAntiAffinity(): boolean {
    return this.#podsWithAntiAffinity > 0;
  }

  get hasPodPreferences(): boolean {
    return this.#podsWithPreferences > 0;
  }

  /** Returns whether anything changed that scheduling depends on. */
  putNode(node: ApiNode): boolean {
    const facts = nodeFacts(node, this.reader);
    const before = this.#nodeInfos.get(facts.name);
    if (before !== undefined && sameFacts(before.facts, facts)) return false;
    this.#nodeInfos.set(facts.name, new NodeInfo(facts, this.#podsByNode.get(facts.name)?.values()));
    this.#sortedNodes = undefined;
    return true;
  }

  removeNode(name: string): void {
    this.#nodeInfos.delete(name);
    this.#sortedNodes = undefined;
  }

  node(name: string): NodeInfo | undefined {
    return this.#nodeInfos.get(name);
  }

  addPod(pod: PodProfile, node: string): void {
    this.#putPod({ pod, node, isAssumed: false });
  }

  /** Counts a pod on its node before the API server confirms it. */
  assumePod(pod: PodProfile, node: string): void {
    this.#putPod({ pod, node, isAssumed: true });
  }

  isAssumed(key: string): boolean {
    return this.#pods.get(key)?.isAssumed === true;
  }

  pod(key: string): PodProfile | undefined {
    return this.#pods.get(key)?.pod;
  }

  /** Returns whether it was known. */
  removePod(key: string): boolean {
    const known = this.#pods.get(key);
    if (known === undefined) return false;
    this.#pods.delete(key);
    const onNode = this.#podsByNode.get(known.node);
    onNode?.delete(key);
    if (onNode?.size === 0) this.#podsByNode.delete(known.node);
    this.#nodeInfos.get(known.node)?.remove(key);
    this.#count(known.pod, -1);
    return true;
  }

  /** Reserves room on the node for a pod that is expected there: by preemption, or by who made the node. */
  nominate(pod: PodProfile, node: string): void {
    this.removeNomination(pod.key);
    this.#nominations.set(pod.key, node);
    this.nominated.set(node, [...(this.nominated.get(node) ?? []), pod]);
  }

  nominationOf(key: string): string | undefined {
    return this.#nominations.get(key);
  }

  removeNomination(key: string): void {
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

  putVolumeLimits(node: string, csi: CsiNode | undefined): void {
    const limits = new Map<string, number>();
    for (const { name, allocatable } of csi?.spec?.drivers ?? []) {
      if (allocatable?.count !== undefined) limits.set(name, allocatable.count);
    }
    if (limits.size === 0) this.volumeLimits.delete(node);
    else this.volumeLimits.set(node, limits);
  }

  #putPod(placed: CachedPod): void {
    const { pod, node } = placed;
    this.removePod(pod.key);
    this.#pods.set(pod.key, placed);
    const pods = this.#podsByNode.get(node) ?? new Map<string, PodProfile>();
    this.#podsByNode.set(node, pods);
    pods.set(pod.key, pod);
    this.#nodeInfos.get(node)?.add(pod);
    this.#count(pod, 1);
  }

  #count(pod: PodProfile, sign: 1 | -1): void {
    if (hasAntiAffinityTerms(pod)) this.#podsWithAntiAffinity += sign;
    if (hasPodAffinityTerms(pod)) this.#podsWithPreferences += sign;
  }

  /** A pre-bound volume stays free for its claim until they are bound. */
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
