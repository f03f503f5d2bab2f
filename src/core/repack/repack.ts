import { namespacedName } from "../../api/object.ts";
import type { Steps } from "../../util/steps.ts";
import { balancedTotals } from "../disruption/balanced.ts";
import { poolBudgets } from "../disruption/budgets.ts";
import { type DisruptionCandidate, disruptionCandidates, verdictOn } from "../disruption/candidate.ts";
import type { DisruptionCommand } from "../disruption/command.ts";
import { DisruptionPass } from "../disruption/disruption-pass.ts";
import { filterCause } from "../disruption/method-filters.ts";
import { podsOfDeletingNodes, simulationProblem } from "../disruption/simulation-problem.ts";
import type { DisruptionSimulator, SearchBudget } from "../disruption/simulator.ts";
import type { DisruptionSnapshot } from "../disruption/snapshot.ts";
import type { NodeVerdict } from "../disruption/verdict.ts";
import { decisionWithoutPools } from "../round/decision-without-pools.ts";
import type { Decision } from "../scheduling/decision.ts";
import { solveInSteps } from "../scheduling/solve.ts";
import { isVirtualPod } from "../virtual-pods.ts";
import { type ClusterChange, type ClusterProjection, clusterChangeOf } from "./cluster-projection.ts";
import { clusterPrice, ownNodes, podPrices } from "./node-prices.ts";
import { packAnew, type RepackedCluster } from "./pack-anew.ts";
import { WaveSearch } from "./wave-search.ts";

/** A command on the way to the repacked cluster. Commands of one wave can be carried out at the same time. */
export interface RepackStep {
  /** From 1: a wave begins when the nodes of the one before are gone. */
  readonly wave: number;
  readonly command: DisruptionCommand;
  /** Names of the replacements in this plan. */
  readonly launched: readonly string[];
  /** Of the whole cluster afterwards, dollars an hour. */
  readonly priceAfter: number;
}

/** Nodes and what they cost an hour. */
interface ClusterFigures {
  readonly nodes: number;
  readonly price: number;
}

export interface RepackPlan {
  readonly today: ClusterFigures;
  /** What pods that wait, and those of nodes that are being deleted, need before anything else. */
  readonly provisioning: ProvisioningFirst;
  /** The cluster packed from nothing. */
  readonly repacked: RepackedCluster;
  readonly steps: readonly RepackStep[];
  /** After all steps. */
  readonly reached: ClusterFigures;
  /** Nodes of today that are left after all steps, and why. */
  readonly staying: readonly NodeVerdict[];
  /** The search budget ended the search; more may be possible. */
  readonly isStopped: boolean;
}

interface ProvisioningFirst {
  readonly pods: number;
  readonly launched: readonly string[];
  /** namespace/name of pods that have no place at all. */
  readonly unschedulable: readonly string[];
  /** Of the whole cluster afterwards. */
  readonly price: number;
}

export interface RepackOptions {
  readonly simulatorFor: (snapshot: DisruptionSnapshot) => DisruptionSimulator;
  readonly searchBudget: SearchBudget;
}

/**
 * Packs a cluster anew from nothing, and finds commands that lead from today's nodes towards that, each valid when it is
 * its turn and cheaper than what was before. (docs/designs/disruption.md)
 */
export function* repack(projection: ClusterProjection, options: RepackOptions): Steps<RepackPlan> {
  const today = figuresOf(projection.snapshot());
  const provisioning = yield* provisionFirst(projection);
  const repacked = yield* packAnew(projection.snapshot());
  const prices = podPrices(repacked.newNodes);
  const steps: RepackStep[] = [];
  const launchedNodes = new Set<string>(provisioning.launched);
  for (let wave = 1; ; wave++) {
    const found = yield* findWave(projection.snapshot(), { ...options, prices, launchedNodes });
    if (found.commands.length === 0) {
      const snapshot = projection.snapshot();
      const staying = found.verdicts.filter(({ node }) => !launchedNodes.has(node));
      const isStopped = !options.searchBudget.mayContinue();
      return { today, provisioning, repacked, steps, reached: figuresOf(snapshot), staying, isStopped };
    }
    for (const command of found.commands) {
      const launched = launchedBy(clusterChangeOf(command), projection);
      for (const name of launched) launchedNodes.add(name);
      steps.push({ wave, command, launched, priceAfter: clusterPrice(projection.snapshot()) });
    }
  }
}

