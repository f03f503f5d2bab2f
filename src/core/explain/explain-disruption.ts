import type { DisruptionReason } from "../../api/vocabulary.ts";
import type { Steps } from "../../util/steps.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import {
  type DisruptionCandidate,
  disruptionCandidateOf,
  hasCondition,
  isEmptyCandidate,
  isOfStaticPool,
} from "../disruption/candidate.ts";
import {
  type DisruptionCommand,
  firstCapacityType,
  knownSavings,
  movesOf,
  type PodMove,
  priceChangeText,
} from "../disruption/command.ts";
import {
  type DisruptionDecision,
  type DisruptionMethodName,
  disruptionMethodNames,
  disruptionMethods,
} from "../disruption/methods.ts";
import type { DisruptionSimulator } from "../disruption/simulator.ts";
import type { DisruptionSnapshot } from "../disruption/snapshot.ts";
import type { NodeVerdict } from "../disruption/verdict.ts";
import { verdictText } from "../disruption/verdict-text.ts";
import type { StateNode } from "../round/cluster-snapshot.ts";
import {
  addCommandsBefore,
  addDecisionBlocker,
  addKnownBlockers,
  addLeavingCause,
  addVerdictBlocker,
  BlockerList,
  type DisruptionBlocker,
} from "./disruption-blockers.ts";
import { unblockedCommand } from "./unblocked-command.ts";

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
  /** Dollars an hour; absent if the price of a node that goes or comes is not known. */
  readonly savings?: number | undefined;
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
  readonly capacityType: string;
  /** Absent where the type is the provider's choice. */
  readonly price?: number | undefined;
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
  /** Those that start next, if that is known: all other nodes wait for them. */
  readonly next?: readonly DisruptionCommand[] | undefined;
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
  if (isLeaving(stateNode, snapshot)) {
    addLeavingCause(blockers, stateNode, snapshot);
    const reasons = commandsOf(stateNode, options).map((command) => ({
      reason: command.reason,
      isBlocked: false,
      move: moveOf(command, stateNode),
    }));
    return composed(stateNode, { candidate, blockers, reasons }, snapshot, options);
  }
  const reasons: ReasonOutcome[] = [];
  for (const method of methodsFor(candidate)) {
    addKnownBlockers(blockers, { method, candidate, stateNode }, snapshot);
    if (candidate === undefined || isFor(method, candidate))
      reasons.push(yield* reasonOutcome(method, { stateNode, candidate, blockers }, snapshot, options));
  }
  return composed(stateNode, { candidate, blockers, reasons }, snapshot, options);
}

/** Whether it is on its way out. */
function isLeaving({ isBeingDeleted, providerId }: StateNode, { inCommand }: DisruptionSnapshot): boolean {
  return isBeingDeleted || inCommand.has(providerId);
}

function commandsOf(
  { providerId }: StateNode,
  { commands }: Pick<ExplainDisruptionOptions, "commands">,
): readonly DisruptionCommand[] {
  return commands.filter(({ candidates }) => candidates.some((one) => one.providerId === providerId));
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
  const isDrifted = hasCondition(candidate, "Drifted");
  if (isOfStaticPool(candidate)) return [isDrifted ? "static-drift" : "single-node-consolidation"];
  const saving = isEmptyCandidate(candidate) ? "emptiness" : "single-node-consolidation";
  return isDrifted ? ["drift", saving] : [saving];
}

/** Nodes of a static pool are not given back to save money, whatever blocks them. */
function isFor(method: DisruptionMethodName, candidate: DisruptionCandidate): boolean {
  return method === "static-drift" || !isOfStaticPool(candidate);
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
  const command = commandsOf(stateNode, options).find((one) => one.reason === reason);
  const found = command ?? (yield* commandOrBlockers(method, { candidate, blockers }, snapshot, options));
  if (found === undefined) return { reason, isBlocked: true };
  if (blockers.blocking(reason).length === 0) addCommandsBefore(blockers, { stateNode, reason }, options.next);
  return { reason, isBlocked: blockers.blocking(reason).length > 0, move: moveOf(found, stateNode) };
}

/** What a simulation of this node alone finds, and whatever else keeps it. */
function* commandOrBlockers(
  method: DisruptionMethodName,
  { candidate, blockers }: Omit<ExaminedNode, "stateNode">,
  snapshot: DisruptionSnapshot,
  { simulatorFor, verdicts }: ExplainDisruptionOptions,
): Steps<DisruptionCommand | undefined> {
  if (candidate === undefined) return undefined;
  const { reason } = disruptionMethods[method];
  const { command, causes } = yield* unblockedCommand(method, candidate, snapshot, simulatorFor);
  for (const cause of causes) addDecisionBlocker(blockers, { cause, reason, isOnlyGate: command !== undefined });
  if (command === undefined) return undefined;
  for (const one of disruptionMethodNames.filter((name) => disruptionMethods[name].reason === reason)) {
    const found = verdicts.get(one);
    if (found !== undefined && saysMore(found, snapshot)) addVerdictBlocker(blockers, found.verdict, one);
  }
  return command;
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

function moveOf(command: DisruptionCommand, { name }: StateNode): DisruptionMove {
  const { decision, candidates, replacements } = command;
  const savings = knownSavings(command);
  return {
    decision,
    ...(savings !== undefined && { savings }),
    nodes: candidates.map((one) => one.name),
    replacements: replacements.map(({ pool, instanceTypes, price, requirements }) => ({
      nodePool: pool,
      instanceTypes: instanceTypes.map((type) => type.name),
      capacityType: firstCapacityType(requirements),
      ...(instanceTypes.length > 0 && { price }),
    })),
    moves: movesOf(command).filter(({ from }) => from === name),
  };
}

function composed(
  stateNode: StateNode,
  { candidate, blockers, reasons }: Omit<ExaminedNode, "stateNode"> & { readonly reasons: readonly ReasonOutcome[] },
  snapshot: DisruptionSnapshot,
  { verdicts, progress }: ExplainDisruptionOptions,
): DisruptionExplanation {
  const open = reasons.find(({ isBlocked, move }) => !isBlocked && move !== undefined);
  const outcome = isLeaving(stateNode, snapshot) ? "going" : open === undefined ? "kept" : "would-go";
  return {
    node: stateNode.name,
    nodeClaim: stateNode.claim?.metadata.name,
    nodePool: stateNode.nodePool,
    instanceType: candidate?.instanceType?.name,
    capacityType: candidate?.capacityType,
    price: candidate?.price || undefined,
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
  return more.length === 0 ? first.text : `${first.text} (and ${more.length} more, below)`;
}

/** `deleting it saves $0.1000/hour`. */
export function moveText({ decision, savings, nodes }: DisruptionMove): string {
  const others = nodes.length === 2 ? "another node" : `${nodes.length - 1} other nodes`;
  const what = `${decision === "delete" ? "deleting" : "replacing"} it${nodes.length > 1 ? ` together with ${others}` : ""}`;
  return `${what} ${priceChangeText(savings)}`;
}
