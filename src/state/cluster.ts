import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { NodePool } from "../api/kinds/node-pool.ts";
import type { Namespace, Node } from "../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import type { Resources } from "../core/resources.ts";
import type { ExistingNode, NodeLabelsAndTaints, VolumeIndex } from "../core/scheduling/problem.ts";
import type { NodePoolState } from "./node-pool-state.ts";
import type { PodTimes } from "./pod-times.ts";

/** A machine as we believe it is: a value, shared between snapshots until something about it changes. (02 §2.1, §2.3) */
export interface StateNode {
  readonly providerId: string;
  readonly claim?: NodeClaim | undefined;
  readonly node?: Node | undefined;
  /** Bound to it and not over. */
  readonly pods: readonly Pod[];
  /** The Node's name, or the claim's until it is registered. */
  readonly name: string;
  readonly nodePool?: string | undefined;
  readonly isManaged: boolean;
  readonly isRegistered: boolean;
  readonly isInitialized: boolean;
  /** Marked for deletion, or on its way out: nothing is placed on it, and its pods need another place. (02:S-28) */
  readonly isBeingDeleted: boolean;
  /** As scheduling sees it. */
  readonly existing: ExistingNode;
  /** What its pods, and what its daemons, ask for and may use: for metrics. */
  readonly usage: NodeUsage;
}

export interface NodeUsage {
  readonly podRequests: Resources;
  readonly podLimits: Resources;
  readonly daemonRequests: Resources;
  readonly daemonLimits: Resources;
  readonly allocatable: Resources;
}

/** Everything one round looks at, at one moment. Frozen, and shared with other snapshots as far as nothing changed. */
export interface ClusterSnapshot {
  /** By provider id. */
  readonly nodes: readonly StateNode[];
  /** Bound to a node, over or not: what topology counts. */
  readonly boundPods: readonly Pod[];
  /** Provisionable pods. (02 §1.1) */
  readonly pendingPods: readonly Pod[];
  /** Of every Node object there is. */
  readonly nodesByName: ReadonlyMap<string, NodeLabelsAndTaints>;
  /** One pod a DaemonSet. (02:S-10) */
  readonly daemons: readonly Pod[];
  readonly namespaces: readonly Namespace[];
  readonly volumes: VolumeIndex;
}

/** The cluster as we believe it is, as controllers see it. Fed by watches; assumes our own decisions at once. (02 §2) */
export interface Cluster {
  /** Whether decisions may be taken on it. (02:S-11) */
  readonly isSynced: boolean;
  /** Whether it ever was. (02:Z-2) */
  readonly hasSynced: boolean;
  /** Since when it is not synced, by the clock. */
  readonly unsyncedSince: number | undefined;

  snapshot(): ClusterSnapshot;
  nodes(): readonly StateNode[];
  nodeByProviderId(providerId: string): StateNode | undefined;
  nodeByName(name: string): StateNode | undefined;
  /** By claim name. */
  nodeByClaimName(name: string): StateNode | undefined;
  pool(name: string): NodePool | undefined;

  /** Σ capacity of a pool's machines that stay, with `nodes`. (02:S-35) */
  poolTotals(pool: string): Resources;
  /** Nodes of static pools. (02:S-36) */
  readonly nodePoolState: NodePoolState;

  markForDeletion(...providerIds: readonly string[]): void;
  unmarkForDeletion(...providerIds: readonly string[]): void;
  isMarkedForDeletion(providerId: string): boolean;
  /** Pods were sent its way: leave it alone for a while. (02:S-30) */
  nominate(providerId: string): void;
  isNominated(providerId: string): boolean;

  /** When something last changed that could make consolidation possible. (02:S-40, S-41) */
  consolidationTime(): number;
  markUnconsolidated(): void;

  /** When pods were first seen, decided on and placed: for metrics. (02:S-45) */
  readonly podTimes: PodTimes;
  /** Virtual pods that the last round placed on each machine. (02:B-8) */
  setBufferPodCounts(counts: ReadonlyMap<string, number>): void;
  bufferPodCount(providerId: string): number;
  /** The claim is gone, though nobody told: an unlaunched one that is not there keeps the state unsynced. (02:S-14) */
  forgetUnlaunched(claimName: string): void;
  /** Claims we know that have no machine yet. */
  unlaunchedClaims(): readonly string[];
}
