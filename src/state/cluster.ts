import type { NodePool } from "../api/kinds/node-pool.ts";
import type { Resources } from "../core/resources.ts";
import type { ClusterSnapshot, StateNode } from "../core/round/cluster-snapshot.ts";
import type { ExpectedPlaces } from "./expected-places.ts";
import type { NodePoolState } from "./node-pool-state.ts";
import type { PlannedPods } from "./planned-pods.ts";
import type { PodTimes } from "./pod-times.ts";

/** The cluster as we believe it is, for controllers. Fed by watches; our own writes show at once. (02 §2) */
export interface Cluster {
  /** Whether it is complete enough to decide on. (02:S-11) */
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

  /** Total capacity of a pool's nodes that are not being deleted, with their number as `nodes`. (02:S-35) */
  poolTotals(pool: string): Resources;
  /** Nodes of static pools. (02:S-36) */
  readonly nodePoolState: NodePoolState;

  markForDeletion(...providerIds: readonly string[]): void;
  unmarkForDeletion(...providerIds: readonly string[]): void;
  isMarkedForDeletion(providerId: string): boolean;
  /** Provider ids of nodes whose replacements are being created right now. (03:D-73) */
  readonly beingReplaced: Set<string>;
  /** Pods were nominated to it: it is not disrupted for a while. (02:S-30) */
  nominate(providerId: string): void;
  isNominated(providerId: string): boolean;

  /** Another number after every change that could make consolidation possible. (02:S-40, S-41) */
  consolidationEpoch(): number;
  markUnconsolidated(): void;

  /** When pods were first seen, decided on and placed. (02:S-45) */
  readonly podTimes: PodTimes;
  /** Where pods were planned. */
  readonly plannedPods: PlannedPods;
  /** Where pods were planned that do not exist yet. */
  readonly expectedPlaces: ExpectedPlaces;
  /** Virtual pods that the last round placed on each node, by provider id. (02:B-8) */
  setBufferPodCounts(counts: ReadonlyMap<string, number>): void;
  bufferPodCount(providerId: string): number;
  /** Forgets an unlaunched claim whose deletion we missed; it would keep the state unsynced. (02:S-14) */
  forgetUnlaunched(claimName: string): void;
  /** Names of known claims without an instance. */
  unlaunchedClaims(): readonly string[];
}
