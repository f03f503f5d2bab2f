import type { NodePool } from "../../api/kinds/node-pool.ts";
import type {
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  SelectorOwner,
  StorageClass,
} from "../../api/kubernetes/cluster-objects.ts";
import type { Pod, TopologySpreadConstraint } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import type { Taint } from "../../api/labels.ts";
import type { InstanceType } from "../instance-type.ts";
import type { Resources } from "../resources.ts";

/** Everything one scheduling pass looks at: a value, so the same problem always has the same decision. (docs/designs/engine.md) */
export interface SchedulingProblem {
  /** Pods to place: pending ones that passed validation, and those of nodes on their way out. */
  readonly pods: readonly Pod[];
  /** Machines that stay: running nodes and claims on their way up. */
  readonly nodes: readonly ExistingNode[];
  /** namespace/name of pods that move only because it would be better: quiet nodes are not disturbed for them. (02:Q-7) */
  readonly voluntaryMoves?: ReadonlySet<string>;
  /**
   * Where an earlier round sent pods that still wait, by namespace/name: the name of the machine. They keep their place
   * as far as it still suits them, so that a plan is not made anew, and differently, while its machines boot.
   */
  readonly nominatedNodes?: ReadonlyMap<string, string>;
  /** Usable dynamic pools, in any order. */
  readonly pools: readonly Pool[];
  /** One pod per DaemonSet, with the template's required node affinity. (02:T-5) */
  readonly daemons: readonly Pod[];
  /** Pods that sit on nodes, of this round or not: what topology counts. */
  readonly boundPods: readonly Pod[];
  /** Labels and taints of every Node object by name, also of nodes on their way out: where bound pods sit. */
  readonly nodesByName: ReadonlyMap<string, NodeLabelsAndTaints>;
  readonly namespaces: readonly Namespace[];
  readonly volumes: VolumeIndex;
  /** Services and workloads, read only when default topology constraints are configured. (02:X-51) */
  readonly selectorOwners?: readonly SelectorOwner[];
  readonly policy: SchedulingPolicy;
  readonly labelPolicy: LabelPolicy;
  readonly seed: number;
}

export interface SchedulingPolicy {
  /** Whether preferences bind until they must be dropped. (02:Q-41) */
  readonly preferences: "Respect" | "Ignore";
  readonly minValues: "Strict" | "BestEffort";
  readonly reservedCapacity: boolean;
  /** Disruption simulations fall back where provisioning would wait for reserved capacity. (02:Y-3) */
  readonly reservedMode: "Strict" | "Fallback";
  readonly ignoreDra: boolean;
  /** Whether the plan is gone over once more for its price. */
  readonly packing: "plain" | "polished";
  readonly defaultConstraints?: readonly TopologySpreadConstraint[];
}

export const defaultSchedulingPolicy: SchedulingPolicy = {
  preferences: "Respect",
  minValues: "Strict",
  reservedCapacity: true,
  reservedMode: "Strict",
  ignoreDra: true,
  packing: "plain",
};

/** A pool and what its provider sells to it. */
export interface Pool {
  readonly nodePool: NodePool;
  readonly instanceTypes: readonly InstanceType[];
}

/** Labels and taints of a Node object. */
export interface NodeLabelsAndTaints {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
}

/** A machine as scheduling sees it, with what cluster state has already worked out. (02 §2.3) */
export interface ExistingNode {
  readonly name: string;
  readonly providerId: string;
  /** The hostname label, or the name. (02:S-23) */
  readonly hostname: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Without those a young node is forgiven. (02:S-24) */
  readonly taints: readonly Taint[];
  readonly isInitialized: boolean;
  /** Its pool, if it has one: its capacity counts against that pool's limits. */
  readonly nodePool?: string;
  /** With `nodes: 1`. (02:S-25) */
  readonly capacity: Resources;
  /** Allocatable less what its pods ask for. (02:S-26) */
  readonly available: Resources;
  /** What its daemon pods ask for already. */
  readonly daemonRequests: Resources;
  readonly hostPorts: readonly HostPort[];
  readonly volumes: NodeVolumes;
  /** Quiet period running: no destination for voluntary moves. (02:Q-7) */
  readonly underConsolidateAfter?: boolean;
}

/** A port a pod takes on its node, and whose it is. (02:S-50) */
export interface HostPort {
  readonly ip: string;
  readonly port: number;
  readonly protocol: string;
  /** namespace/name of the pod: it never clashes with itself. */
  readonly owner: string;
}

/** Volumes attached to a node, and how many its drivers can attach. (02:S-55) */
export interface NodeVolumes {
  /** Driver → keys of the claims attached through it. */
  readonly attached: ReadonlyMap<string, ReadonlySet<string>>;
  /** Driver → most claims; a driver that is missing has no known limit. */
  readonly limits: ReadonlyMap<string, number>;
}

/** Where volumes are looked up. */
export interface VolumeIndex {
  /** By namespace/name. */
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly volumes: ReadonlyMap<string, PersistentVolume>;
  readonly classes: ReadonlyMap<string, StorageClass>;
}

export const emptyVolumeIndex: VolumeIndex = { claims: new Map(), volumes: new Map(), classes: new Map() };
