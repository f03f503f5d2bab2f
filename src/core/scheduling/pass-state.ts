import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Bitset } from "../../util/bitset.ts";
import type { DeviceAllocation } from "../devices/device-allocator.ts";
import type { HostPort } from "../host-ports.ts";
import type { NodeVolumes } from "../volumes.ts";
import type { DaemonGroup } from "./daemon-overhead.ts";
import type { EmptyPool } from "./decision.ts";
import type { InstanceTypeTable } from "./instance-type-table.ts";
import type { NodeClaimTemplate } from "./node-claim-template.ts";
import type { PassDevices } from "./pass-devices.ts";
import type { PlannedNodeOrder } from "./planned-node-order.ts";
import type { PodClass } from "./pod-class.ts";
import type { ExistingNode, SchedulingProblem } from "./problem.ts";
import type { RequirementState, RequirementStates } from "./requirement-state.ts";
import type { RequirementTable } from "./requirement-table.ts";
import type { Reservations } from "./reservations.ts";
import type { ResourceSpace } from "./resource-space.ts";
import type { DomainCountCache } from "./topology/domain-counts.ts";
import type { Topology } from "./topology/topology.ts";
import type { TopologyGroup } from "./topology/topology-group.ts";
import type { UndoLog } from "./undo-log.ts";
import type { Variant, VariantContext } from "./variants.ts";

/** A NodePool prepared for a pass. */
export interface PoolTemplate {
  readonly index: number;
  readonly nodeClaimTemplate: NodeClaimTemplate;
  readonly typeTable: InstanceTypeTable;
  readonly requirementStates: RequirementStates;
  /** The requirement state of a new node of the pool. */
  readonly initialState: RequirementState;
  /** Columns that the pool's own requirements leave. (02:T-6) */
  readonly columns: Bitset;
  readonly daemonGroups: readonly DaemonGroup[];
  /** What the pool's limits still allow, by resource; a resource that is not in the map is unlimited. (02 §5.8) */
  readonly remainingLimits: Map<string, number>;
}

/** An existing node as pods are added during the pass. */
export interface ExistingNodeState {
  readonly index: number;
  readonly node: ExistingNode;
  requirementState: RequirementState;
  readonly remainingResources: Float64Array;
  hostPorts: readonly HostPort[];
  volumes: NodeVolumes;
  readonly pods: QueuedPod[];
  /** A simulation asks what happens without it: it takes no pods. */
  isRemoved: boolean;
}

/** A planned node as pods are added during the pass. */
export interface PlannedNodeState {
  readonly index: number;
  readonly poolTemplate: PoolTemplate;
  /** Its number among all hosts: existing nodes come first. */
  readonly hostIndex: number;
  readonly hostname: string;
  requirementState: RequirementState;
  columns: Bitset;
  /** The columns it had when it was created: the largest of them was charged against the pool's limits. (02:H-3) */
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
  /** Its index among the pods of the problem. */
  readonly position: number;
  /** The queue's length when the pod last failed: if equal again, nothing was placed in between. (02:Q-2) */
  queueLengthAtFailure: number;
  /** The variant it was placed with, on a planned node. */
  placedVariant?: Variant | undefined;
}

/** The topology groups that count the pods of a class once they are placed. */
export interface CountingGroups {
  /** How many of all topology groups have been checked so far. */
  groupsSeen: number;
  readonly groups: TopologyGroup[];
  readonly inverseGroups: readonly TopologyGroup[];
}

/** The state of one pass. */
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
  /** Existing nodes that some pod is nominated for, by name. */
  readonly nominatedExistingNodes: ReadonlyMap<string, ExistingNodeState>;
  readonly plannedNodes: PlannedNodeState[];
  plannedNodeOrder: PlannedNodeOrder;
  readonly reservations: Reservations;
  readonly podClasses: readonly PodClass[];
  /** How many of all topology groups know every pod this pass has placed. */
  countedGroups: number;
  readonly countingGroups: Map<PodClass, CountingGroups>;
  /** The placement count when a pod of the class last failed: until it changes, another pod of the class fails too. */
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
  /** Present if what the pass does is rolled back afterwards. */
  readonly undo: UndoLog | undefined;
  /** Existing nodes that got pods since the last rollback; kept only if there is an undo log. */
  readonly touchedNodes: Set<ExistingNodeState>;
  readonly domainCounts: DomainCountCache;
  /** Present if some pod has resource claims that are not ignored. */
  readonly devices: PassDevices | undefined;
}

/** What a candidate would be with the pod on it. */
export interface CandidateFit {
  readonly requirementState: RequirementState;
  readonly columns: Bitset;
  readonly minValuesRelaxed: boolean;
  readonly reservations: ReadonlySet<string> | undefined;
  /** Present if the pod has resource claims. */
  readonly devices?: DeviceAllocation | undefined;
}
