import type { Steps } from "../../util/steps.ts";
import { BudgetTickets } from "./budgets.ts";
import { bySavingsRatio, type DisruptionCandidate, verdictOn } from "./candidate.ts";
import type { CommandAndMoves } from "./choose-command.ts";
import type { DisruptionCommand } from "./command.ts";
import { consolidate } from "./consolidate.ts";
import { largerSet } from "./larger-sets.ts";
import type { ConsolidationMove, MethodInput, MethodOutcome, SearchPosition } from "./method.ts";
import { searchSubsets } from "./subset-search.ts";
import { destinationsOfOthers } from "./sweep.ts";
import type { NodeVerdict, TriedSet, VerdictCause } from "./verdict.ts";

/** The longest prefix is one longer: 101 nodes. (03:D-51) */
const maxPrefixIndex = 100;

/** Looks for nodes that can go together, replaced by one node or none. (03 §4.8) */
export function* multiNodeConsolidation(input: MethodInput): Steps<MethodOutcome> {
  const tickets = new BudgetTickets(input.budgets);
  const ordered = bySavingsRatio(input.candidates);
  const destinations = yield* destinationsOfOthers(input);
  const withinBudget: DisruptionCandidate[] = [];
  const held: NodeVerdict[] = [];
  for (const candidate of ordered) {
    if (destinations.has(candidate.name)) held.push(verdictOn(candidate, { code: "destination" }));
    else if (tickets.take(candidate)) withinBudget.push(candidate);
    else held.push(verdictOn(candidate, tickets.causeFor(candidate)));
  }
  const search = yield* searchSets(withinBudget, input);
  const { command, moves, stoppedAt } = search;
  return {
    commands: command === undefined ? [] : [command],
    verdicts: [...withinBudget.map((one) => verdictOn(one, causeOf(one, search, withinBudget.length))), ...held],
    isHeldBackByBudget: held.some(({ code }) => code === "budget"),
    stoppedAt,
    moves,
  };
}

/**
 * Upstream tries prefixes only. Where several commands are wanted, other sets are tried too, and the best of all is
 * chosen; a search that was stopped goes on with prefixes first. (03:D-51, 03 §10.2-6)
 */
function* searchSets(candidates: readonly DisruptionCandidate[], input: MethodInput): Steps<PrefixSearch> {
  const search = yield* searchPrefixes(candidates, input);
  const isWanted = input.sweep === "several" && input.snapshot.mode === "default";
  if (!isWanted || search.stoppedAt !== undefined || candidates.length < 2) return search;
  const { best, isStopped } = yield* searchSubsets(candidates, search.found, input);
  // The next search has no prefix left to try, and goes on with other sets.
  const nodes = candidates.map(({ name }) => name);
  const stoppedAt = isStopped ? ({ kind: "prefix", nodes, low: 1, high: 0 } as const) : undefined;
  return { ...search, ...best, stoppedAt };
}

interface PrefixSearch {
  readonly command?: DisruptionCommand | undefined;
  readonly tried: readonly TriedSet[];
  readonly moves: readonly ConsolidationMove[];
  /** What was found, the last of which counts. */
  readonly found: readonly CommandAndMoves[];
  readonly stoppedAt?: SearchPosition | undefined;
}

/**
 * Binary search for the longest prefix that works. A longer one may work where a shorter one does not, so this is a
 * heuristic; the last that worked counts. When the search is stopped, that one is returned, and else the bounds to go
 * on between. (03:D-51, D-52)
 */
function* searchPrefixes(candidates: readonly DisruptionCandidate[], input: MethodInput): Steps<PrefixSearch> {
  const tried: TriedSet[] = [];
  if (candidates.length < 2) return { tried, moves: [], found: [] };
  const nodes = candidates.map(({ name }) => name);
  if (input.sweep === "first") input.simulator.expect?.(candidates.slice(0, maxPrefixIndex + 1));
  let { low, high } = boundsAfter(input.resume, nodes);
  const commands: CommandAndMoves[] = [];
  let command: DisruptionCommand | undefined;
  let moves: readonly ConsolidationMove[] = [];
  while (low <= high) {
    if (!input.searchBudget.mayContinue()) {
      return { command, tried, moves, found: commands, stoppedAt: { kind: "prefix", nodes, low, high } };
    }
    const middle = Math.floor((low + high) / 2);
    const result = yield* consolidate("multi-node-consolidation", candidates.slice(0, middle + 1), input);
    // Only the command's own moves count, or those of the last rejected one. (03:B-7)
    if (result.kind === "command" || (command === undefined && result.moves.length > 0)) moves = result.moves;
    if (result.kind === "command") {
      command = result.command;
      commands.push(result);
      low = middle + 1;
    } else {
      tried.push({ nodes: middle + 1, cause: result.cause });
      high = middle - 1;
    }
  }
  const found = input.snapshot.allowsMultiReplacement
    ? yield* largerSet(candidates.slice(0, maxPrefixIndex + 1), command, input)
    : undefined;
  return {
    command: found?.command ?? command,
    tried,
    moves: found?.moves ?? moves,
    found: found === undefined ? commands : [...commands, found],
  };
}

/** From the start, unless the last search was over the same nodes. */
function boundsAfter(resume: SearchPosition | undefined, nodes: readonly string[]): { low: number; high: number } {
  const isSame =
    resume?.kind === "prefix" &&
    resume.nodes.length === nodes.length &&
    resume.nodes.every((one, at) => one === nodes[at]);
  if (isSame) return { low: resume.low, high: resume.high };
  return { low: 1, high: Math.min(nodes.length - 1, maxPrefixIndex) };
}

function causeOf(
  candidate: DisruptionCandidate,
  { command, tried, stoppedAt }: PrefixSearch,
  count: number,
): VerdictCause {
  if (command?.candidates.includes(candidate)) {
    return { code: "chosen", decision: command.decision, savings: command.savings };
  }
  if (count < 2) return { code: "too-few-nodes" };
  if (stoppedAt !== undefined && tried.length === 0) return { code: "not-reached", because: "search-budget" };
  return { code: "not-in-command", tried };
}
