import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import { isCurrentlyReschedulable, isReschedulable } from "../pod-predicates.ts";
import type { StateNode } from "../round/cluster-snapshot.ts";
import { roundProblem } from "../round/round-problem.ts";
import type { ExistingNode } from "../scheduling/problem.ts";
import type { SimulationProblem } from "../scheduling/simulation-pass.ts";
import { isUnderConsolidateAfter } from "./consolidation-window.ts";
import type { SimulationOptions } from "./simulator.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";

/** Pods of nodes that somebody else removes need a place in every simulation. (03:D-38) */
export function podsOfDeletingNodes(snapshot: DisruptionSnapshot): readonly Pod[] {
  return snapshot.cluster.nodes
    .filter(({ isBeingDeleted, node }) => isBeingDeleted && node !== undefined)
    .flatMap(({ pods }) => pods.filter((pod) => isCurrentlyReschedulable(pod, snapshot)));
}

/** What simulations of a snapshot are asked: the cluster without some of its nodes. (03:D-37 to D-41) */
export function simulationProblem(
  snapshot: DisruptionSnapshot,
  { isConsolidation }: SimulationOptions,
): SimulationProblem {
  const { cluster, pendingPods, usablePools, policy, labelPolicy, seed, workloads, nominatedNodes } = snapshot;
  const problem = {
    ...roundProblem({
      snapshot: cluster,
      pods: [...pendingPods, ...podsOfDeletingNodes(snapshot)],
      pools: usablePools,
      policy,
      labelPolicy,
      seed,
      workloads: () => workloads,
      ...(nominatedNodes !== undefined && { nominatedNodes }),
    }),
    movablePods: movablePods(snapshot),
  };
  return isConsolidation ? withVoluntaryMoves(problem, snapshot) : problem;
}

/** No capacity is planned for pods that protection or a budget holds where they are. (03:D-38) */
function movablePods(snapshot: DisruptionSnapshot): ReadonlyMap<string, readonly Pod[]> {
  return new Map(
    snapshot.cluster.nodes
      .filter(({ isBeingDeleted }) => !isBeingDeleted)
      .map(({ name, pods }) => [
        name,
        pods.filter((pod) => isReschedulable(pod) && isCurrentlyReschedulable(pod, snapshot)),
      ]),
  );
}

/** A pod that has not started yet does not move voluntarily: it may go anywhere. (03:D-41) */
function withVoluntaryMoves(problem: SimulationProblem, snapshot: DisruptionSnapshot): SimulationProblem {
  const waiting = new Set(snapshot.cluster.nodes.filter((one) => isWaiting(one, snapshot)).map(({ name }) => name));
  if (waiting.size === 0) return problem;
  const moving = [...problem.movablePods.values()].flat();
  const voluntary = moving.filter(({ status }) => status?.phase !== "Pending");
  return {
    ...problem,
    nodes: problem.nodes.map(
      (node): ExistingNode => (waiting.has(node.name) ? { ...node, underConsolidateAfter: true } : node),
    ),
    voluntaryMoves: new Set(voluntary.map(({ metadata }) => namespacedName(metadata))),
  };
}

/** Nodes of pools that launch nothing now have no such period. (03:D-41) */
function isWaiting({ claim, nodePool = "" }: StateNode, { usablePools, nowMs }: DisruptionSnapshot): boolean {
  const pool = usablePools.find((one) => one.nodePool.metadata.name === nodePool);
  return claim !== undefined && pool !== undefined && isUnderConsolidateAfter(claim, pool.nodePool, nowMs);
}
