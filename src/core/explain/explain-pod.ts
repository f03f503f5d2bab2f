import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import { namespacedName } from "../../api/object.ts";
import { podProblems } from "../pod-validation.ts";
import type { Decision, PlannedNode } from "../scheduling/decision.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import type { Refusal } from "../scheduling/refusal.ts";
import { candidateChanges, orderChanges } from "./candidate-changes.ts";
import { type OtherPool, otherPoolChanges, replicaLaunches } from "./changes/other-pool-changes.ts";
import { validityChanges } from "./changes/validity-changes.ts";
import { describePodProblem } from "./describe-pod-problem.ts";
import { describeReason } from "./describe-reason.ts";
import { preferencesBetween } from "./dropped-preferences.ts";
import type { Explanation, NearestMiss, NewNodeOutcome, NodeFinding, PoolFinding } from "./explanation.ts";
import { preferencesPlacedWithout } from "./placed-without.ts";
import { type AnalysisOptions, analyzePlacement } from "./placement-analysis.ts";
import { reduceProblem, withoutUncountedPods } from "./reduce-problem.ts";
import { poolsByDistance, totalDistance } from "./refusal-distance.ts";
import { type SearchOptions, searchSuggestions } from "./search-suggestions.ts";
import {
  locationInDecision,
  locationOfKey,
  type PodLocation,
  refusedPodKeys,
  type Simulation,
  simulateFor,
  simulatePass,
  simulateWithout,
} from "./simulation.ts";

export interface ExplainOptions extends AnalysisOptions {
  /** Pods that failed validation: they can be explained too. */
  readonly ignored?: readonly Refusal[];
  /** The decision, if it is known already. */
  readonly decision?: Decision;
  /** Pools that launch nothing for pods. */
  readonly unusablePools?: readonly PoolFinding[];
  /** Those of them that a change would have serve pods. */
  readonly otherPools?: readonly OtherPool[];
  /** The most suggestions to return; three by default. */
  readonly suggestions?: number;
}

/** Why a pending pod is placed where it is, or refused; undefined: there is no such pod. (docs/designs/commands.md) */
export function explainPod(
  problem: SchedulingProblem,
  podKey: string,
  options: ExplainOptions = {},
): Explanation | undefined {
  // A pod that fits on a node is bound there before a round is asked about it, so it may be in no problem.
  const decided = options.decision && locationOfKey(options.decision, podKey);
  if (decided !== undefined) return explainPlaced(problem, podKey, decided);
  const isAskedPod = ({ metadata }: Pod): boolean => namespacedName(metadata) === podKey;
  const pod = problem.pods.find(isAskedPod);
  if (pod === undefined) {
    const refusal = options.ignored?.find((one) => isAskedPod(one.pod));
    return refusal && explainIgnored(problem, refusal, options);
  }
  if (problem.pools.length === 0) return explainWithoutPools(problem, podKey, options);
  const simulation = simulateFor(withoutUncountedPods(problem), podKey);
  if (simulation === undefined) return undefined;
  const found = locationInDecision(simulation.decision, pod);
  return found === undefined ? explainRefused(problem, simulation, options) : explainPlaced(problem, podKey, found);
}

function explainPlaced(problem: SchedulingProblem, pod: string, location: PodLocation): Explanation {
  const dropped = preferencesPlacedWithout(problem, pod, location);
  return { ...explainLocation(problem, pod, location), ...(dropped.length > 0 && { droppedPreferences: dropped }) };
}

function explainLocation(problem: SchedulingProblem, pod: string, location: PodLocation): Explanation {
  if (location.kind === "existing-node") {
    const { node } = location.placement;
    const cause = `it fits on node ${node}, the first existing node that accepts it`;
    return { pod, outcome: { kind: "on-node", node }, cause, pools: [], nodes: [], suggestions: [] };
  }
  const outcome = { kind: "on-new-node", ...newNodeOutcome(location.plannedNode, pod) } as const;
  const [cheapest = "none"] = outcome.instanceTypes;
  const { length } = outcome.pods;
  const others = length === 0 ? "" : `, shared with ${length} other ${length === 1 ? "pod" : "pods"}`;
  const why = problem.nodes.length === 0 ? "it gets" : "no existing node fits, so it gets";
  const cause = `${why} a new node of NodePool ${outcome.pool} (cheapest type ${cheapest})${others}`;
  return { pod, outcome, cause, ...refusedBefore(problem, pod, outcome.pool), suggestions: [] };
}

