import type { DisruptionReason } from "../../api/vocabulary.ts";
import type { Steps } from "../../util/steps.ts";
import { balancedTotals } from "../disruption/balanced.ts";
import {
  type DisruptionCandidate,
  disruptionCandidateOf,
  disruptionCandidates,
  hasCondition,
  isEmptyCandidate,
  isOfStaticPool,
} from "../disruption/candidate.ts";
import { type DisruptionCommand, disruptionCommand, movesOf, type PodMove } from "../disruption/command.ts";
import { consolidate } from "../disruption/consolidate.ts";
import { driftReplacement } from "../disruption/drift.ts";
import {
  type DisruptionDecision,
  type DisruptionMethodName,
  disruptionMethodNames,
  disruptionMethods,
} from "../disruption/methods.ts";
import type { DisruptionSimulator } from "../disruption/simulator.ts";
import type { DisruptionSnapshot } from "../disruption/snapshot.ts";
import type { DecisionCause, NodeVerdict } from "../disruption/verdict.ts";
import { verdictText } from "../disruption/verdict-text.ts";
import type { StateNode } from "../round/cluster-snapshot.ts";
import { addKnownBlockers, addVerdictBlocker, BlockerList, type DisruptionBlocker } from "./disruption-blockers.ts";
import { withoutPodProtection } from "./without-pod-protection.ts";

/** Why a node stays or goes, what blocks it, and what would unblock it. Every text is a rendering of it. */
export interface DisruptionExplanation {
  readonly node: string;
  readonly nodeClaim?: string | undefined;
  readonly nodePool?: string | undefined;
  readonly instanceType?: string | undefined;
  readonly capacityType?: string | undefined;
  /** Dollars an hour, if its price is known. */
  readonly price?: number | undefined;
  /** Pods that need another node when it goes. */
  readonly movablePods: number;
  /** `going`: it is on its way out; `would-go`: nothing blocks it; `kept`. */
  readonly outcome: "going" | "would-go" | "kept";
  /** One sentence. */
  readonly cause: string;
  readonly blockers: readonly DisruptionBlocker[];
  /** The reasons for which such a node can be disrupted. */
  readonly reasons: readonly ReasonOutcome[];
  /** What each method found out about it. */
  readonly verdicts: readonly MethodVerdict[];
}

/** What would come of disrupting the node for a reason if nothing blocked it. */
interface ReasonOutcome {
  readonly reason: DisruptionReason;
  readonly isBlocked: boolean;
  /** Absent if it would stay even then. */
  readonly move?: DisruptionMove | undefined;
}

export interface DisruptionMove {
  readonly decision: DisruptionDecision;
  /** Dollars an hour. */
  readonly savings: number;
  /** Nodes that go together, this one included. */
  readonly nodes: readonly string[];
  readonly replacements: readonly MoveReplacement[];
  /** Of the pods of this node. */
  readonly moves: readonly PodMove[];
}

interface MoveReplacement {
  readonly nodePool: string;
  /** Cheapest first. */
  readonly instanceTypes: readonly string[];
  readonly price: number;
}

/** A verdict with its sentence and its method. */
type MethodVerdict = NodeVerdict & {
  readonly method: DisruptionMethodName;
  readonly text: string;
  /** When it was found, if that was not now. */
  readonly atMs?: number | undefined;
};

export interface ExplainDisruptionOptions {
  readonly simulatorFor: (snapshot: DisruptionSnapshot) => DisruptionSimulator;
  /** What the methods said of the node, by method. */
  readonly verdicts: ReadonlyMap<DisruptionMethodName, { readonly verdict: NodeVerdict; readonly atMs?: number }>;
  /** Commands that were found. */
  readonly commands: readonly DisruptionCommand[];
}

