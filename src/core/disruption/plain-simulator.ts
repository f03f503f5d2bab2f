import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import { isCurrentlyReschedulable, isProvisionable } from "../pod-predicates.ts";
import type { StateNode } from "../round/cluster-snapshot.ts";
import { decisionWithoutPools } from "../round/decision-without-pools.ts";
import { roundProblem } from "../round/round-problem.ts";
import type { Decision } from "../scheduling/decision.ts";
import type { ExistingNode, SchedulingProblem } from "../scheduling/problem.ts";
import { solveInSteps } from "../scheduling/solve.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import { isUnderConsolidateAfter } from "./consolidation-window.ts";
import type { DisruptionSimulation, DisruptionSimulator, SimulationOptions } from "./simulator.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import type { PodError } from "./verdict.ts";

/** Builds the scheduling problem without the candidates, and runs a pass over it. Slow and obvious. */
export function plainSimulator(snapshot: DisruptionSnapshot): DisruptionSimulator {
  const podsOfDeletingNodes = snapshot.cluster.nodes
    .filter(({ isBeingDeleted, node }) => isBeingDeleted && node !== undefined)
    .flatMap(({ pods }) => pods.filter((pod) => isCurrentlyReschedulable(pod, snapshot)));
  return {
    *simulate(candidates, options) {
      const names = new Set(candidates.map(({ name }) => name));
      if (snapshot.cluster.nodes.some(({ name, isBeingDeleted }) => isBeingDeleted && names.has(name))) {
        return { kind: "candidate-deleting" };
      }
      const problem = problemWithout(names, { snapshot, candidates, podsOfDeletingNodes, options });
      const decision = decisionWithoutPools(problem) ?? (yield* solveInSteps(problem));
      return simulationOf(decision, { snapshot, podsOfDeletingNodes });
    },
  };
}

interface ProblemParts {
  readonly snapshot: DisruptionSnapshot;
  readonly candidates: readonly DisruptionCandidate[];
  readonly podsOfDeletingNodes: readonly Pod[];
  readonly options: SimulationOptions;
}

/** No capacity is planned for pods that protection or a budget holds where they are. (03:D-37, D-38) */
function problemWithout(
  names: ReadonlySet<string>,
  { snapshot, candidates, podsOfDeletingNodes, options }: ProblemParts,
): SchedulingProblem {
  const moving = candidates
    .flatMap(({ reschedulablePods }) => reschedulablePods)
    .filter((pod) => isCurrentlyReschedulable(pod, snapshot));
  const { cluster, pendingPods, usablePools, policy, labelPolicy, seed, workloads, nominatedNodes } = snapshot;
  const problem = roundProblem({
    snapshot: { ...cluster, nodes: cluster.nodes.filter(({ name }) => !names.has(name)) },
    pods: [...pendingPods, ...moving, ...podsOfDeletingNodes],
    pools: usablePools,
    policy,
    labelPolicy,
    seed,
    workloads: () => workloads,
    ...(nominatedNodes !== undefined && { nominatedNodes }),
  });
  return options.isConsolidation ? withVoluntaryMoves(problem, { snapshot, moving }) : problem;
}

/** A pod that has not started yet does not move voluntarily: it may go anywhere. (03:D-41) */
function withVoluntaryMoves(
  problem: SchedulingProblem,
  { snapshot, moving }: { readonly snapshot: DisruptionSnapshot; readonly moving: readonly Pod[] },
): SchedulingProblem {
  const waiting = new Set(snapshot.cluster.nodes.filter((one) => isWaiting(one, snapshot)).map(({ name }) => name));
  if (waiting.size === 0) return problem;
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

/** Pods that are pending themselves never hold a move back. (03:D-42, D-43) */
function simulationOf(
  { newNodes, placements, refusals }: Decision,
  {
    snapshot,
    podsOfDeletingNodes,
  }: { readonly snapshot: DisruptionSnapshot; readonly podsOfDeletingNodes: readonly Pod[] },
): DisruptionSimulation {
  const leaving = new Set(podsOfDeletingNodes);
  const stateNodes = new Map(snapshot.cluster.nodes.map((one) => [one.name, one]));
  const refused = refusals
    .filter(({ pod }) => !isProvisionable(pod))
    .map(({ pod, message }): PodError => ({ pod: namespacedName(pod.metadata), message }));
  const uncertain = placements.flatMap(({ node, pods }) => {
    const stateNode = stateNodes.get(node);
    if (stateNode === undefined || stateNode.isInitialized) return [];
    return pods
      .filter((pod) => !leaving.has(pod) && !isProvisionable(pod))
      .map(({ metadata }): PodError => ({ pod: namespacedName(metadata), message: uninitializedText(stateNode) }));
  });
  return { kind: "simulated", newNodes, placements, podErrors: [...refused, ...uncertain] };
}

/** In upstream's words: people search for them. */
function uninitializedText({ claim, node }: StateNode): string {
  const objects = [
    ...(claim === undefined ? [] : [`nodeclaim/${claim.metadata.name ?? ""}`]),
    ...(node === undefined ? [] : [`node/${node.metadata.name ?? ""}`]),
  ];
  return `would schedule against uninitialized ${objects.join(", ")}`;
}
