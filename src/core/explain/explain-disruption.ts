import type { DisruptionReason } from "../../api/vocabulary.ts";
import type { Steps } from "../../util/steps.ts";
import { rfc3339 } from "../../util/timestamp.ts";
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
  /** Of the command it is part of, where a controller was asked. */
  readonly progress?: CommandProgress | undefined;
}

/** How far a command has come. */
export type CommandProgress =
  /** It is checked again before it starts. (03:D-60) */
  | { readonly state: "waiting"; readonly dueAtMs: number }
  | {
      readonly state: "running";
      readonly startedAtMs: number;
      /** The nodes go when all of these are initialized. (03:D-75) */
      readonly replacements: readonly { readonly nodeClaim: string; readonly isInitialized: boolean }[];
    };

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

interface FoundVerdict {
  readonly verdict: NodeVerdict;
  readonly atMs?: number;
}

export interface ExplainDisruptionOptions {
  readonly simulatorFor: (snapshot: DisruptionSnapshot) => DisruptionSimulator;
  /** What the methods said of the node, by method. */
  readonly verdicts: ReadonlyMap<DisruptionMethodName, FoundVerdict>;
  /** Commands that were found. */
  readonly commands: readonly DisruptionCommand[];
  readonly progress?: CommandProgress | undefined;
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
    const found = options.verdicts.get(one);
    if (found !== undefined && saysMore(found, snapshot)) addVerdictBlocker(blockers, found.verdict, one);
  }
  return { reason, isBlocked: blockers.blocking(reason).length > 0, move: moveOf(found, stateNode) };
}

/** Of decisions that depend on other nodes, and may be over soon. */
const freshMs = 30_000;
/** What is found out anew for this node alone; all else only a search over all nodes can say. */
const foundAnew: ReadonlySet<NodeVerdict["code"]> = new Set([
  ...(["in-command", "unmanaged", "no-node", "not-initialized", "deleting", "nominated", "node-protected"] as const),
  ...(["no-pool-label", "pool-not-found", "pod-protected", "pdb", "static-pool", "dynamic-pool"] as const),
  ...(["buffer-pods", "not-empty", "empty", "not-drifted", "consolidation-disabled", "policy-when-empty"] as const),
  ...(["not-consolidatable", "unknown-instance-type", "missing-label", "no-room", "pods-unschedulable"] as const),
  ...(["needs-more-nodes", "no-cheaper-type", "same-type", "min-values", "spot-to-spot-disabled"] as const),
  ...(["spot-flexibility", "score", "candidate-deleting", "too-few-nodes", "not-in-command"] as const),
  ...(["possible", "chosen"] as const),
]);

/** Whether a verdict holds the node back though a simulation of it alone finds a command. */
function saysMore({ verdict, atMs }: FoundVerdict, { nowMs }: DisruptionSnapshot): boolean {
  return !foundAnew.has(verdict.code) && nowMs - (atMs ?? nowMs) <= freshMs;
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
  { verdicts, progress }: ExplainDisruptionOptions,
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
    cause: progress === undefined ? causeSentence(outcome, blockers.all, open) : progressSentence(progress),
    ...(progress !== undefined && { progress }),
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

function progressSentence(progress: CommandProgress): string {
  if (progress.state === "waiting") {
    return `it is part of a command that is checked again at ${rfc3339(progress.dueAtMs)} and then starts`;
  }
  const missing = progress.replacements.filter(({ isInitialized }) => !isInitialized);
  if (missing.length === 0) return "it is part of a command, and its NodeClaim is about to be deleted";
  const names = missing.map(({ nodeClaim }) => nodeClaim).join(", ");
  return `it goes when its replacement is initialized: NodeClaim ${names}`;
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
