import type { StateNode } from "../round/cluster-snapshot.ts";
import type { DisruptionCommand } from "./command.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";

/**
 * The cluster as it will be when the waiting commands have been carried out: their nodes are leaving, and the pods that
 * go to other nodes need a place there. Pods that go to a replacement need none. So two commands never count on the same
 * room or on each other's nodes, and waiting commands use up budgets. (03 §10.2-8, §10.2-9)
 */
export function withReserved(snapshot: DisruptionSnapshot, waiting: readonly DisruptionCommand[]): DisruptionSnapshot {
  if (waiting.length === 0) return snapshot;
  const reserved = new Set(waiting.flatMap(({ candidates }) => candidates.map(({ providerId }) => providerId)));
  const onReplacements = waiting.flatMap(({ replacements }) => replacements.flatMap(({ pods }) => pods));
  const uids = new Set(onReplacements.map(({ metadata }) => metadata.uid));
  const nodes = snapshot.cluster.nodes.map((stateNode) => {
    if (!reserved.has(stateNode.providerId)) return stateNode;
    const pods = stateNode.pods.filter(({ metadata }) => !uids.has(metadata.uid));
    return { ...stateNode, pods, isBeingDeleted: true };
  });
  return {
    ...snapshot,
    cluster: { ...snapshot.cluster, nodes },
    inCommand: new Set([...snapshot.inCommand, ...reserved]),
    nominated: new Set([...snapshot.nominated, ...destinationsOf(waiting, nodes)]),
  };
}

/** Nodes that pods are going to: as when a command starts, they are not taken meanwhile. (03:D-74) */
function destinationsOf(waiting: readonly DisruptionCommand[], nodes: readonly StateNode[]): readonly string[] {
  const moving = new Set(
    waiting.flatMap(({ candidates }) => candidates.flatMap(({ reschedulablePods }) => reschedulablePods)),
  );
  const placements = waiting.flatMap((command) => command.placements);
  const names = new Set(placements.filter(({ pods }) => pods.some((pod) => moving.has(pod))).map(({ node }) => node));
  return nodes.filter(({ name }) => names.has(name)).map(({ providerId }) => providerId);
}
