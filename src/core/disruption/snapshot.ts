import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import type { KubeObject } from "../../api/object.ts";
import type { InstanceType } from "../instance-type.ts";
import type { PdbLookup, PodDisruptionBudget } from "../pod-predicates.ts";
import type { ClusterSnapshot } from "../round/cluster-snapshot.ts";
import type { ClusterDevices } from "../round/round-problem.ts";
import type { Pool, SchedulingPolicy } from "../scheduling/problem.ts";

/**
 * Everything a disruption pass reads, as a value: the same snapshot always has the same proposals.
 * (docs/designs/disruption.md)
 */
export interface DisruptionSnapshot {
  readonly nowMs: number;
  readonly cluster: ClusterSnapshot;
  /** Every pool of our node classes by name, static and not ready ones too. */
  readonly pools: ReadonlyMap<string, DisruptionPool>;
  /** Pools that can launch nodes for pods. (03:D-39) */
  readonly usablePools: readonly Pool[];
  /** Pending pods that passed validation, and pods of capacity buffers. (03:D-38) */
  readonly pendingPods: readonly Pod[];
  /** Nodes that earlier rounds nominated for pending pods, by pod. */
  readonly nominatedNodes?: ReadonlyMap<string, string> | undefined;
  readonly disruptionBudgets: readonly PodDisruptionBudget[];
  /** The same budgets, by the pods they select. */
  readonly pdbs: PdbLookup;
  /** Provider ids of nodes that a recent round placed pods on. (03:D-13) */
  readonly nominated: ReadonlySet<string>;
  /** Provider ids of nodes that are part of a command. (03:D-10) */
  readonly inCommand: ReadonlySet<string>;
  /** Virtual pods that the last round placed on each node, by provider id. (03:D-29a) */
  readonly bufferPodCounts: ReadonlyMap<string, number>;
  /** Pools whose drift waits after a replacement failed, and until when. (03:D-32b) */
  readonly heldBackPools: ReadonlyMap<string, number>;
  /** Consolidations of the last hour. (03:D-58a) */
  readonly recentMoves: readonly RecentMove[];
  /** Services and workloads; only needed for default topology constraints. (02:X-51) */
  readonly workloads: readonly KubeObject[];
  /** Unless requests for devices are ignored. (02:D-3) */
  readonly devices?: ClusterDevices | undefined;
  /** Of simulations. */
  readonly policy: SchedulingPolicy;
  readonly labelPolicy: LabelPolicy;
  readonly seed: number;
  /** The feature gate SpotToSpotConsolidation. (03:D-47) */
  readonly allowsSpotToSpot: boolean;
  /** The feature gate MultiReplacement; never in mode `upstream`. (03:D-46b) */
  readonly allowsMultiReplacement: boolean;
  readonly mode: DisruptionSearch;
}

/** `upstream` keeps to Karpenter's own search order and limits; `default` may look at more. */
export const disruptionModes = ["default", "upstream"] as const;
export type DisruptionMode = (typeof disruptionModes)[number];

/** `stepwise` searches in upstream's order, one command after the other, and keeps to our rules against churn. */
export type DisruptionSearch = DisruptionMode | "stepwise";

/** A pool as disruption sees it. */
export interface DisruptionPool {
  readonly name: string;
  readonly nodePool: NodePool;
  /** By name; none if the provider could not list them. (03:D-16) */
  readonly instanceTypes: ReadonlyMap<string, InstanceType>;
  /** What its claims cost an hour together. (03:B-4, S-7) */
  readonly cost: number;
  /** Its claims by state; static pools read them. (03:SP-1) */
  readonly claims: ClaimCounts;
}

export interface ClaimCounts {
  readonly active: number;
  readonly pendingDisruption: number;
  readonly deleting: number;
  /** About to be created. */
  readonly reserved: number;
}

/** A consolidation that was carried out, with what decided it: its nodes, their prices and their pods. (03:D-58a) */
export interface RecentMove {
  readonly atMs: number;
  /** Nodes that went. */
  readonly gone: readonly MovedNode[];
  /** Claims that came in their place, and the pods that were planned there. */
  readonly came: readonly { readonly claim: string; readonly pods: string }[];
}

/** A node as far as another can be like it. */
export interface MovedNode {
  readonly shape: string;
  readonly pool: string;
  readonly instanceType: string;
  readonly price: number;
  readonly pods: string;
}
