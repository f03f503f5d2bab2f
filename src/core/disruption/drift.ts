import type { Conditioned } from "../../api/conditions/condition.ts";
import { getCondition } from "../../api/conditions/set-condition.ts";
import type { Steps } from "../../util/steps.ts";
import { BudgetTickets } from "./budgets.ts";
import { type DisruptionCandidate, verdictOn } from "./candidate.ts";
import { candidatePrice, type DisruptionCommand, disruptionCommand } from "./command.ts";
import type { MethodInput, MethodOutcome } from "./method.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import { afterResume, expectedTries, notReached } from "./sweep.ts";
import type { DecisionCause, NodeVerdict } from "./verdict.ts";

/** Each of them starts nodes, and pods move without a check some seconds later: not all at once. */
const maxCommands = 10;

/**
 * Replaces the first drifted node whose pods all have a place, whatever that costs. By default several go at a time, each
 * in the cluster that those before it leave. (03:D-31, 03 §10.2-9)
 */
export function* drift(input: MethodInput): Steps<MethodOutcome> {
  const { candidates, budgets, searchBudget, sweep, snapshot, resume } = input;
  const tickets = new BudgetTickets(budgets);
  const ordered = afterResume(inDriftOrder(candidates), resume);
  const verdicts: NodeVerdict[] = [];
  const commands: DisruptionCommand[] = [];
  const destinations = new Set<string>();
  let mayFindMore = true;
  if (sweep === "first") input.simulator.expect?.(ordered.slice(0, expectedTries));
  for (const [index, candidate] of ordered.entries()) {
    const isOver = !mayFindMore && sweep !== "all";
    const cause = destinations.has(candidate.name)
      ? ({ code: "destination" } as const)
      : tickets.isLeft(candidate)
        ? heldBackCause(candidate, snapshot)
        : tickets.causeFor(candidate);
    if (isOver || (cause === undefined && !searchBudget.mayContinue())) {
      const rest = notReached(ordered.slice(index), isOver ? "command-found" : "search-budget");
      return outcomeOf(commands, [...verdicts, ...rest.verdicts], rest.stoppedAt);
    }
    const found = cause ?? (yield* driftReplacement(candidate, input));
    if ("code" in found) {
      verdicts.push(verdictOn(candidate, found));
      continue;
    }
    const { decision, savings } = found;
    verdicts.push(verdictOn(candidate, { code: mayFindMore ? "chosen" : "possible", decision, savings }));
    if (!mayFindMore) continue;
    commands.push(found);
    const taking = sweep === "several" ? yield* keepGone(candidate, commands.length, input) : undefined;
    mayFindMore = taking !== undefined;
    if (sweep === "several") tickets.take(candidate);
    for (const name of taking ?? []) destinations.add(name);
  }
  return outcomeOf(commands, verdicts);
}

/** The names of the nodes its pods go to; undefined if no further command is to be found. */
function* keepGone(
  candidate: DisruptionCandidate,
  found: number,
  { simulator }: MethodInput,
): Steps<readonly string[] | undefined> {
  if (found >= maxCommands || simulator.keep === undefined) return undefined;
  return yield* simulator.keep([candidate], { isConsolidation: false });
}

/** After a replacement failed, the pool waits, so that others have their turn. (03:D-32b) */
export function heldBackCause({ pool }: DisruptionCandidate, snapshot: DisruptionSnapshot): DecisionCause | undefined {
  const untilMs = snapshot.heldBackPools.get(pool.name) ?? 0;
  return untilMs > snapshot.nowMs ? { code: "held-back", pool: pool.name, untilMs } : undefined;
}

function outcomeOf(
  commands: readonly DisruptionCommand[],
  verdicts: readonly NodeVerdict[],
  stoppedAt?: MethodOutcome["stoppedAt"],
): MethodOutcome {
  const isHeldBackByBudget = verdicts.some(({ code }) => code === "budget");
  return { commands, verdicts, isHeldBackByBudget, stoppedAt, moves: [] };
}

/**
 * Nodes without pods to move first: their pods would otherwise be moved to nodes that go next. Then those that drifted
 * first. (03:D-31)
 */
function inDriftOrder(candidates: readonly DisruptionCandidate[]): readonly DisruptionCandidate[] {
  const since = ({ claim }: DisruptionCandidate): number =>
    Date.parse(getCondition(claim as Conditioned, "Drifted")?.lastTransitionTime ?? "") || 0;
  const hasPods = ({ reschedulablePods }: DisruptionCandidate): number => (reschedulablePods.length > 0 ? 1 : 0);
  return candidates.toSorted((a, b) => hasPods(a) - hasPods(b) || since(a) - since(b) || (a.name < b.name ? -1 : 1));
}

/** As many replacements as its pods need, possibly none. */
export function* driftReplacement(
  candidate: DisruptionCandidate,
  { simulator }: Pick<MethodInput, "simulator">,
): Steps<DisruptionCommand | DecisionCause> {
  const simulation = yield* simulator.simulate([candidate], { isConsolidation: false });
  if (simulation.kind === "candidate-deleting") return { code: "candidate-deleting" };
  const { newNodes, placements, podErrors } = simulation;
  if (podErrors.length > 0) {
    return { code: "pods-unschedulable", savings: candidatePrice([candidate]), pods: podErrors };
  }
  return disruptionCommand("drift", { candidates: [candidate], replacements: newNodes, placements });
}
