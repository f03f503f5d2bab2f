import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import { forEachInSteps, mapInSteps, type Steps } from "../../util/steps.ts";
import { isCurrentlyReschedulable } from "../pod-predicates.ts";
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

/**
 * What simulations of a snapshot are asked: the cluster without some of its nodes, or of those among `removable`.
 * (03:D-37 to D-41)
 */
export function* simulationProblem(
  snapshot: DisruptionSnapshot,
  { isConsolidation }: SimulationOptions,
  removable?: ReadonlySet<string>,
): Steps<SimulationProblem> {
  const { cluster, pendingPods, usablePools, policy, labelPolicy, seed, workloads, nominatedNodes, devices } = snapshot;
  const problem = {
    ...roundProblem({
      snapshot: cluster,
      pods: [...pendingPods, ...podsOfDeletingNodes(snapshot)],
      pools: usablePools,
      policy,
      labelPolicy,
      seed,
      workloads: () => workloads,
      devices: devices && (() => devices),
      ...(nominatedNodes !== undefined && { nominatedNodes }),
    }),
    movablePods: yield* movablePods(snapshot, removable),
  };
  return isConsolidation ? yield* withVoluntaryMoves(problem, snapshot) : problem;
}

/** No capacity is planned for pods that protection or a budget holds where they are. (03:D-38) */
function* movablePods(
  snapshot: DisruptionSnapshot,
  removable: ReadonlySet<string> | undefined,
): Steps<ReadonlyMap<string, readonly Pod[]>> {
  const movable = new Map<string, readonly Pod[]>();
  yield* forEachInSteps(snapshot.cluster.nodes, ({ name, pods, isBeingDeleted }) => {
    if (isBeingDeleted || removable?.has(name) === false) return;
    movable.set(
      name,
      pods.filter((pod) => isCurrentlyReschedulable(pod, snapshot)),
    );
  });
  return movable;
}

/** A pod that has not started yet does not move voluntarily: it may go anywhere. (03:D-41) */
function* withVoluntaryMoves(problem: SimulationProblem, snapshot: DisruptionSnapshot): Steps<SimulationProblem> {
  const waiting = new Set<string>();
  yield* forEachInSteps(snapshot.cluster.nodes, (one) => {
    if (isWaiting(one, snapshot)) waiting.add(one.name);
  });
  if (waiting.size === 0) return problem;
  const voluntaryMoves = new Set<string>();
  yield* forEachInSteps(problem.movablePods.values(), (pods) => {
    for (const { metadata, status } of pods) {
      if (status?.phase !== "Pending") voluntaryMoves.add(namespacedName(metadata));
    }
  });
  const nodes = yield* mapInSteps(
    problem.nodes,
    (node): ExistingNode => (waiting.has(node.name) ? { ...node, underConsolidateAfter: true } : node),
  );
  return { ...problem, nodes, voluntaryMoves };
}

/** Nodes of pools that launch nothing now have no such period. (03:D-41) */
function isWaiting({ claim, nodePool = "" }: StateNode, { usablePools, nowMs }: DisruptionSnapshot): boolean {
  const pool = usablePools.find((one) => one.nodePool.metadata.name === nodePool);
  return claim !== undefined && pool !== undefined && isUnderConsolidateAfter(claim, pool.nodePool, nowMs);
}
