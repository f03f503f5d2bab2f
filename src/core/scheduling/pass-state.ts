import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Bitset } from "../../util/bitset.ts";
import type { DaemonGroup } from "./daemon-overhead.ts";
import type { EmptyPool } from "./decision.ts";
import type { InstanceTypeTable } from "./instance-type-table.ts";
import type { NodeClaimTemplate } from "./node-claim-template.ts";
import type { PlannedNodeOrder } from "./planned-node-order.ts";
import type { PodClass } from "./pod-class.ts";
import type { ExistingNode, HostPort, NodeVolumes, SchedulingProblem } from "./problem.ts";
import type { RequirementState, RequirementStates } from "./requirement-state.ts";
import type { RequirementTable } from "./requirement-table.ts";
import type { Reservations } from "./reservations.ts";
import type { ResourceSpace } from "./resource-space.ts";
import type { DomainCountCache } from "./topology/domain-counts.ts";
import type { Topology } from "./topology/topology.ts";
import type { TopologyGroup } from "./topology/topology-group.ts";
import type { Variant, VariantContext } from "./variants.ts";

/** A pool ready to be bought from. */
export interface PoolTemplate {
  readonly index: number;
  readonly nodeClaimTemplate: NodeClaimTemplate;
  readonly typeTable: InstanceTypeTable;
  readonly requirementStates: RequirementStates;
  /** What every claim begins as. */
  readonly initialState: RequirementState;
  /** Types the pool's own requirements leave. (02:T-6) */
  readonly columns: Bitset;
  readonly daemonGroups: readonly DaemonGroup[];
  /** What its limits still allow, by limited resource; null: unlimited. (02 §5.8) */
  readonly remainingLimits: Map<string, number>;
}

/** A machine that exists, as it fills up during the pass. */
export interface ExistingNodeState {
  readonly index: number;
  readonly node: ExistingNode;
  requirementState: RequirementState;
  readonly remainingResources: Float64Array;
  hostPorts: readonly HostPort[];
  volumes: NodeVolumes;
  readonly pods: QueuedPod[];
}

/** A machine to buy, as it fills up during the pass. */
export interface PlannedNodeState {
  readonly index: number;
  readonly poolTemplate: PoolTemplate;
  /** Its number among all hosts. */
  readonly hostIndex: number;
  readonly hostname: string;
  requirementState: RequirementState;
  columns: Bitset;
  /** Columns it was opened with: the largest of them was charged against the pool's limits. (02:H-3) */
  readonly initialColumns: Bitset;
  used: Float64Array;
  hostPorts: readonly HostPort[];
  pods: QueuedPod[];
  minValuesRelaxed: boolean;
}

/** A pod in the queue. */
export interface QueuedPod {
  readonly pod: Pod;
  readonly podClass: PodClass;
  /** Its place among the pods of the problem. */
  readonly position: number;
  /** Queue length when it last failed: a full lap without progress ends the pass. (02:Q-2) */
  queueLengthAtFailure: number;
  /** What was left of its wishes when it found its planned node. */
  placedVariant?: Variant;
}

/** Groups that count a class's pods once they are placed. */
export interface CountingGroups {
  /** How many of all groups have been looked through. */
  groupsSeen: number;
  readonly groups: TopologyGroup[];
  readonly inverseGroups: readonly TopologyGroup[];
}

/** Everything a pass knows. One object, owned by one pass. */
export interface Pass {
  readonly problem: SchedulingProblem;
  readonly table: RequirementTable;
  readonly space: ResourceSpace;
  readonly topology: Topology;
  readonly variantContext: VariantContext;
  readonly poolTemplates: readonly PoolTemplate[];
  readonly emptyPools: readonly EmptyPool[];
  readonly nodeRequirementStates: RequirementStates;
  readonly existingNodes: readonly ExistingNodeState[];
  /** Those somebody was promised a place on, by name. */
  readonly nominatedExistingNodes: ReadonlyMap<string, ExistingNodeState>;
  readonly plannedNodes: PlannedNodeState[];
  readonly plannedNodeOrder: PlannedNodeOrder;
  readonly reservations: Reservations;
  readonly podClasses: readonly PodClass[];
  readonly countingGroups: Map<PodClass, CountingGroups>;
  /** Commits when a class last failed: it fails again until something changes. */
  readonly placementCountAtFailure: Map<PodClass, number>;
  readonly queue: QueuedPod[];
  queueHead: number;
  phase: "placing" | "polishing" | "closing";
  placementCount: number;
  candidatesTried: number;
  timedOut: boolean;
  /** Whether the candidate last tried was refused only because reserved capacity is in use. (02:Y-3) */
  refusedByReservation: boolean;
  readonly scratch: Float64Array;
  readonly domainCounts: DomainCountCache;
}

/** What a class may join, and how it would look then. */
export interface CandidateFit {
  readonly requirementState: RequirementState;
  readonly columns: Bitset;
  readonly minValuesRelaxed: boolean;
  readonly reservations: ReadonlySet<string> | undefined;
}