/** Undefined: there is no node or NodeClaim of that name. */
export function* explainDisruption(
  name: string,
  snapshot: DisruptionSnapshot,
  options: ExplainDisruptionOptions,
): Steps<DisruptionExplanation | undefined> {
  const stateNode = findStateNode(name, snapshot);
  if (stateNode === undefined) return undefined;
  const candidate = candidateAnyway(stateNode, snapshot);
  const blockers = new BlockerList(stateNode, snapshot);
  const reasons: ReasonOutcome[] = [];
  for (const method of methodsFor(candidate)) {
    addKnownBlockers(blockers, { method, candidate, stateNode }, snapshot);
    reasons.push(yield* reasonOutcome(method, { stateNode, candidate, blockers }, snapshot, options));
  }
  return composed(stateNode, { candidate, blockers, reasons }, snapshot, options);
}

export function findStateNode(name: string, { cluster }: DisruptionSnapshot): StateNode | undefined {
  return (
    cluster.nodes.find((one) => one.name === name || one.node?.metadata.name === name) ??
    cluster.nodes.find(({ claim }) => claim?.metadata.name === name)
  );
}

/** The node as methods would see it if nothing kept it from being a candidate. */
function candidateAnyway(stateNode: StateNode, { pools }: DisruptionSnapshot): DisruptionCandidate | undefined {
  const { claim, node, nodePool = "" } = stateNode;
  const pool = pools.get(nodePool);
  return claim === undefined || node === undefined || pool === undefined
    ? undefined
    : disruptionCandidateOf(stateNode, claim, pool);
}

/** One method for each reason the node could be disrupted for. */
function methodsFor(candidate: DisruptionCandidate | undefined): readonly DisruptionMethodName[] {
  if (candidate === undefined) return ["single-node-consolidation"];
  const isStatic = isOfStaticPool(candidate);
  const drift = isStatic ? "static-drift" : "drift";
  const saving = isEmptyCandidate(candidate) && !isStatic ? "emptiness" : "single-node-consolidation";
  return hasCondition(candidate, "Drifted") ? [drift, saving] : [saving];
}

interface ExaminedNode {
  readonly stateNode: StateNode;
  readonly candidate: DisruptionCandidate | undefined;
  readonly blockers: BlockerList;
}

/** Simulated as if nothing blocked it: what keeps it even then is one more blocker. */
function* reasonOutcome(
  method: DisruptionMethodName,
  { stateNode, candidate, blockers }: ExaminedNode,
  snapshot: DisruptionSnapshot,
  options: ExplainDisruptionOptions,
): Steps<ReasonOutcome> {
  const { reason } = disruptionMethods[method];
  const command = options.commands.find(
    (one) => one.reason === reason && one.candidates.some(({ providerId }) => providerId === stateNode.providerId),
  );
  const isLeaving = stateNode.isBeingDeleted || snapshot.inCommand.has(stateNode.providerId);
  if (command !== undefined) {
    return { reason, isBlocked: blockers.blocking(reason).length > 0, move: moveOf(command, stateNode) };
  }
  if (candidate === undefined || isLeaving) return { reason, isBlocked: true };
  const found = yield* unblockedResult(method, candidate, snapshot, options);
  if ("code" in found) {
    blockers.add(found, reason);
    return { reason, isBlocked: true };
  }
  for (const one of disruptionMethodNames.filter((name) => disruptionMethods[name].reason === reason)) {
    const verdict = options.verdicts.get(one)?.verdict;
    if (verdict !== undefined && isOnItsOwnAccount(verdict)) addVerdictBlocker(blockers, verdict, one);
  }
  return { reason, isBlocked: blockers.blocking(reason).length > 0, move: moveOf(found, stateNode) };
}

/** Verdicts that hold the node back though a simulation of it alone finds a command. */
function isOnItsOwnAccount({ code }: NodeVerdict): boolean {
  const others: readonly NodeVerdict["code"][] = [
    ...(["chosen", "possible", "not-in-command", "too-few-nodes"] as const),
    ...(["not-empty", "empty", "static-pool", "dynamic-pool", "not-drifted"] as const),
  ];
  return !others.includes(code);
}

