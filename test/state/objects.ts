import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import type { DaemonSet, Node } from "../../src/api/kubernetes/cluster-objects.ts";
import type { Pod, ResourceList } from "../../src/api/kubernetes/pod.ts";
import { labels, type Taint } from "../../src/api/labels.ts";
import type { Resources } from "../../src/core/resources.ts";
import { ClusterState } from "../../src/state/cluster-state.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";
import type { PodBuilder } from "../builders/pod.ts";

export const ourClass = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
const foreignClass = { group: "example.com", kind: "OtherClass", name: "default" };
export const nominationMs = 20_000;

/** A state that nobody has told anything, and its clock. */
export function emptyState(): { readonly cluster: ClusterState; readonly clock: VirtualClock } {
  const clock = new VirtualClock({ startAt: Date.UTC(2026, 0, 1) });
  return { clock, cluster: new ClusterState({ clock, servedNodeClasses: [ourClass], nominationMs }) };
}

export interface ClaimFacts {
  /** Without one it is not launched. */
  readonly id?: string | undefined;
  /** Null has none. */
  readonly pool?: string | null | undefined;
  readonly capacity?: ResourceList | undefined;
  readonly taints?: readonly Taint[] | undefined;
  readonly startupTaints?: readonly Taint[] | undefined;
  readonly isDeleting?: boolean | undefined;
  readonly isTerminating?: boolean | undefined;
  readonly isForeign?: boolean | undefined;
  readonly created?: string | undefined;
}

const longAgo = "2025-12-31T00:00:00Z";

export function claim(name: string, facts: ClaimFacts = {}): NodeClaim {
  const { id, pool = "default", capacity = { cpu: "4", memory: "8Gi", pods: "10" }, created = longAgo } = facts;
  const terminating = {
    type: "InstanceTerminating",
    status: "True",
    reason: "x",
    message: "",
    lastTransitionTime: longAgo,
  };
  const made = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: {
      name,
      creationTimestamp: created,
      labels: { ...(pool !== null && { [labels.nodePool]: pool }), [labels.zone]: "promised" },
      ...(facts.isDeleting && { deletionTimestamp: longAgo }),
    },
    spec: {
      nodeClassRef: facts.isForeign ? foreignClass : ourClass,
      requirements: [],
      expireAfter: "720h",
      ...(facts.taints && { taints: facts.taints }),
      ...(facts.startupTaints && { startupTaints: facts.startupTaints }),
    },
    status: {
      ...(id !== undefined && { providerID: id, capacity, allocatable: capacity }),
      ...(facts.isTerminating && { conditions: [terminating] }),
    },
  };
  return made as unknown as NodeClaim;
}

export interface NodeFacts {
  readonly id?: string | undefined;
  readonly pool?: string | undefined;
  readonly stage?: "fresh" | "registered" | "initialized" | undefined;
  readonly capacity?: ResourceList | undefined;
  readonly taints?: readonly Taint[] | undefined;
  readonly isDeleting?: boolean | undefined;
  /** Whether its labels have not arrived yet. */
  readonly isBare?: boolean | undefined;
  readonly created?: string | undefined;
}

const stages = {
  fresh: {},
  registered: { [labels.registered]: "true" },
  initialized: { [labels.registered]: "true", [labels.initialized]: "true" },
};

export function node(name: string, facts: NodeFacts = {}): Node {
  const { id, pool, stage = "fresh", capacity = { cpu: "4", memory: "8Gi", pods: "10" }, created = longAgo } = facts;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      creationTimestamp: created,
      labels: {
        [labels.zone]: "real",
        ...(pool !== undefined && { [labels.nodePool]: pool }),
        ...(!facts.isBare && { [labels.instanceType]: "small" }),
        ...stages[stage],
      },
      ...(facts.isDeleting && { deletionTimestamp: longAgo }),
    },
    spec: { ...(id !== undefined && { providerID: id }), taints: facts.taints ?? [] },
    status: { capacity, allocatable: capacity },
  };
}

/** An initialized node of a pool and its claim. */
export function machine(name: string, facts: { readonly pool?: string; readonly capacity?: ResourceList } = {}) {
  const { pool = "default", capacity } = facts;
  const id = `sim://${name}`;
  return {
    id,
    claim: claim(`claim-${name}`, { id, pool, capacity }),
    node: node(name, { id, pool, capacity, stage: "initialized" }),
  };
}

export function built(builder: PodBuilder, name = builder.name ?? "pod"): Pod {
  return builder.build({ name, uid: `uid-${name}`, at: 0 });
}

export function daemonSet(name: string): DaemonSet {
  return {
    metadata: { name, namespace: "default", uid: `uid-${name}` },
    spec: { template: { spec: { containers: [{ name: "template" }] } } },
  };
}

export function nodePool(name: string, generation = 1): NodePool {
  const spec = { template: { spec: { nodeClassRef: ourClass, requirements: [] } } };
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name, generation },
    spec,
  } as unknown as NodePool;
}

/** Amounts as people write them. */
export function written(amounts: Resources): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, amount.canonical()]));
}
