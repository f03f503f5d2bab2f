import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import { namespacedName } from "../../api/object.ts";
import { podProblems, problemsText } from "../pod-validation.ts";
import type { Decision, PlannedNode } from "../scheduling/decision.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import type { Refusal } from "../scheduling/refusal.ts";
import { refusalOf } from "../scheduling/refuse.ts";
import { closePass } from "../scheduling/solve.ts";
import { candidatesFor, inOrder } from "./candidates.ts";
import { validityChanges } from "./changes/validity.ts";
import { applyEdits } from "./edit.ts";
import { essentials, withoutUncounted } from "./essentials.ts";
import type {
  Explanation,
  NearestMiss,
  NewPlace,
  NodeFinding,
  PoolFinding,
  Reason,
  Suggestion,
} from "./explanation.ts";
import { farness, poolsByNearness } from "./nearness.ts";
import { leftOver, placeIn, playPass, playRound, playWithout, type Round, unplacedKeys } from "./round.ts";
import { searchSuggestions } from "./search.ts";
import { situationOf } from "./situation.ts";
import { describeReason } from "./words.ts";

export interface ExplainOptions {
  /** Pods validation set aside: they can be explained too. */
  readonly ignored?: readonly Refusal[];
  /** What was decided, if that is known already. */
  readonly decision?: Decision;
  /** At most so many suggestions; three unless said. */
  readonly suggestions?: number;
}

/** Why a pending pod goes where it goes, or nowhere; undefined: there is no such pod. (design §1) */
export function explainPod(
  problem: SchedulingProblem,
  podKey: string,
  options: ExplainOptions = {},
): Explanation | undefined {
  const isMeant = ({ metadata }: Pod): boolean => namespacedName(metadata) === podKey;
  const pod = problem.pods.find(isMeant);
  if (pod === undefined) {
    const refusal = options.ignored?.find((one) => isMeant(one.pod));
    return refusal && explainIgnored(problem, refusal, options);
  }
  const place = options.decision && placeIn(options.decision, pod);
  if (place !== undefined) return explainPlaced(problem, podKey, place);
  if (problem.pools.length === 0) return withoutPools(podKey);
  const round = playRound(withoutUncounted(problem), podKey);
  if (round === undefined) return undefined;
  const found = round.spot && placeIn(closePass(round.pass), pod);
  return found === undefined ? explainRefused(problem, round, options) : explainPlaced(problem, podKey, found);
}

/** The problem with a suggestion taken up: what `explainPod` has planned with before it made it. */
export function withSuggestion(problem: SchedulingProblem, { edits }: Pick<Suggestion, "edits">): SchedulingProblem {
  return applyEdits(problem, edits);
}

type Place = NonNullable<ReturnType<typeof placeIn>>;

function explainPlaced(problem: SchedulingProblem, pod: string, place: Place): Explanation {
  if (place.kind === "node") {
    const { node } = place.placement;
    const cause = `it goes to node ${node}: of the nodes that exist, the first to accept it`;
    return { pod, outcome: { kind: "on-node", node }, cause, pools: [], nodes: [], suggestions: [] };
  }
  const outcome = { kind: "on-new-node", ...newPlace(place.planned, pod) } as const;
  const [cheapest = "none"] = outcome.instanceTypes;
  const { length } = outcome.pods;
  const others = length === 0 ? "" : `, with ${length} other ${length === 1 ? "pod" : "pods"}`;
  const why = problem.nodes.length === 0 ? "it goes" : "no node that exists takes it, so it goes";
  const cause = `${why} to a new node of pool ${outcome.pool} (${cheapest} at best)${others}`;
  return { pod, outcome, cause, ...passedOver(problem, pod, outcome.pool), suggestions: [] };
}

/** Nodes, and pools before the one that took the pod, that would refuse it with everybody else in place. */
function passedOver(problem: SchedulingProblem, podKey: string, taker: string): Pick<Explanation, "pools" | "nodes"> {
  const round =
    problem.nodes.length + problem.pools.length > 1 ? playWithout(withoutUncounted(problem), podKey) : undefined;
  if (round === undefined) return { pools: [], nodes: [] };
  const { pools, nodes } = situationOf(problem, round);
  const names = pools.map(({ finding }) => finding.pool);
  return {
    pools: poolsByNearness(
      pools
        .slice(0, Math.max(0, names.indexOf(taker)))
        .map(({ finding }) => finding)
        .filter(({ reasons }) => reasons.length > 0),
    ),
    nodes: nodes.filter(({ checks }) => checks.length > 0),
  };
}

