import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Decision, PlannedNode } from "../scheduling/decision.ts";
import { expectedReplicaSetOf, replicaSetOf } from "./expected-pods.ts";

/** The share of planned nodes that may wait for pods that are only expected. */
const maxWaitingShare = 0.5;

/**
 * A decision for pods that exist and pods that are expected, reduced to the nodes for those that exist. Pods of a ReplicaSet
 * are alike, so those that exist change places with expected ones until as few nodes as possible have any; the others are
 * left to later rounds. Undefined if too many nodes would still wait for pods. (02:P-35)
 */
export function gatherPods(decision: Decision): Decision | undefined {
  const pods = new InterchangeablePods(decision);
  const placements = decision.placements.map((placement) => ({
    ...placement,
    pods: pods.fillExpected(placement.pods),
  }));
  const order = inOrderOf(decision.newNodes, (node) => pods.fixedCount(node.pods));
  const filled = new Map<PlannedNode, readonly Pod[]>();
  const others: PlannedNode[] = [];
  for (const node of order) {
    if (pods.canFill(node.pods)) filled.set(node, pods.fill(node.pods));
    else others.push(node);
  }
  const waiting = fillBest(others, pods);
  if (waiting.size > Math.max(1, maxWaitingShare * (filled.size + waiting.size))) return undefined;
  const newNodes = decision.newNodes.flatMap((node) => {
    const gathered = filled.get(node) ?? waiting.get(node);
    return gathered === undefined ? [] : [{ ...node, pods: gathered }];
  });
  return { ...decision, placements, newNodes };
}

/** Nodes that no longer get all of their pods, those that get the most first, until all pods that exist have a place. */
function fillBest(nodes: readonly PlannedNode[], pods: InterchangeablePods): ReadonlyMap<PlannedNode, readonly Pod[]> {
  const waiting = new Map<PlannedNode, readonly Pod[]>();
  for (const node of inOrderOf(nodes, (one) => pods.fillableCount(one.pods)))
    if (pods.fillableCount(node.pods) > 0) waiting.set(node, pods.fill(node.pods));
  return waiting;
}

/** Those with the highest count first, and the smaller of equal ones. */
function inOrderOf(nodes: readonly PlannedNode[], countOf: (node: PlannedNode) => number): readonly PlannedNode[] {
  const counted = nodes.map((node) => ({ node, count: countOf(node) }));
  counted.sort((a, b) => b.count - a.count || a.node.pods.length - b.node.pods.length);
  return counted.map(({ node }) => node);
}

/** Pods of one ReplicaSet that have no place yet. */
interface UnplacedPods {
  readonly existing: Pod[];
  readonly expected: Pod[];
}

/** The pods of ReplicaSets that have yet to create some: those on new nodes can take the place of one that is expected. */
class InterchangeablePods {
  readonly #unplaced = new Map<string, UnplacedPods>();

  constructor({ placements, newNodes }: Decision) {
    const ofPlacements = placements.flatMap(({ pods }) => pods.filter(isExpected));
    const ofNewNodes = newNodes.flatMap(({ pods }) => pods);
    for (const pod of [...ofPlacements, ...ofNewNodes.filter(isExpected)]) this.#addExpected(pod);
    for (const pod of ofNewNodes) if (!isExpected(pod)) this.#of(pod)?.existing.push(pod);
  }

  #addExpected(pod: Pod): void {
    const known = this.#of(pod);
    if (known === undefined) this.#unplaced.set(replicaSetKey(pod), { existing: [], expected: [pod] });
    else known.expected.push(pod);
  }

  #of(pod: Pod): UnplacedPods | undefined {
    return this.#unplaced.get(replicaSetKey(pod));
  }

  /** How many of the pods keep their place. */
  fixedCount(pods: readonly Pod[]): number {
    return pods.filter((pod) => this.#of(pod) === undefined).length;
  }

  canFill(pods: readonly Pod[]): boolean {
    return this.fillableCount(pods) === pods.length;
  }

  /** How many places would have a pod that exists. */
  fillableCount(pods: readonly Pod[]): number {
    const places = new Map<UnplacedPods, number>();
    let count = 0;
    for (const pod of pods) {
      const unplaced = this.#of(pod);
      const before = unplaced === undefined ? 0 : (places.get(unplaced) ?? 0);
      if (unplaced !== undefined) places.set(unplaced, before + 1);
      if (unplaced === undefined || before < unplaced.existing.length) count++;
    }
    return count;
  }

  /** Pods for the places of those given: ones that exist as long as there are any. */
  fill(pods: readonly Pod[]): readonly Pod[] {
    return pods.map((pod) => {
      const unplaced = this.#of(pod);
      return unplaced === undefined ? pod : (unplaced.existing.shift() ?? unplaced.expected.shift() ?? pod);
    });
  }

  /** The same, but pods that exist keep their places. */
  fillExpected(pods: readonly Pod[]): readonly Pod[] {
    return pods.map((pod) => (isExpected(pod) ? (this.fill([pod])[0] ?? pod) : pod));
  }
}

function isExpected(pod: Pod): boolean {
  return expectedReplicaSetOf(pod) !== undefined;
}

function replicaSetKey(pod: Pod): string {
  return expectedReplicaSetOf(pod) ?? replicaSetOf(pod)?.uid ?? "";
}
