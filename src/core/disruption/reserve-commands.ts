import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import { namespacedName } from "../../api/object.ts";
import type { StateNode } from "../round/cluster-snapshot.ts";
import type { PlannedNode } from "../scheduling/decision.ts";
import type { NodeLabelsAndTaints } from "../scheduling/problem.ts";
import { type DisruptionCommand, movesOf } from "./command.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";

/**
 * The cluster as it will be when the waiting commands have been carried out: their nodes are leaving, and the pods that
 * go to other nodes need a place there. Pods that go to a replacement need none, and topology counts them where that will be.
 * So two commands never count on the same room or on each other's nodes, and waiting commands use up budgets.
 * (03 §10.2-8, §10.2-9)
 */
export function withReserved(snapshot: DisruptionSnapshot, waiting: readonly DisruptionCommand[]): DisruptionSnapshot {
  if (waiting.length === 0) return snapshot;
  const { cluster, nominated, nominatedNodes = [], inCommand } = snapshot;
  const reserved = new Set(waiting.flatMap(({ candidates }) => candidates.map(({ providerId }) => providerId)));
  const { toNodes, toReplacements, replacements } = reservedMoves(waiting, snapshot);
  const nodes = cluster.nodes.map((stateNode) => {
    if (!reserved.has(stateNode.providerId)) return stateNode;
    const pods = stateNode.pods.filter(({ metadata }) => !toReplacements.has(namespacedName(metadata)));
    return { ...stateNode, pods, isBeingDeleted: true };
  });
  return {
    ...snapshot,
    cluster: {
      ...cluster,
      nodes,
      boundPods: onReplacements(cluster.boundPods, toReplacements),
      nodesByName: new Map([...cluster.nodesByName, ...replacements]),
    },
    inCommand: new Set([...inCommand, ...reserved]),
    nominated: new Set([...nominated, ...destinationsAmong(nodes, new Set(toNodes.values()))]),
    nominatedNodes: new Map([...nominatedNodes, ...toNodes]),
  };
}

/** Where the pods of commands will be, by namespace/name. */
interface ReservedMoves {
  /** Existing nodes. */
  readonly toNodes: ReadonlyMap<string, string>;
  readonly toReplacements: ReadonlyMap<string, string>;
  /** What is known of the replacements before they are launched, by name. */
  readonly replacements: ReadonlyMap<string, NodeLabelsAndTaints>;
}

function reservedMoves(waiting: readonly DisruptionCommand[], snapshot: DisruptionSnapshot): ReservedMoves {
  const toNodes = new Map<string, string>();
  const toReplacements = new Map<string, string>();
  const replacements = new Map<string, NodeLabelsAndTaints>();
  for (const command of waiting) {
    // A node is part of one command only, so these names are unique, and no Node can be called so.
    const names = command.replacements.map((_, index) => `replacement ${index} of ${command.candidates[0]?.name}`);
    for (const [index, name] of names.entries()) {
      replacements.set(name, asNode(name, command.replacements[index] as PlannedNode, snapshot));
    }
    for (const { pod, to } of movesOf(command)) {
      if (typeof to === "string") toNodes.set(pod, to);
      else if (to !== undefined) toReplacements.set(pod, names[to] as string);
    }
  }
  return { toNodes, toReplacements, replacements };
}

function asNode(name: string, { pool, requirements }: PlannedNode, { pools }: DisruptionSnapshot): NodeLabelsAndTaints {
  return {
    labels: { ...requirements.singleValueLabels(), [labels.hostname]: name },
    taints: pools.get(pool)?.nodePool.spec.template.spec.taints ?? [],
  };
}

function onReplacements(boundPods: readonly Pod[], toReplacements: ReadonlyMap<string, string>): readonly Pod[] {
  if (toReplacements.size === 0) return boundPods;
  return boundPods.map((pod) => {
    const nodeName = toReplacements.get(namespacedName(pod.metadata));
    return nodeName === undefined ? pod : { ...pod, spec: { ...pod.spec, nodeName } };
  });
}

/** Nodes that pods are going to: as when a command starts, they are not taken meanwhile. (03:D-74) */
function destinationsAmong(nodes: readonly StateNode[], names: ReadonlySet<string>): readonly string[] {
  return nodes.filter(({ name }) => names.has(name)).map(({ providerId }) => providerId);
}