function newPlace({ pool, instanceTypes, price, requirements, pods }: PlannedNode, podKey: string): NewPlace {
  const zone = requirements.get(labels.zone);
  return {
    pool,
    instanceTypes: instanceTypes.map(({ name }) => name),
    price,
    zones: zone.complement ? [] : zone.sortedValues(),
    pods: pods
      .map(({ metadata }) => namespacedName(metadata))
      .filter((key) => key !== podKey)
      .sort(),
  };
}

function withoutPools(pod: string): Explanation {
  const reason: Reason = { code: "no-pools" };
  const cause = describeReason(reason, { kind: "pool", name: "" });
  const outcome = { kind: "unplaced", message: "no dynamic nodepools found" } as const;
  return { pod, outcome, cause, pools: [], nodes: [], suggestions: [] };
}

/** Validation stands before everything else; what comes after it is seen once it is mended. */
function explainIgnored(problem: SchedulingProblem, { pod, message }: Refusal, options: ExplainOptions): Explanation {
  const podKey = namespacedName(pod.metadata);
  const asked = { ...problem, pods: [...problem.pods, pod] };
  const others = options.decision?.refusals ?? playedRefusals(problem);
  const unplaced = new Set([podKey, ...others.map((one) => namespacedName(one.pod.metadata))]);
  return {
    pod: podKey,
    outcome: { kind: "ignored", message },
    cause: `it is not considered for scheduling: ${problemsText(podProblems(pod, problem)) || message}`,
    pools: [],
    nodes: [],
    suggestions: searchSuggestions(asked, inOrder(validityChanges(pod, asked)), {
      podKey,
      ...effort(asked, options),
      tolerated: new Set(),
      unplaced,
    }),
  };
}

function playedRefusals(problem: SchedulingProblem): readonly { readonly pod: Pod }[] {
  return problem.pools.length === 0 ? [] : leftOver(playPass(essentials(problem)));
}

function explainRefused(problem: SchedulingProblem, round: Round, options: ExplainOptions): Explanation {
  const { pass, entry } = round;
  const situation = situationOf(problem, round);
  const { whole } = situation;
  const nodes = whole === undefined ? situation.nodes : [];
  const pools = whole === undefined ? poolsByNearness(situation.pools.map(({ finding }) => finding)) : [];
  const nearest = nearestMiss(pools, nodes);
  const podKey = namespacedName(entry.pod.metadata);
  return {
    pod: podKey,
    outcome: { kind: "unplaced", message: refusalOf(pass, entry).message },
    cause: whole === undefined ? causeOf(pools, nodes) : describeReason(whole, { kind: "pool", name: "" }),
    pools,
    nodes,
    ...(nearest && { nearest }),
    suggestions: searchSuggestions(problem, candidatesFor(situation), {
      podKey,
      ...effort(problem, options),
      tolerated: new Set(podProblems(entry.pod, problem).map(({ text }) => text)),
      unplaced: unplacedKeys(pass),
    }),
  };
}

/** Fewer trials where each takes longer: an answer is due while somebody waits for it. */
function effort({ nodes, pods, pools }: SchedulingProblem, { suggestions = 3 }: ExplainOptions) {
  const types = pools.reduce((sum, { instanceTypes }) => sum + instanceTypes.length, 0);
  const trials = Math.round(20_000 / (200 + nodes.length + pods.length + 2 * types));
  return { most: suggestions, trials: Math.min(80, Math.max(8, trials)) };
}

function nearestMiss(pools: readonly PoolFinding[], nodes: readonly NodeFinding[]): NearestMiss | undefined {
  const [pool] = pools;
  const [node] = nodes;
  const reasons = node?.checks.map(({ reason }) => reason) ?? [];
  const isNode = node !== undefined && (pool === undefined || farness(reasons) < farness(pool.reasons));
  if (isNode) return { kind: "node", name: node.node, reasons };
  return pool && { kind: "pool", name: pool.pool, reasons: pool.reasons };
}

/** Of several pools the one that came nearest speaks. */
function causeOf([nearest, ...others]: readonly PoolFinding[], nodes: readonly NodeFinding[]): string {
  if (nearest === undefined) return `none of ${nodes.length} nodes takes it, and there is no pool`;
  const where = { kind: "pool", name: nearest.pool } as const;
  const [first, second, ...rest] = nearest.reasons.map((reason) => describeReason(reason, where));
  const more = rest.length > 0 ? `, and ${rest.length} more` : "";
  const both =
    second === undefined ? (first ?? `pool ${nearest.pool} refuses it`) : `${first}; besides, ${second}${more}`;
  return others.length === 0 ? both : `none of ${others.length + 1} pools takes it; at the nearest, ${both}`;
}
