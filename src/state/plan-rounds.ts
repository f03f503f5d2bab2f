import { type KubeObject, namespacedName } from "../api/object.ts";
import { decisionWithoutPools } from "../core/round/decision-without-pools.ts";
import { staticNodeLimit } from "../core/round/static-pools.ts";
import type { Decision, PlannedNode } from "../core/scheduling/decision.ts";
import { nodeClaimTemplateOf } from "../core/scheduling/node-claim-template.ts";
import type { SchedulingProblem } from "../core/scheduling/problem.ts";
import { isVirtualPod } from "../core/virtual-pods.ts";
import { PlannedCluster } from "./planned-cluster.ts";
import { type OpenScenario, openScenario, type Scenario, type ScenarioNote, type ScenarioOptions } from "./scenario.ts";
import { type PodBinder, SchedulerTurns } from "./scheduler-turns.ts";

/** Of one static pool: more would only fill the memory. The simulated cloud has no more instances either. */
const maxReplicas = 2_000;

/** A round: what it was asked, and what it decided. */
export interface PlannedRound {
  readonly problem: SchedulingProblem;
  readonly decision: Decision;
}

/** What the cluster will be. */
export interface RoundsResult {
  /** Of the first round, with the pods that the scheduler bound before it. */
  readonly scenario: Scenario;
  /** The sum of all rounds: every node with all of its pods, and the refusals that stay. */
  readonly decision: Decision;
  readonly rounds: readonly PlannedRound[];
}

export interface RoundsOptions {
  /** The most rounds to run. With one, the result is its decision alone, without static pools and launches. */
  readonly rounds: number;
  readonly solve: (problem: SchedulingProblem) => Decision;
  /** Where the cluster's scheduler binds pods at once; without it only rounds place pods. */
  readonly bindPods?: PodBinder | undefined;
}

/** What the cluster of these objects will be. */
export function planRounds(
  objects: readonly KubeObject[],
  options: ScenarioOptions,
  roundsOptions: RoundsOptions,
): RoundsResult {
  const open = openScenario(objects, options);
  if (roundsOptions.rounds > 1) return runRounds(open, roundsOptions);
  const { problem } = open.scenario;
  const decision = decisionWithoutPools(problem) ?? roundsOptions.solve(problem);
  return { scenario: open.scenario, decision, rounds: [{ problem, decision }] };
}

/**
 * Runs rounds as the controller would until one changes nothing: static pools get their nodes, planned nodes become
 * existing ones of the type they would be launched as, and their pods are bound. Limits count what exists, so a
 * round finds room where the one before had to reckon with the largest types. (docs/designs/rounds.md)
 */
export function runRounds(open: OpenScenario, { rounds: limit, solve, bindPods }: RoundsOptions): RoundsResult {
  const planned = new PlannedCluster();
  const scheduler = new SchedulerTurns(open, { planned, bindPods });
  scheduler.bind();
  const staticNotes = launchStaticNodes(open, planned);
  const rounds: PlannedRound[] = [];
  let isSettled = false;
  while (!isSettled && rounds.length < limit) {
    const problem = open.currentProblem();
    const decision = solveRound(problem, solve);
    rounds.push({ problem, decision });
    const launched = open.projected.carryOut({ ...decision, removedNodes: [] });
    planned.addRound(decision, launched);
    scheduler.addJoining(launched.flatMap((node) => node?.name ?? []));
    isSettled = !mayChange(decision, open) && !scheduler.bind();
  }
  const notes = [...staticNotes, ...(isSettled ? [] : [notSettled(rounds.length)])];
  return {
    scenario: scenarioWith(open, { problem: rounds[0]?.problem, notes }),
    decision: planned.decision(rounds.map(({ decision }) => decision)),
    rounds,
  };
}

/** The round that decided about a pod: the one that placed it, or the last. */
export function decidingRound({ rounds }: Pick<RoundsResult, "rounds">, podKey: string): PlannedRound | undefined {
  return rounds.findLast(({ problem }) => problem.pods.some(({ metadata }) => namespacedName(metadata) === podKey));
}

/** Whether the next round would be asked something else than this one. */
function mayChange({ newNodes, placements }: Decision, { projected }: OpenScenario): boolean {
  if (projected.pendingPods.length === 0) return false;
  return newNodes.length > 0 || placements.some(({ pods }) => pods.some((pod) => !isVirtualPod(pod)));
}

/** Without a usable pool no round runs, but the scheduler still binds pods to nodes with room. (02:P-32) */
function solveRound(problem: SchedulingProblem, solve: RoundsOptions["solve"]): Decision {
  const withoutPools = decisionWithoutPools(problem);
  if (withoutPools === undefined) return solve(problem);
  if (problem.nodes.length === 0) return withoutPools;
  const decision = solve(problem);
  const refused = new Set(decision.refusals.map(({ pod }) => pod));
  return { ...decision, refusals: withoutPools.refusals.filter(({ pod }) => refused.has(pod)) };
}

/** The nodes that static pools lack. (02:Z-2, 03:SP-3) */
function launchStaticNodes(
  { cluster, projected, staticPools, scenario: { problem } }: OpenScenario,
  planned: PlannedCluster,
): readonly ScenarioNote[] {
  const notes: ScenarioNote[] = [];
  for (const pool of staticPools) {
    const { name = "" } = pool.metadata;
    const { replicas } = pool.spec;
    const { active, pendingDisruption } = cluster.nodePoolState.counts(name);
    if (active + pendingDisruption >= replicas) continue;
    const wanted = replicas - active;
    const granted = cluster.nodePoolState.reserveNodeCount(name, { limit: staticNodeLimit(pool), wanted });
    cluster.nodePoolState.releaseNodeCount(name, granted);
    const count = Math.min(granted, maxReplicas);
    if (count < wanted)
      notes.push({
        code: "static-pool-limited",
        pool: name,
        replicas,
        nodes: active + count,
        by: granted < wanted ? "limits" : "plan",
      });
    const { requirements } = nodeClaimTemplateOf(pool, problem.labelPolicy);
    for (let at = 0; at < count; at++) {
      const launched = projected.launchReplica(pool);
      if (launched === undefined) {
        notes.push({ code: "pool-not-launchable", pool: name });
        break; // none of the others could be launched either
      }
      planned.addNode(staticNode(name, requirements), launched);
    }
  }
  return notes;
}

function staticNode(pool: string, requirements: PlannedNode["requirements"]): PlannedNode {
  const none = { pods: [], instanceTypes: [], requests: {}, reservations: [] };
  return { pool, requirements, price: 0, minValuesRelaxed: false, ...none };
}

/** Static pools are not passed over: they have their nodes. */
function scenarioWith(
  { scenario, staticPools }: OpenScenario,
  {
    problem = scenario.problem,
    notes,
  }: { readonly problem: SchedulingProblem | undefined; readonly notes: readonly ScenarioNote[] },
): Scenario {
  const served = new Set(staticPools.map(({ metadata }) => metadata.name));
  const kept = scenario.notes.filter((note) => note.code !== "pool-passed-over" || !served.has(note.pool));
  // The scheduler may have bound pods before the first round.
  return { ...scenario, problem: { ...problem, pods: scenario.problem.pods }, notes: [...kept, ...notes] };
}

function notSettled(rounds: number): ScenarioNote {
  return { code: "rounds-not-settled", rounds };
}
