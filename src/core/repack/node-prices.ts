import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels, resources } from "../../api/labels.ts";
import { namespacedName } from "../../api/object.ts";
import { type DisruptionCandidate, disruptionCandidateOf } from "../disruption/candidate.ts";
import type { DisruptionSnapshot } from "../disruption/snapshot.ts";
import { podRequests, QuantityReader } from "../pod-requests.ts";
import type { StateNode } from "../round/cluster-snapshot.ts";
import type { PlannedNode } from "../scheduling/decision.ts";

/** What all nodes of our pools cost an hour; nodes of unknown price and those that are being deleted count nothing. */
export function clusterPrice(snapshot: DisruptionSnapshot): number {
  return snapshot.cluster.nodes.reduce((sum, one) => sum + nodePrice(one, snapshot), 0);
}

/** Nodes that cost something or might: ours, whatever keeps them from being disrupted. */
export function ownNodes({ cluster }: DisruptionSnapshot): readonly StateNode[] {
  return cluster.nodes.filter(({ claim, isBeingDeleted }) => claim !== undefined && !isBeingDeleted);
}

export function nodePrice(stateNode: StateNode, snapshot: DisruptionSnapshot): number {
  return stateNode.isBeingDeleted ? 0 : (asCandidate(stateNode, snapshot)?.price ?? 0);
}

/** The node as disruption sees it, whatever keeps it from being a candidate; undefined without claim, Node or pool. */
function asCandidate(stateNode: StateNode, { pools }: DisruptionSnapshot): DisruptionCandidate | undefined {
  const { claim, node, nodePool = "" } = stateNode;
  const pool = pools.get(nodePool);
  if (claim === undefined || node === undefined || pool === undefined) return undefined;
  return disruptionCandidateOf(stateNode, claim, pool);
}

/** Whether a node can be packed anew at all: it is of a dynamic pool and its price is known. Protection ends some day. */
export function isRepackable(stateNode: StateNode, snapshot: DisruptionSnapshot): boolean {
  const candidate = asCandidate(stateNode, snapshot);
  if (candidate === undefined || stateNode.isBeingDeleted || !stateNode.isInitialized) return false;
  const { [labels.zone]: zone, [labels.capacityType]: capacityType } = stateNode.existing.labels;
  const isDynamic = candidate.pool.nodePool.spec.replicas === undefined;
  return isDynamic && candidate.instanceType !== undefined && zone !== undefined && capacityType !== undefined;
}

/** What each pod costs on these nodes: a node's price is divided by what its pods request of cpu and memory. */
export function podPrices(nodes: readonly PlannedNode[]): ReadonlyMap<string, number> {
  const reader = new QuantityReader();
  const amount = (pod: Pod, name: string): number => podRequests(pod, reader)[name]?.toNumber() ?? 0;
  const prices = new Map<string, number>();
  for (const { pods, price } of nodes) {
    const total = (name: string): number => pods.reduce((sum, pod) => sum + amount(pod, name), 0);
    const [cpu, memory] = [total(resources.cpu), total(resources.memory)];
    for (const pod of pods) {
      const shares = [
        ...(cpu > 0 ? [amount(pod, resources.cpu) / cpu] : []),
        ...(memory > 0 ? [amount(pod, resources.memory) / memory] : []),
      ];
      const share = shares.length === 0 ? 1 / pods.length : shares.reduce((sum, one) => sum + one, 0) / shares.length;
      prices.set(namespacedName(pod.metadata), price * share);
    }
  }
  return prices;
}
