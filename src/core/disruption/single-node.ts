import type { Steps } from "../../util/steps.ts";
import { rejectedEvenIfDeleted } from "./balanced.ts";
import { BudgetTickets } from "./budgets.ts";
import { bySavingsRatio, type DisruptionCandidate, verdictOn } from "./candidate.ts";
import type { DisruptionCommand } from "./command.ts";
import { type ConsolidationResult, consolidate } from "./consolidate.ts";
import type { ConsolidationMove, MethodInput, MethodOutcome, SearchPosition } from "./method.ts";
import { CapacityBounds } from "./necessary-conditions.ts";
import { afterResume, destinationsOfOthers, expectedTries, notReached } from "./sweep.ts";
import type { DecisionCause, NodeVerdict } from "./verdict.ts";
import type { SweepMemory } from "./verdict-memory.ts";

/**
 * Looks for one node that can go, replaced by a cheaper one or none; or for several, each of which can go after those
 * before it. (03 §4.9, §10.2-9)
 */
export function* singleNodeConsolidation(input: MethodInput): Steps<MethodOutcome> {
  const { budgets, searchBudget, sweep } = input;
  const tickets = new BudgetTickets(budgets);
  const ordered = sweepOrder(input);
  const verdicts: NodeVerdict[] = [];
  const moves: ConsolidationMove[] = [];
  const commands: DisruptionCommand[] = [];
  const destinations = yield* destinationsOfOthers(input);
  let mayFindMore = true;
  let stoppedAt: SearchPosition | undefined;
  if (sweep === "first") input.simulator.expect?.(ordered.slice(0, expectedTries));
  const rejects = yield* quickRejection(input);
  const memory = yield* openMemory(input);
  for (const [index, candidate] of ordered.entries()) {
    const isOver = !mayFindMore && sweep !== "all";
    const cause = destinations.has(candidate.name)
      ? ({ code: "destination" } as const)
      : tickets.isLeft(candidate)
        ? (rejects(candidate) ?? memory?.recall(candidate))
        : tickets.causeFor(candidate);
    if (isOver || (cause === undefined && !searchBudget.mayContinue())) {
      const rest = notReached(ordered.slice(index), isOver ? "command-found" : "search-budget");
      verdicts.push(...rest.verdicts);
      stoppedAt = rest.stoppedAt;
      break;
    }
    const result: ConsolidationResult =
      cause === undefined
        ? yield* consolidate("single-node-consolidation", [candidate], input)
        : { kind: "none", cause, moves: [] };
    if (mayFindMore) moves.push(...result.moves);
    if (result.kind === "none") {
      if (cause === undefined) memory?.remember(candidate, result);
      verdicts.push(verdictOn(candidate, result.cause));
      continue;
    }
    const { decision, savings } = result.command;
    verdicts.push(verdictOn(candidate, { code: mayFindMore ? "chosen" : "possible", decision, savings }));
    if (!mayFindMore) continue;
    commands.push(result.command);
    tickets.take(candidate);
    const taking = sweep === "several" ? yield* keepRemoved(candidate, input) : undefined;
    mayFindMore = taking !== undefined;
    for (const name of taking ?? []) destinations.add(name);
    memory?.removed(candidate.name, result.command.placements);
  }
  const isHeldBackByBudget = verdicts.some(({ code }) => code === "budget");
  return { commands, verdicts, isHeldBackByBudget, stoppedAt, moves };
}

/** The names of the nodes its pods go to; undefined if no further command can be found in this sweep. */
function* keepRemoved(
  candidate: DisruptionCandidate,
  { simulator }: MethodInput,
): Steps<readonly string[] | undefined> {
  return simulator.keep === undefined ? undefined : yield* simulator.keep([candidate], { isConsolidation: true });
}

/** Upstream simulates every node in every sweep. */
function* openMemory({ memory, snapshot, simulator }: MethodInput): Steps<SweepMemory | undefined> {
  if (memory === undefined || snapshot.mode !== "default") return undefined;
  return yield* memory.open(snapshot, simulator);
}

/**
 * What rules a node out without a simulation: its deletion alone would be rejected, or, by default, the cluster has
 * certainly no room for its pods. (03:B-6, 03 §10.2-3)
 */
function* quickRejection({
  totals,
  snapshot,
}: MethodInput): Steps<(candidate: DisruptionCandidate) => DecisionCause | undefined> {
  const bounds = snapshot.mode !== "default" ? undefined : yield* CapacityBounds.of(snapshot);
  return (candidate) => {
    const rejected = rejectedEvenIfDeleted(candidate, totals);
    return rejected === undefined ? bounds?.causeAgainst(candidate) : { code: "score", scores: [rejected] };
  };
}

/**
 * By ratio, pools in turn. Upstream begins with the pools its last sweep did not reach; by default the sweep begins with
 * the nodes it did not reach, so that each is looked at within a bounded number of sweeps. (03:D-55)
 */
function sweepOrder({ candidates, resume, snapshot }: MethodInput): readonly DisruptionCandidate[] {
  const isUpstream = snapshot.mode !== "default";
  const firstPools = isUpstream && resume?.kind === "sweep" ? resume.unreachedPools : [];
  const ordered = poolsInTurn(bySavingsRatio(candidates), firstPools);
  return isUpstream ? ordered : afterResume(ordered, resume);
}

function poolsInTurn(
  ordered: readonly DisruptionCandidate[],
  firstPools: readonly string[],
): readonly DisruptionCandidate[] {
  const byPool = new Map<string, DisruptionCandidate[]>(firstPools.map((name) => [name, []]));
  for (const candidate of ordered) {
    const known = byPool.get(candidate.pool.name);
    if (known === undefined) byPool.set(candidate.pool.name, [candidate]);
    else known.push(candidate);
  }
  const queues = [...byPool.values()];
  const turns = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: turns }, (_, turn) => queues.flatMap((queue) => queue[turn] ?? [])).flat();
}