function launchedBy(change: ClusterChange, projection: ClusterProjection): readonly string[] {
  return projection.carryOut(change).map((name, at) => {
    if (name === undefined)
      throw new Error(`a planned node of nodepool ${change.newNodes[at]?.pool} cannot be launched`);
    return name;
  });
}

function figuresOf(snapshot: DisruptionSnapshot): ClusterFigures {
  return { nodes: ownNodes(snapshot).length, price: clusterPrice(snapshot) };
}

/** Pods that wait, and pods of nodes that are being deleted, get their place before nodes are given back. */
function* provisionFirst(projection: ClusterProjection): Steps<ProvisioningFirst> {
  const snapshot = projection.snapshot();
  const problem = yield* simulationProblem(snapshot, { isConsolidation: false });
  const decision: Decision = decisionWithoutPools(problem) ?? (yield* solveInSteps(problem));
  const removedNodes = snapshot.cluster.nodes.filter(({ isBeingDeleted }) => isBeingDeleted).map(({ name }) => name);
  const launched = launchedBy({ ...decision, removedNodes }, projection);
  const waiting = snapshot.pendingPods.filter((pod) => !isVirtualPod(pod)).length;
  return {
    pods: waiting + podsOfDeletingNodes(snapshot).length,
    launched,
    unschedulable: decision.refusals.map(({ pod }) => namespacedName(pod.metadata)).sort(),
    price: clusterPrice(projection.snapshot()),
  };
}

interface WaveOptions extends RepackOptions {
  /** What pods cost in the repacked cluster. */
  readonly prices: ReadonlyMap<string, number>;
  readonly launchedNodes: ReadonlySet<string>;
}

interface Wave {
  readonly commands: readonly DisruptionCommand[];
  readonly verdicts: readonly NodeVerdict[];
}

/** Empty nodes go first, as in the controller: the others are then packed without them. */
function* findWave(snapshot: DisruptionSnapshot, options: WaveOptions): Steps<Wave> {
  const { simulatorFor, searchBudget, prices, launchedNodes } = options;
  const simulator = simulatorFor(snapshot);
  const empty = yield* new DisruptionPass(snapshot).propose("emptiness", { simulator, searchBudget });
  if (empty.commands.length > 0) return empty;
  const all = yield* disruptionCandidates(snapshot, "graceful");
  const candidates: DisruptionCandidate[] = [];
  const filtered: NodeVerdict[] = [];
  const heldEmpty = new Map(empty.verdicts.map((verdict) => [verdict.node, verdict]));
  for (const candidate of all.candidates) {
    const cause = filterCause("multi-node-consolidation", candidate, snapshot);
    // What held an empty node back says more than that it is one.
    const held = cause?.code === "empty" ? heldEmpty.get(candidate.name) : undefined;
    if (cause !== undefined) filtered.push(held ?? verdictOn(candidate, cause));
    else if (!launchedNodes.has(candidate.name)) candidates.push(candidate);
  }
  const search = new WaveSearch({
    snapshot,
    candidates: byWaste(candidates, prices),
    budgets: poolBudgets(snapshot, "Underutilized"),
    totals: yield* balancedTotals(all.candidates, snapshot),
    simulator,
    searchBudget,
  });
  yield* search.run();
  return { commands: search.commands, verdicts: [...all.blocked, ...filtered, ...search.verdicts].sort(byNode) };
}

function byNode(a: NodeVerdict, b: NodeVerdict): number {
  return a.node < b.node ? -1 : 1;
}

/** By what a node costs beyond what its pods cost in the repacked cluster, most first. */
function byWaste(
  candidates: readonly DisruptionCandidate[],
  prices: ReadonlyMap<string, number>,
): readonly DisruptionCandidate[] {
  const waste = ({ price, reschedulablePods }: DisruptionCandidate): number =>
    reschedulablePods.reduce((left, { metadata }) => left - (prices.get(namespacedName(metadata)) ?? 0), price);
  const wasted = new Map(candidates.map((one) => [one, waste(one)]));
  return candidates.toSorted((a, b) => (wasted.get(b) ?? 0) - (wasted.get(a) ?? 0) || (a.name < b.name ? -1 : 1));
}
