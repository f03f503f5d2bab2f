import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Namespace, SelectorOwner } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod, TopologySpreadConstraint } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import type { Taint } from "../../api/labels.ts";
import type { DeviceObjects } from "../devices/device-allocator.ts";
import type { HostPort } from "../host-ports.ts";
import type { InstanceType } from "../instance-type.ts";
import type { Resources } from "../resources.ts";
import type { NodeVolumes, VolumeIndex } from "../volumes.ts";

/** Everything one pass reads, as a value: the same problem always has the same decision. (docs/designs/engine.md) */
export interface SchedulingProblem {
  /** Pods to place: pending pods that passed validation, and pods of nodes that are being deleted. */
  readonly pods: readonly Pod[];
  /** Nodes that stay: running nodes, and NodeClaims that are starting. */
  readonly nodes: readonly ExistingNode[];
  /** namespace/name of pods that move voluntarily: nodes within consolidateAfter do not receive them. (02:Q-7) */
  readonly voluntaryMoves?: ReadonlySet<string>;
  /**
   * The name of the node an earlier round nominated for each pod that still waits, by namespace/name. It is tried first,
   * so that the plan does not change while its nodes start.
   */
  readonly nominatedNodes?: ReadonlyMap<string, string>;
  /** Usable dynamic pools, in any order. */
  readonly pools: readonly Pool[];
  /** One pod per DaemonSet, with the template's required node affinity. (02:T-5) */
  readonly daemons: readonly Pod[];
  /** Pods bound to nodes, whether or not this pass places them anew: topology counts them. */
  readonly boundPods: readonly Pod[];
  /** Labels and taints of every Node by name, also of nodes that are being deleted: bound pods may be there. */
  readonly nodesByName: ReadonlyMap<string, NodeLabelsAndTaints>;
  readonly namespaces: readonly Namespace[];
  readonly volumes: VolumeIndex;
  /** Services and workloads, read only when default topology constraints are configured. (02:X-51) */
  readonly selectorOwners?: readonly SelectorOwner[];
  /** ResourceSlices of all nodes, claims and classes; unless requests for devices are ignored. (02 §5.14) */
  readonly devices?: DeviceObjects;
  readonly policy: SchedulingPolicy;
  readonly labelPolicy: LabelPolicy;
  readonly seed: number;
}

export interface SchedulingPolicy {
  /** Whether preferences are treated as required until they have to be dropped. (02:Q-41) */
  readonly preferences: "Respect" | "Ignore";
  readonly minValues: "Strict" | "BestEffort";
  readonly reservedCapacity: boolean;
  /** Strict waits for reserved capacity that is in use; disruption simulations fall back. (02:Y-3) */
  readonly reservedMode: "Strict" | "Fallback";
  readonly ignoreDra: boolean;
  /** With polished, pods are moved between planned nodes afterwards to make the plan cheaper. */
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

/** A NodePool and the instance types its provider offers. */
export interface Pool {
  readonly nodePool: NodePool;
  readonly instanceTypes: readonly InstanceType[];
}

/** Labels and taints of a Node object. */
export interface NodeLabelsAndTaints {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
}

/** A node that stays, as scheduling sees it, with what cluster state has already computed. (02 §2.3) */
export interface ExistingNode {
  /** The NodeClaim's until the Node is registered, then the Node's. (02:S-22) */
  readonly name: string;
  /** The name of its Node object; a NodeClaim that is starting has none yet. */
  readonly nodeName?: string;
  readonly providerId: string;
  /** The hostname label, or the name. (02:S-23) */
  readonly hostname: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Without the taints a node that is not initialized is expected to lose. (02:S-24) */
  readonly taints: readonly Taint[];
  readonly isInitialized: boolean;
  /** Its pool, if it has one: its capacity counts against that pool's limits. */
  readonly nodePool?: string;
  /** With `nodes: 1`. (02:S-25) */
  readonly capacity: Resources;
  /** Allocatable less the requests of its pods. (02:S-26) */
  readonly available: Resources;
  /** Requests of the DaemonSet pods that run there. */
  readonly daemonRequests: Resources;
  readonly hostPorts: readonly HostPort[];
  readonly volumes: NodeVolumes;
  /** Its consolidateAfter period has not passed: not a destination for voluntary moves. (02:Q-7) */
  readonly underConsolidateAfter?: boolean;
}
