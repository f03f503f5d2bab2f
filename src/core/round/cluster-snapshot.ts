import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Namespace, Node } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Resources } from "../resources.ts";
import type { ExistingNode, NodeLabelsAndTaints } from "../scheduling/problem.ts";
import type { VolumeIndex } from "../volumes.ts";

/** The cluster at one moment, as a round sees it. Never changes; snapshots share what has not changed between them. */
export interface ClusterSnapshot {
  /** By provider id. */
  readonly nodes: readonly StateNode[];
  /** Bound to a node, terminal ones too. */
  readonly boundPods: readonly Pod[];
  /** Provisionable pods. (02 §1.1) */
  readonly pendingPods: readonly Pod[];
  /** Of every Node object. */
  readonly nodesByName: ReadonlyMap<string, NodeLabelsAndTaints>;
  /** One pod for each DaemonSet. (02:S-10) */
  readonly daemons: readonly Pod[];
  readonly namespaces: readonly Namespace[];
  readonly volumes: VolumeIndex;
}

/** A node as we believe it is: the claim and the Node of one provider id, and the pods on it. (02 §2.1, §2.3) */
export interface StateNode {
  readonly providerId: string;
  readonly claim?: NodeClaim | undefined;
  readonly node?: Node | undefined;
  /** Bound to it and not terminal. (02:S-6) */
  readonly pods: readonly Pod[];
  /** The Node's name, or the claim's until it is registered. */
  readonly name: string;
  readonly nodePool?: string | undefined;
  readonly isManaged: boolean;
  readonly isRegistered: boolean;
  readonly isInitialized: boolean;
  /** Marked for deletion or being deleted: no pods are placed on it, and its pods are rescheduled. (02:S-28) */
  readonly isBeingDeleted: boolean;
  /** As scheduling sees it. */
  readonly existing: ExistingNode;
  /** For metrics. */
  readonly usage: NodeUsage;
}

/** Requests and limits of a node's pods, and of its DaemonSet pods alone. */
export interface NodeUsage {
  readonly podRequests: Resources;
  readonly podLimits: Resources;
  readonly daemonRequests: Resources;
  readonly daemonLimits: Resources;
  readonly allocatable: Resources;
}
