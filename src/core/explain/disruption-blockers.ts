import { budgetOutlook } from "../../api/budgets/budget-outlook.ts";
import type { DisruptionReason } from "../../api/vocabulary.ts";
import { budgetCause, poolBudgets } from "../disruption/budgets.ts";
import { candidacyCauses, type DisruptionCandidate } from "../disruption/candidate.ts";
import type { DisruptionCommand } from "../disruption/command.ts";
import { filterCauses } from "../disruption/method-filters.ts";
import { type DisruptionMethodName, disruptionMethods } from "../disruption/methods.ts";
import type { DisruptionSnapshot } from "../disruption/snapshot.ts";
import type { DecisionCause, NodeVerdict, VerdictCause } from "../disruption/verdict.ts";
import { verdictText } from "../disruption/verdict-text.ts";
import type { StateNode } from "../round/cluster-snapshot.ts";
import { gateRemedies, remediesFor, waitRemedy } from "./disruption-remedies.ts";

/** Something that keeps a node from being disrupted, and what would end it. */
export type DisruptionBlocker = VerdictCause & {
  readonly text: string;
  /** The reasons it holds back. */
  readonly blocks: readonly DisruptionReason[];
  /** Instructions, each of which helps on its own; none if it is not about this node. */
  readonly remedies: readonly string[];
  /** When it ends by itself. */
  readonly endsAtMs?: number | undefined;
  /** Further pods it is about. */
  readonly alsoPods?: readonly string[] | undefined;
};

interface FoundWithCause extends Partial<Pick<DisruptionBlocker, "remedies" | "endsAtMs">> {
  /** Beside those that every such cause has. */
  readonly moreRemedies?: readonly string[];
}

/** Collects what is found, each thing once. */
export class BlockerList {
  readonly #snapshot: DisruptionSnapshot;
  readonly #stateNode: StateNode;
  readonly #blockers: DisruptionBlocker[] = [];

  constructor(stateNode: StateNode, snapshot: DisruptionSnapshot) {
    this.#stateNode = stateNode;
    this.#snapshot = snapshot;
  }

  get all(): readonly DisruptionBlocker[] {
    return this.#blockers;
  }

  blocking(reason: DisruptionReason): readonly DisruptionBlocker[] {
    return this.#blockers.filter(({ blocks }) => blocks.includes(reason));
  }

  add(cause: VerdictCause, reason: DisruptionReason, found: FoundWithCause = {}): void {
    const index = this.#blockers.findIndex((one) => isSameCause(one, cause));
    const known = this.#blockers[index];
    if (known !== undefined) this.#blockers[index] = merged(known, cause, reason);
    else this.#blockers.push(this.#blockerOf(cause, reason, found));
  }

