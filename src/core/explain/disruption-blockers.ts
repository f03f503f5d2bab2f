import { budgetOutlook } from "../../api/budgets/budget-outlook.ts";
import type { DisruptionReason } from "../../api/vocabulary.ts";
import { budgetCause, poolBudgets } from "../disruption/budgets.ts";
import { candidacyCauses, type DisruptionCandidate } from "../disruption/candidate.ts";
import { filterCauses } from "../disruption/method-filters.ts";
import { type DisruptionMethodName, disruptionMethods } from "../disruption/methods.ts";
import type { DisruptionSnapshot } from "../disruption/snapshot.ts";
import type { NodeVerdict, VerdictCause } from "../disruption/verdict.ts";
import { verdictText } from "../disruption/verdict-text.ts";
import type { StateNode } from "../round/cluster-snapshot.ts";
import { budgetRemedies, remediesFor } from "./disruption-remedies.ts";

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

  add(
    cause: VerdictCause,
    reason: DisruptionReason,
    found: Partial<Pick<DisruptionBlocker, "remedies" | "endsAtMs">> = {},
  ): void {
    const index = this.#blockers.findIndex((one) => isSameCause(one, cause));
    const known = this.#blockers[index];
    if (known !== undefined) this.#blockers[index] = merged(known, cause, reason);
    else this.#blockers.push(this.#blockerOf(cause, reason, found));
  }

  #blockerOf(
    cause: VerdictCause,
    reason: DisruptionReason,
    { remedies, endsAtMs = "untilMs" in cause ? cause.untilMs : undefined }: Partial<DisruptionBlocker>,
  ): DisruptionBlocker {
    const stateNode = this.#stateNode;
    return {
      ...cause,
      text: verdictText({ ...cause, node: stateNode.name }),
      blocks: [reason],
      remedies: remedies ?? remediesFor(cause, { snapshot: this.#snapshot, stateNode }),
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
  for (const cause of filterCauses(method, candidate, snapshot)) blockers.add(cause, reason);
  addBudgetBlocker(blockers, { candidate, reason }, snapshot);
}

export interface BlockedMethod {
  readonly method: DisruptionMethodName;
  readonly stateNode: StateNode;
  /** Undefined if there is no claim, or no pool. */
  readonly candidate: DisruptionCandidate | undefined;
}

function addBudgetBlocker(
  blockers: BlockerList,
  { candidate: { pool }, reason }: { readonly candidate: DisruptionCandidate; readonly reason: DisruptionReason },
  snapshot: DisruptionSnapshot,
): void {
  const budget = poolBudgets(snapshot, reason).get(pool.name);
  if (budget === undefined || budget.available > 0) return;
  const { nodes, disrupting } = budget;
  const { nowMs } = snapshot;
  const outlook = budgetOutlook(pool.nodePool.spec.disruption.budgets, { reason, nodes, disrupting, nowMs });
  const remedies = budgetRemedies(outlook.binding, { nodePool: pool.name, nowMs, disrupting });
  const endsAtMs = outlook.opensAtMs;
  blockers.add(budgetCause(budget), reason, { remedies, endsAtMs });
}

/** What a method found out beyond what is known without it. */
export function addVerdictBlocker(blockers: BlockerList, verdict: NodeVerdict, method: DisruptionMethodName): void {
  const { reason } = disruptionMethods[method];
  const { node: _node, nodePool: _nodePool, ...cause } = verdict;
  const isBudgetKnown = cause.code === "budget" && blockers.blocking(reason).some(({ code }) => code === "budget");
  if (!isBudgetKnown) blockers.add(cause, reason);
}
