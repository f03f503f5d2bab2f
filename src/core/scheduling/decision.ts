import type { Pod } from "../../api/kubernetes/pod.ts";
import type { InstanceType, Offering } from "../instance-type.ts";
import type { Requirements } from "../requirements.ts";
import type { Resources } from "../resources.ts";
import type { Refusal } from "./refusal.ts";

/** What a pass decided. Events, logs and explanations are renderings of it. (docs/designs/engine.md) */
export interface Decision {
  /** Pods placed on existing nodes, in the order the nodes are tried. Nodes that got none are left out. */
  readonly placements: readonly ExistingNodePlacement[];
  /** Nodes to create, in the order the pass added them. */
  readonly newNodes: readonly PlannedNode[];
  /** Pods that are not placed, and why, in the order of the problem. */
  readonly refusals: readonly Refusal[];
  /** Pools whose requirements leave no instance type at all. (02:T-6) */
  readonly emptyPools: readonly EmptyPool[];
  readonly statistics: PassStatistics;
}

export interface ExistingNodePlacement {
  readonly node: string;
  readonly pods: readonly Pod[];
}

/** A node to create, with all instance types it can have, cheapest first. (02 §6.1) */
export interface PlannedNode {
  readonly pool: string;
  readonly pods: readonly Pod[];
  /** Without the hostname and the simulation keys. */
  readonly requirements: Requirements;
  /** By price, then name; at most 600. (02:L-1, L-2) */
  readonly instanceTypes: readonly InstanceType[];
  /** Dollars an hour for the cheapest compatible offering. */
  readonly price: number;
  /** Requests of its pods and of the smallest daemon group. (02:L-5) */
  readonly requests: Resources;
  /** minValues was lowered to what is available. (02:Q-23) */
  readonly minValuesRelaxed: boolean;
  /** Reservations it holds, by id. (02:Y-6) */
  readonly reservations: readonly string[];
  /** What it would be launched from, if that was planned too; its type is then the first of `instanceTypes`. */
  readonly offering?: Offering;
  /** Drivers of the devices its pods get, sorted: initialization waits for them. (02:D-10) */
  readonly draDrivers?: readonly string[];
}

export interface EmptyPool {
  readonly pool: string;
  readonly becauseOfMinValues: boolean;
}

export interface PassStatistics {
  readonly pods: number;
  readonly classes: number;
  /** Candidates tried, for all pods together. */
  readonly candidatesTried: number;
  /** The pass was stopped before the queue was empty. (02:Q-9) */
  readonly timedOut: boolean;
}