/** Nodes and earlier pools that would refuse the pod once all other pods are placed. */
function refusedBefore(
  problem: SchedulingProblem,
  podKey: string,
  acceptingPool: string,
): Pick<Explanation, "pools" | "nodes"> {
  const simulation =
    problem.nodes.length + problem.pools.length > 1
      ? simulateWithout(withoutUncountedPods(problem), podKey)
      : undefined;
  if (simulation === undefined) return { pools: [], nodes: [] };
  const { pools, nodes } = analyzePlacement(problem, simulation);
  const names = pools.map(({ finding }) => finding.pool);
  return {
    pools: poolsByDistance(
      pools
        .slice(0, Math.max(0, names.indexOf(acceptingPool)))
        .map(({ finding }) => finding)
        .filter(({ reasons }) => reasons.length > 0),
    ),
    nodes: nodes.filter(({ checks }) => checks.length > 0),
  };
}

function newNodeOutcome(
  { pool, instanceTypes, price, requirements, pods, offering }: PlannedNode,
  podKey: string,
): NewNodeOutcome {
  const zone = requirements.get(labels.zone);
  const [cheapest] = instanceTypes;
  const offered = offering ?? cheapest?.offerings.find((one) => one.available && one.price === price);
  return {
    pool,
    instanceTypes: instanceTypes.map(({ name }) => name),
    price,
    ...(offered?.priceSource !== undefined && { priceSource: offered.priceSource }),
    zones: zone.complement ? [] : zone.sortedValues(),
    pods: pods
      .map(({ metadata }) => namespacedName(metadata))
      .filter((key) => key !== podKey)
      .sort(),
  };
}

function explainWithoutPools(problem: SchedulingProblem, pod: string, options: ExplainOptions): Explanation {
  const unusablePools = unusableFindings(problem, pod, options);
  const none = describeReason({ code: "no-pools" }, { kind: "pool", name: "" });
  const [only, ...others] = unusablePools;
  const [reason] = only?.reasons ?? [];
  const isOne = only !== undefined && reason !== undefined && others.length === 0;
  const cause = isOne ? `${none}: ${describeReason(reason, { kind: "pool", name: only.pool })}` : none;
  const outcome = { kind: "unplaced", message: "no dynamic nodepools found" } as const;
  const unplaced = options.decision === undefined ? allPodKeys(problem) : refusedPodKeys(options.decision);
  return {
    ...{ pod, outcome, cause, pools: unusablePools, nodes: [] },
    ...searchSuggestions(problem, orderChanges(otherPoolChanges(problem, options.otherPools ?? [])), {
      podKey: pod,
      ...searchEffort(problem, options),
      toleratedProblems: new Set(),
      unplacedPodKeys: unplaced,
    }),
  };
}

function allPodKeys({ pods }: SchedulingProblem): ReadonlySet<string> {
  return new Set(pods.map(({ metadata }) => namespacedName(metadata)));
}

/** Pools that launch nothing for pods; of static ones also what keeps the pod from one more node of them. */
function unusableFindings(
  problem: SchedulingProblem,
  podKey: string,
  { unusablePools = [], otherPools = [] }: ExplainOptions,
): readonly PoolFinding[] {
  return unusablePools.map((finding) => {
    const found = otherPools.find(
      ({ kind, pool }) => kind === "static" && pool.nodePool.metadata.name === finding.pool,
    );
    const refusing = (found === undefined ? [] : replicaLaunches(problem, found.pool)).flatMap((pool) => {
      const simulation = simulateFor(reduceProblem({ ...problem, pools: [pool] }), podKey);
      if (simulation === undefined || locationInDecision(simulation.decision, simulation.queuedPod.pod) !== undefined)
        return [];
      const [analysis] = analyzePlacement({ ...problem, pools: [pool] }, simulation).pools;
      return analysis === undefined ? [] : [analysis.finding.reasons];
    });
    return { ...finding, reasons: [...finding.reasons, ...(refusing[0] ?? [])] };
  });
}

