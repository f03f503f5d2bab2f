import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Bitset } from "../../util/bitset.ts";
import type { Steps } from "../../util/steps.ts";
import type { Catalogue } from "./catalogue.ts";
import type { ClaimOrder } from "./claim-order.ts";
import type { DaemonGroup } from "./daemons.ts";
import type { EmptyPool } from "./decision.ts";
import type { Outline, Outlines } from "./outline.ts";
import type { PodClass } from "./pod-class.ts";
import type { ExistingNode, HostPort, NodeVolumes, SchedulingProblem } from "./problem.ts";
import type { RequirementTable } from "./requirement-table.ts";
import type { Reservations } from "./reservations.ts";
import type { ResourceSpace } from "./resource-space.ts";
import type { Template } from "./template.ts";
import type { TopologyGroup } from "./topology/group.ts";
import type { ToldCounts } from "./topology/told-counts.ts";
import type { Topology } from "./topology/topology.ts";
import type { Variant, VariantTools } from "./variants.ts";

/** A pool ready to be bought from. */
export interface Shop {
  readonly index: number;
  readonly template: Template;
  readonly catalogue: Catalogue;
  readonly outlines: Outlines;
  /** What every claim begins as. */
  readonly start: Outline;
  /** Types the pool's own requirements leave. (02:T-6) */
  readonly columns: Bitset;
  readonly daemons: readonly DaemonGroup[];
  /** What its limits still allow, by limited resource; null: unlimited. (02 §5.8) */
  readonly remaining: Map<string, number>;
}

/** A machine that exists, as it fills up during the pass. */
export interface NodeSeat {
  readonly index: number;
  readonly node: ExistingNode;
  outline: Outline;
  readonly remaining: Float64Array;
  hostPorts: readonly HostPort[];
  volumes: NodeVolumes;
  readonly pods: Entry[];
}

/** A machine to buy, as it fills up during the pass. */
export interface Claim {
  readonly index: number;
  readonly shop: Shop;
  /** Its number among all hosts. */
  readonly host: number;
  readonly hostname: string;
  outline: Outline;
  columns: Bitset;
  /** Columns it was opened with: the largest of them was charged against the pool's limits. (02:H-3) */
  readonly opened: Bitset;
  used: Float64Array;
  hostPorts: readonly HostPort[];
  pods: Entry[];
  minValuesRelaxed: boolean;
}

/** A pod in the queue. */
export interface Entry {
  readonly pod: Pod;
  readonly podClass: PodClass;
  /** Its place among the pods of the problem. */
  readonly position: number;
  /** Queue length when it last failed: a full lap without progress ends the pass. (02:Q-2) */
  failedAtLength: number;
  /** What was left of its wishes when it found its planned node. */
  placedAs?: Variant;
}

/** A pod on its way, and how many of its wishes have been dropped. */
export interface Attempt {
  readonly entry: Entry;
  level: number;
}

/** Groups that count a class's pods once they are placed. */
export interface Counting {
  /** How many of all groups have been looked through. */
  seen: number;
  readonly groups: TopologyGroup[];
  readonly inverse: readonly TopologyGroup[];
}

/** Everything a pass knows. One object, owned by one pass. */
export interface Pass {
  readonly problem: SchedulingProblem;
  readonly table: RequirementTable;
  readonly space: ResourceSpace;
  readonly topology: Topology;
  readonly tools: VariantTools;
  readonly shops: readonly Shop[];
  readonly emptyPools: readonly EmptyPool[];
  readonly nodeOutlines: Outlines;
  readonly seats: readonly NodeSeat[];
  /** Those somebody was promised a place on, by name. */
  readonly promisedSeats: ReadonlyMap<string, NodeSeat>;
  readonly claims: Claim[];
  readonly order: ClaimOrder;
  readonly reservations: Reservations;
  readonly requests: ReadonlyMap<PodClass, Float64Array>;
  readonly counting: Map<PodClass, Counting>;
  /** Commits when a class last failed: it fails again until something changes. */
  readonly failures: Map<PodClass, number>;
  readonly queue: Entry[];
  queueHead: number;
  /** The pod taken from the queue last, until it is placed or put back. */
  attempt: Attempt | undefined;
  commits: number;
  attempts: number;
  timedOut: boolean;
  /** Whether the candidate last tried was refused only because reserved capacity is in use. (02:Y-3) */
  refusedByReservation: boolean;
  readonly scratch: Float64Array;
  readonly told: ToldCounts;
  /** Begun once every pod has been tried, where the policy asks for it. */
  polish?: Steps<void>;
}

/** What a class may join, and how it would look then. */
export interface Fit {
  readonly outline: Outline;
  readonly columns: Bitset;
  readonly minValuesRelaxed: boolean;
  readonly reservations: ReadonlySet<string> | undefined;
}
