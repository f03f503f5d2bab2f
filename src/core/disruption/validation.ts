import type { Steps } from "../../util/steps.ts";
import type { PlannedNode } from "../scheduling/decision.ts";
import { BudgetTickets, poolBudgets } from "./budgets.ts";
import { candidatesAmong, type DisruptionCandidate } from "./candidate.ts";
import { type DisruptionCommand, disruptionCommand } from "./command.ts";
import { filterCause } from "./method-filters.ts";
import type { DisruptionSimulator } from "./simulator.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";

/** How long a command waits before it is checked again. (03:D-60) */
export const validationDelayMs = 15_000;

/** Why a command no longer holds. (03:D-61 to D-63) */
export type ValidationFailure = "churn" | "budget" | "scheduling";

export type ValidationOutcome =
  | { readonly kind: "valid"; readonly command: DisruptionCommand; readonly dropped: readonly string[] }
  | { readonly kind: "invalid"; readonly failure: ValidationFailure; readonly nodes: readonly string[] };

/**
 * Whether a command still holds in a later snapshot. What is executed is the original command; only emptiness goes on
 * with the nodes that are left. (03:D-61 to D-66)
 */
export function* validateCommand(
  command: DisruptionCommand,
  snapshot: DisruptionSnapshot,
  simulator: DisruptionSimulator,
): Steps<ValidationOutcome> {
  if (command.method === "emptiness") return validateEmptiness(command, snapshot);
  const found = revalidateCandidates(command, snapshot);
  if ("failure" in found) return { kind: "invalid", ...found };
  const isPossible = yield* canStillBeScheduled(command, found.candidates, simulator);
  const nodes = command.candidates.map(({ name }) => name);
  return isPossible ? { kind: "valid", command, dropped: [] } : { kind: "invalid", failure: "scheduling", nodes };
}

/** Those of a command's nodes that are candidates of its method now, as they are now. */
function currentCandidates(command: DisruptionCommand, snapshot: DisruptionSnapshot): readonly DisruptionCandidate[] {
  const names = new Set(command.candidates.map(({ name }) => name));
  return candidatesAmong(names, snapshot, "graceful").filter(
    (one) => filterCause(command.method, one, snapshot) === undefined,
  );
}

export type CandidateValidation =
  | { readonly candidates: readonly DisruptionCandidate[] }
  | { readonly failure: ValidationFailure; readonly nodes: readonly string[] };

/**
 * All nodes must still be candidates and within budget. Run again right before a command starts: pods may have been
 * bound meanwhile. Nominated nodes are no candidates. (03:D-61, D-62, D-64)
 */
export function revalidateCandidates(command: DisruptionCommand, snapshot: DisruptionSnapshot): CandidateValidation {
  const candidates = currentCandidates(command, snapshot);
  if (candidates.length < command.candidates.length) {
    const valid = new Set(candidates.map(({ name }) => name));
    return { failure: "churn", nodes: command.candidates.map(({ name }) => name).filter((name) => !valid.has(name)) };
  }
  const tickets = new BudgetTickets(poolBudgets(snapshot, command.reason));
  const over = candidates.filter((one) => !tickets.take(one)).map(({ name }) => name);
  return over.length === 0 ? { candidates } : { failure: "budget", nodes: over };
}

/** Nodes that are no longer empty, or beyond the budget, are left out. (03:D-29c) */
function validateEmptiness(command: DisruptionCommand, snapshot: DisruptionSnapshot): ValidationOutcome {
  const names = command.candidates.map(({ name }) => name);
  const current = currentCandidates(command, snapshot);
  if (current.length === 0) return { kind: "invalid", failure: "churn", nodes: names };
  const tickets = new BudgetTickets(poolBudgets(snapshot, command.reason));
  const candidates = current.filter((one) => tickets.take(one));
  if (candidates.length === 0) return { kind: "invalid", failure: "budget", nodes: names };
  const kept = new Set(candidates.map(({ name }) => name));
  return {
    kind: "valid",
    command: disruptionCommand("emptiness", { candidates }),
    dropped: names.filter((name) => !kept.has(name)),
  };
}

/** The same number of new nodes, and every type of each replacement is still possible for one of them. (03:D-63) */
function* canStillBeScheduled(
  { replacements }: DisruptionCommand,
  candidates: readonly DisruptionCandidate[],
  simulator: DisruptionSimulator,
): Steps<boolean> {
  const simulation = yield* simulator.simulate(candidates, { isConsolidation: true });
  if (simulation.kind !== "simulated" || simulation.podErrors.length > 0) return false;
  const { newNodes } = simulation;
  return newNodes.length === replacements.length && canBeMatched(replacements, newNodes);
}

/** Whether each replacement can be assigned a new node of its own that still has all of its types. */
function canBeMatched(replacements: readonly PlannedNode[], newNodes: readonly PlannedNode[]): boolean {
  const possible = newNodes.map(({ instanceTypes }) => new Set(instanceTypes.map(({ name }) => name)));
  const suits = ({ instanceTypes }: PlannedNode, at: number): boolean =>
    instanceTypes.every(({ name }) => possible[at]?.has(name));
  const assigned = new Map<number, PlannedNode>();
  // An assigned node is taken over if its replacement finds another one.
  const assign = (replacement: PlannedNode, tried: Set<number>): boolean => {
    for (const at of possible.keys()) {
      if (tried.has(at) || !suits(replacement, at)) continue;
      tried.add(at);
      const other = assigned.get(at);
      if (other !== undefined && !assign(other, tried)) continue;
      assigned.set(at, replacement);
      return true;
    }
    return false;
  };
  return replacements.every((replacement) => assign(replacement, new Set()));
}