  #blockerOf(
    cause: VerdictCause,
    reason: DisruptionReason,
    { remedies, moreRemedies = [], endsAtMs = "untilMs" in cause ? cause.untilMs : undefined }: FoundWithCause,
  ): DisruptionBlocker {
    const stateNode = this.#stateNode;
    return {
      ...cause,
      text: verdictText({ ...cause, node: stateNode.name }),
      blocks: [reason],
      remedies: [...(remedies ?? remediesFor(cause, { snapshot: this.#snapshot, stateNode })), ...moreRemedies],
      ...(endsAtMs !== undefined && { endsAtMs }),
    };
  }
}

/** Pods that the same budgets hold are one blocker; what depends on the reason is one for each reason. */
function isSameCause(known: DisruptionBlocker, cause: VerdictCause): boolean {
  if (known.code !== cause.code) return false;
  if (cause.code === "pdb" && known.code === "pdb") return known.budgets.join() === cause.budgets.join();
  if (cause.code === "pod-protected" && known.code === "pod-protected") return known.pod === cause.pod;
  return cause.code !== "budget";
}

function merged(known: DisruptionBlocker, cause: VerdictCause, reason: DisruptionReason): DisruptionBlocker {
  const blocks = known.blocks.includes(reason) ? known.blocks : [...known.blocks, reason];
  if (known.code !== "pdb" || cause.code !== "pdb") return { ...known, blocks };
  const { alsoPods = [] } = known;
  const isNew = cause.pod !== known.pod && !alsoPods.includes(cause.pod);
  return { ...known, blocks, ...(isNew && { alsoPods: [...alsoPods, cause.pod] }) };
}

/** Everything that keeps the node from the method before anything is simulated: itself, its pods, its pool, budgets. */
export function addKnownBlockers(
  blockers: BlockerList,
  { method, candidate, stateNode }: BlockedMethod,
  snapshot: DisruptionSnapshot,
): void {
  const { class: disruptionClass, reason } = disruptionMethods[method];
  for (const cause of candidacyCauses(stateNode, snapshot, disruptionClass)) blockers.add(cause, reason);
  if (candidate === undefined) return;
  const { isInitialized } = stateNode;
  for (const cause of filterCauses(method, candidate, snapshot)) {
    // consolidateAfter begins with initialization, so there is nothing to lower before.
    if (isInitialized || cause.code !== "not-consolidatable") blockers.add(cause, reason);
    if (cause.code === "static-pool") return; // what else holds it back would not matter without
  }
  addBudgetBlocker(blockers, { candidate, reason, isInitialized }, snapshot);
}

export interface BlockedMethod {
  readonly method: DisruptionMethodName;
  readonly stateNode: StateNode;
  /** Undefined if there is no claim, or no pool. */
  readonly candidate: DisruptionCandidate | undefined;
}

function addBudgetBlocker(
  blockers: BlockerList,
  { candidate: { pool }, reason, isInitialized }: BudgetedNode,
  snapshot: DisruptionSnapshot,
): void {
  const budget = poolBudgets(snapshot, reason).get(pool.name);
  if (budget === undefined || budget.available > 0) return;
  const { budgets } = pool.nodePool.spec.disruption;
  const { disrupting } = budget;
  const { nowMs } = snapshot;
  // A percentage is of the initialized nodes: once this is one of them, it may allow it. (03:D-20)
  const nodes = budget.nodes + (isInitialized ? 0 : 1);
  const { binding, opensAtMs: endsAtMs } = budgetOutlook(budgets, { reason, nodes, disrupting, nowMs });
  if (binding.length > 0) blockers.add(budgetCause(budget), reason, { endsAtMs });
}

interface BudgetedNode {
  readonly candidate: DisruptionCandidate;
  readonly reason: DisruptionReason;
  readonly isInitialized: boolean;
}

/** What a simulation decided. */
export function addDecisionBlocker(blockers: BlockerList, { cause, reason, isOnlyGate }: FoundDecision): void {
  // That the price is unknown has been said, with the cause of it.
  const isSaid = (code: VerdictCause["code"]): boolean => blockers.blocking(reason).some((one) => one.code === code);
  const isUnpriced = isSaid("unknown-instance-type") || isSaid("missing-label");
  if (cause.code === "no-cheaper-type" && cause.price === 0 && isUnpriced) return;
  blockers.add(cause, reason, isOnlyGate ? { moreRemedies: gateRemedies(cause) } : {});
}

interface FoundDecision {
  readonly cause: DecisionCause;
  readonly reason: DisruptionReason;
  /** With the feature gate that the cause is about, the node would go. */
  readonly isOnlyGate: boolean;
}

/** That a node is on its way out, which is all there is to say. */
export function addLeavingCause(
  blockers: BlockerList,
  { providerId }: StateNode,
  { inCommand }: DisruptionSnapshot,
): void {
  blockers.add({ code: inCommand.has(providerId) ? "in-command" : "deleting" }, "Underutilized");
}

/** That nothing but commands for other nodes keeps it. */
export function addCommandsBefore(
  blockers: BlockerList,
  { stateNode, reason }: { readonly stateNode: StateNode; readonly reason: DisruptionReason },
  next: readonly DisruptionCommand[] = [],
): void {
  const nodes = next.flatMap(({ candidates }) => candidates);
  if (nodes.length === 0 || nodes.some(({ providerId }) => providerId === stateNode.providerId)) return;
  const isDestination = next.some(({ placements }) => placements.some(({ node }) => node === stateNode.name));
  const cause = isDestination
    ? ({ code: "destination" } as const)
    : ({ code: "not-reached", because: "command-found" } as const);
  blockers.add(cause, reason, { remedies: [waitRemedy(nodes.map(({ name }) => name).sort())] });
}

/** What a method found out beyond what is known without it. */
export function addVerdictBlocker(blockers: BlockerList, verdict: NodeVerdict, method: DisruptionMethodName): void {
  const { reason } = disruptionMethods[method];
  const { node: _node, nodePool: _nodePool, ...cause } = verdict;
  const isBudgetKnown = cause.code === "budget" && blockers.blocking(reason).some(({ code }) => code === "budget");
  if (!isBudgetKnown) blockers.add(cause, reason);
}