function* unblockedResult(
  method: DisruptionMethodName,
  candidate: DisruptionCandidate,
  snapshot: DisruptionSnapshot,
  { simulatorFor }: ExplainDisruptionOptions,
): Steps<DisruptionCommand | DecisionCause> {
  if (method === "emptiness" || method === "static-drift")
    return disruptionCommand(method, { candidates: [candidate] });
  const free = withoutPodProtection(candidate, snapshot);
  const simulator = simulatorFor(free.snapshot);
  if (method === "drift") return yield* driftReplacement(free.candidate, { simulator });
  const { candidates } = yield* disruptionCandidates(snapshot, "graceful");
  const totals = yield* balancedTotals(candidates, snapshot);
  const result = yield* consolidate(method as "single-node-consolidation", [free.candidate], {
    snapshot: free.snapshot,
    simulator,
    totals,
  });
  return result.kind === "none" ? result.cause : result.command;
}

function moveOf(command: DisruptionCommand, { name }: StateNode): DisruptionMove {
  const { decision, savings, candidates, replacements } = command;
  return {
    decision,
    savings,
    nodes: candidates.map((one) => one.name),
    replacements: replacements.map(({ pool, instanceTypes, price }) => ({
      nodePool: pool,
      instanceTypes: instanceTypes.map((type) => type.name),
      price,
    })),
    moves: movesOf(command).filter(({ from }) => from === name),
  };
}

function composed(
  stateNode: StateNode,
  { candidate, blockers, reasons }: Omit<ExaminedNode, "stateNode"> & { readonly reasons: readonly ReasonOutcome[] },
  { inCommand }: DisruptionSnapshot,
  { verdicts }: ExplainDisruptionOptions,
): DisruptionExplanation {
  const isGoing = stateNode.isBeingDeleted || inCommand.has(stateNode.providerId);
  const open = reasons.find(({ isBlocked, move }) => !isBlocked && move !== undefined);
  const outcome = isGoing ? "going" : open === undefined ? "kept" : "would-go";
  return {
    node: stateNode.name,
    nodeClaim: stateNode.claim?.metadata.name,
    nodePool: stateNode.nodePool,
    instanceType: candidate?.instanceType?.name,
    capacityType: candidate?.capacityType,
    price: candidate?.instanceType === undefined ? undefined : candidate.price,
    movablePods: candidate?.reschedulablePods.length ?? 0,
    outcome,
    cause: causeSentence(outcome, blockers.all, open),
    blockers: blockers.all,
    reasons,
    verdicts: disruptionMethodNames.flatMap((method) => {
      const found = verdicts.get(method);
      if (found === undefined) return [];
      const { verdict, atMs } = found;
      return [{ ...verdict, method, text: verdictText(verdict), ...(atMs !== undefined && { atMs }) }];
    }),
  };
}

function causeSentence(
  outcome: DisruptionExplanation["outcome"],
  blockers: readonly DisruptionBlocker[],
  open: ReasonOutcome | undefined,
): string {
  if (outcome === "would-go" && open?.move !== undefined) return `${open.reason}: ${moveText(open.move)}`;
  const [first, ...more] = blockers;
  if (first === undefined) return "nothing is known that would disrupt it";
  return more.length === 0 ? first.text : `${first.text} (and ${more.length} more)`;
}

/** `deleting it saves $0.1000/hour`. */
export function moveText({ decision, savings, nodes }: DisruptionMove): string {
  const amount = `$${Math.abs(savings).toFixed(4)}/hour`;
  const others = nodes.length === 2 ? "another node" : `${nodes.length - 1} other nodes`;
  const what = `${decision === "delete" ? "deleting" : "replacing"} it${nodes.length > 1 ? ` with ${others}` : ""}`;
  return `${what} ${savings >= 0 ? `saves ${amount}` : `costs ${amount} more`}`;
}
