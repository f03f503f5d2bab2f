import type { Pod } from "../../api/kubernetes/pod.ts";
import { resources } from "../../api/labels.ts";
import type { Steps } from "../../util/steps.ts";
import { simulationProblem } from "../disruption/simulation-problem.ts";
import type { DisruptionSnapshot } from "../disruption/snapshot.ts";
import type { InstanceType } from "../instance-type.ts";
import { isReschedulable } from "../pod-predicates.ts";
import { decisionWithoutPools } from "../round/decision-without-pools.ts";
import type { Decision, PlannedNode } from "../scheduling/decision.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import { problemWithoutNodes } from "../scheduling/simulation-pass.ts";
import { solveInSteps } from "../scheduling/solve.ts";
import { isRepackable, nodePrice } from "./node-prices.ts";

/** The cluster packed from nothing. */
export interface RepackedCluster {
  readonly newNodes: readonly PlannedNode[];
  /** Nodes that are there today and stay: not ours, static, of unknown price, or with pods that fit nowhere else. */
  readonly keptNodes: readonly string[];
  /** Of new and kept nodes. */
  readonly price: number;
  /** Of kept nodes alone. */
  readonly keptPrice: number;
  /** What was asked, for a lower bound. */
  readonly problem: SchedulingProblem;
}

/** How often nodes whose pods fit nowhere else are left as they are, and the others packed again. */
const maxAttempts = 5;
/** How many sizes of nodes are tried as the largest. */
const maxSizes = 6;

/**
 * Packs all pods of our dynamic pools on new nodes, as if their nodes were not there; protection and budgets are not
 * asked. Nodes whose pods would have no place stay.
 */
export function* packAnew(snapshot: DisruptionSnapshot): Steps<RepackedCluster> {
  const problem = yield* simulationProblem(snapshot, { isConsolidation: false });
  const nodes = snapshot.cluster.nodes.filter((one) => isRepackable(one, snapshot));
  const movablePods = new Map<string, readonly Pod[]>(
    nodes.map(({ name, pods }) => [name, pods.filter(isReschedulable)]),
  );
  const going = new Set(movablePods.keys());
  for (let attempt = 0; attempt < maxAttempts && going.size > 0; attempt++) {
    const asked = problemWithoutNodes({ ...problem, movablePods }, going);
    const decision = decisionWithoutPools(asked) ?? (yield* solveInSteps(asked));
    const stuck = nodesOfRefused(decision, going);
    if (stuck.size === 0) return repackedCluster(asked, yield* cheapestNodes(asked, decision), snapshot);
    for (const name of stuck) going.delete(name);
  }
  return repackedCluster(problemWithoutNodes({ ...problem, movablePods }, new Set()), [], snapshot);
}

/**
 * A pass fills the largest node it can, of which the last may have much room to spare. So the largest types are left out
 * step by step, and what is cheapest counts.
 */
function* cheapestNodes(problem: SchedulingProblem, found: Decision): Steps<readonly PlannedNode[]> {
  let best = found.newNodes;
  const sizes = [...new Set(problem.pools.flatMap((pool) => pool.instanceTypes.map(cpuOf)))].sort((a, b) => b - a);
  let limit = Math.max(0, ...found.newNodes.flatMap(({ instanceTypes: [type] }) => (type ? [cpuOf(type)] : [])));
  for (let attempt = 0; attempt < maxSizes; attempt++) {
    limit = sizes.find((size) => size <= limit / 2) ?? 0;
    if (limit === 0) return best;
    const pools = problem.pools.map((pool) => ({
      ...pool,
      instanceTypes: pool.instanceTypes.filter((type) => cpuOf(type) <= limit),
    }));
    const { newNodes, refusals } = yield* solveInSteps({ ...problem, pools });
    if (refusals.length > found.refusals.length) return best;
    if (priceOf(newNodes) < priceOf(best)) best = newNodes;
  }
  return best;
}

function cpuOf({ capacity }: InstanceType): number {
  return capacity[resources.cpu]?.toNumber() ?? 0;
}

function priceOf(nodes: readonly PlannedNode[]): number {
  return nodes.reduce((sum, { price }) => sum + price, 0);
}

function nodesOfRefused({ refusals }: Decision, going: ReadonlySet<string>): ReadonlySet<string> {
  return new Set(refusals.map(({ pod }) => pod.spec.nodeName ?? "").filter((name) => going.has(name)));
}

function repackedCluster(
  problem: SchedulingProblem,
  newNodes: readonly PlannedNode[],
  snapshot: DisruptionSnapshot,
): RepackedCluster {
  const kept = new Set(problem.nodes.map(({ name }) => name));
  const keptPrice = snapshot.cluster.nodes
    .filter(({ name }) => kept.has(name))
    .reduce((sum, one) => sum + nodePrice(one, snapshot), 0);
  return {
    newNodes,
    keptNodes: [...kept].sort(),
    keptPrice,
    price: keptPrice + priceOf(newNodes),
    problem,
  };
}