/** Validation comes first; other reasons show once the pod is valid. */
function explainIgnored(problem: SchedulingProblem, { pod, message }: Refusal, options: ExplainOptions): Explanation {
  const podKey = namespacedName(pod.metadata);
  const asked = { ...problem, pods: [...problem.pods, pod] };
  const canSimulate = options.decision === undefined && problem.pools.length > 0;
  const decision = canSimulate ? simulatePass(reduceProblem(problem)).decision : options.decision;
  const unplaced = new Set([podKey, ...(decision === undefined ? [] : refusedPodKeys(decision))]);
  return {
    pod: podKey,
    outcome: { kind: "ignored", message },
    cause: `it is not considered for scheduling: ${podProblems(pod, problem).map(describePodProblem).join("; ") || message}`,
    pools: [],
    nodes: [],
    ...searchSuggestions(asked, orderChanges(validityChanges(pod, asked)), {
      podKey,
      ...searchEffort(asked, options),
      toleratedProblems: new Set(),
      unplacedPodKeys: unplaced,
    }),
  };
}

function explainRefused(problem: SchedulingProblem, simulation: Simulation, options: ExplainOptions): Explanation {
  const { decision, queuedPod } = simulation;
  const analysis = analyzePlacement(problem, simulation, options);
  const { podReason } = analysis;
  const nodes = podReason === undefined ? analysis.nodes : [];
  const pools = podReason === undefined ? poolsByDistance(analysis.pools.map(({ finding }) => finding)) : [];
  const nearest = nearestMiss(pools, nodes);
  const dropped = preferencesBetween(queuedPod.pod.spec, analysis.podAttempt.variant.spec).map((text) => ({ text }));
  const podKey = namespacedName(queuedPod.pod.metadata);
  const others = podReason === undefined ? otherPoolChanges(problem, options.otherPools ?? []) : [];
  const candidates = orderChanges([...candidateChanges(analysis), ...others]);
  const refusal = decision.refusals.find(({ pod }) => pod === queuedPod.pod);
  return {
    pod: podKey,
    outcome: { kind: "unplaced", message: refusal?.message ?? "" },
    cause: podReason === undefined ? causeOf(pools, nodes) : describeReason(podReason, { kind: "pool", name: "" }),
    pools: [...pools, ...(podReason === undefined ? unusableFindings(problem, podKey, options) : [])],
    nodes,
    ...(nearest && { nearest }),
    ...(dropped.length > 0 && { droppedPreferences: dropped }),
    ...searchSuggestions(problem, candidates, {
      podKey,
      ...searchEffort(problem, options),
      toleratedProblems: new Set(podProblems(queuedPod.pod, problem).map(({ text }) => text)),
      unplacedPodKeys: refusedPodKeys(decision),
    }),
  };
}

/** Fewer trials for larger problems: the user waits for the answer. */
function searchEffort(
  { nodes, pods, pools }: SchedulingProblem,
  { suggestions = 3, largerStorage }: ExplainOptions,
): Pick<SearchOptions, "maxSuggestions" | "maxTrials" | "largerStorage"> {
  const types = pools.reduce((sum, { instanceTypes }) => sum + instanceTypes.length, 0);
  const trials = Math.round(20_000 / (200 + nodes.length + pods.length + 2 * types));
  return {
    maxSuggestions: suggestions,
    maxTrials: Math.min(80, Math.max(8, trials)),
    ...(largerStorage && { largerStorage }),
  };
}

function nearestMiss(pools: readonly PoolFinding[], nodes: readonly NodeFinding[]): NearestMiss | undefined {
  const [pool] = pools;
  const [node] = nodes;
  const reasons = node?.checks.map(({ reason }) => reason) ?? [];
  const isNode = node !== undefined && (pool === undefined || totalDistance(reasons) < totalDistance(pool.reasons));
  if (isNode) return { kind: "node", name: node.node, reasons };
  return pool && { kind: "pool", name: pool.pool, reasons: pool.reasons };
}

/** The pool that came nearest gives the reason. */
function causeOf([nearest, ...others]: readonly PoolFinding[], nodes: readonly NodeFinding[]): string {
  if (nearest === undefined) return `none of ${nodes.length} nodes fits, and there is no NodePool`;
  const where = { kind: "pool", name: nearest.pool } as const;
  const [first, second, ...rest] = nearest.reasons.map((reason) => describeReason(reason, where));
  const more = rest.length > 0 ? `, and ${rest.length} more` : "";
  const both =
    second === undefined ? (first ?? `NodePool ${nearest.pool} does not fit`) : `${first}; also, ${second}${more}`;
  return others.length === 0 ? both : `none of ${others.length + 1} NodePools fits; the nearest: ${both}`;
}
