import type { Steps } from "../../util/steps.ts";
import { type BalancedTotals, rejectedEvenIfDeleted } from "../disruption/balanced.ts";
import { budgetCause, type PoolBudget } from "../disruption/budgets.ts";
import { type DisruptionCandidate, verdictOn } from "../disruption/candidate.ts";
import type { DisruptionCommand } from "../disruption/command.ts";
import { type ConsolidationResult, consolidate, type FoundCommand } from "../disruption/consolidate.ts";
import type { DisruptionSimulator, SearchBudget } from "../disruption/simulator.ts";
import type { DisruptionSnapshot } from "../disruption/snapshot.ts";
import type { NodeVerdict } from "../disruption/verdict.ts";

/** The most nodes of one command, as in the controller. (03:D-51) */
const maxNodes = 100;
/** Each set that is tried has this much fewer nodes than the one before. */
const shrinkBy = 4;

export interface WaveInput {
  readonly snapshot: DisruptionSnapshot;
  /** Nodes that may go, those that waste the most first. */
  readonly candidates: readonly DisruptionCandidate[];
  readonly budgets: ReadonlyMap<string, PoolBudget>;
  readonly totals: ReadonlyMap<string, BalancedTotals>;
  readonly simulator: DisruptionSimulator;
  readonly searchBudget: SearchBudget;
}

/**
 * Commands that can be carried out at the same time: each in the cluster that those before it leave, all of them within
 * the budgets. Sets of nodes next to each other in the order of waste are tried first, then single nodes.
 */
export class WaveSearch {
  readonly commands: DisruptionCommand[] = [];
  readonly verdicts: NodeVerdict[] = [];
  readonly #input: WaveInput;
  readonly #taken = new Map<string, number>();
  #left: DisruptionCandidate[];
  /** The simulator could not tell what a command leaves, so nothing can be found on top of it. */
  #isOver = false;

  constructor(input: WaveInput) {
    this.#input = input;
    this.#left = [...input.candidates];
  }

  *run(): Steps<void> {
    yield* this.#trySets();
    yield* this.#trySingleNodes();
  }

  *#trySets(): Steps<void> {
    let from = 0;
    while (from < this.#left.length && !this.#isOver) {
      const window = this.#withinBudget(from);
      const found = yield* this.#bestSet(window);
      if (found === undefined) from += Math.max(1, Math.floor(window.length / shrinkBy));
      else yield* this.#accept(found.command);
    }
  }

  /** Of the first nodes, as many as save the most together. */
  *#bestSet(window: readonly DisruptionCandidate[]): Steps<FoundCommand | undefined> {
    let best: FoundCommand | undefined;
    for (let count = window.length; count > 1; count = Math.floor(count / shrinkBy)) {
      const result = yield* this.#consolidate(window.slice(0, count));
      if (result?.kind === "command" && result.command.savings > (best?.command.savings ?? 0)) best = result;
    }
    return best;
  }

  *#trySingleNodes(): Steps<void> {
    for (const candidate of [...this.#left]) {
      if (this.#isOver) return;
      if (!this.#left.includes(candidate)) continue; // it takes pods of a command
      const cause = this.#causeAgainst(candidate);
      if (cause !== undefined) {
        this.verdicts.push(verdictOn(candidate, cause));
        continue;
      }
      const result = yield* this.#consolidate([candidate]);
      if (result === undefined)
        this.verdicts.push(verdictOn(candidate, { code: "not-reached", because: "search-budget" }));
      else if (result.kind === "none") this.verdicts.push(verdictOn(candidate, result.cause));
      else if (result.command.savings > 0) yield* this.#accept(result.command);
    }
  }

  #causeAgainst(candidate: DisruptionCandidate) {
    const budget = this.#input.budgets.get(candidate.pool.name);
    if (budget !== undefined && this.#room(candidate) <= 0) return budgetCause(budget);
    const rejected = rejectedEvenIfDeleted(candidate, this.#input.totals);
    return rejected === undefined ? undefined : ({ code: "score", scores: [rejected] } as const);
  }

  *#consolidate(candidates: readonly DisruptionCandidate[]): Steps<ConsolidationResult | undefined> {
    if (!this.#input.searchBudget.mayContinue()) return undefined;
    return yield* consolidate("multi-node-consolidation", candidates, this.#input);
  }

  *#accept(command: DisruptionCommand): Steps<void> {
    const { candidates } = command;
    this.commands.push(command);
    for (const { pool } of candidates) this.#taken.set(pool.name, (this.#taken.get(pool.name) ?? 0) + 1);
    const destinations = yield* this.#input.simulator.keep?.(candidates, { isConsolidation: true }) ?? none();
    this.#isOver = destinations === undefined;
    const busy = new Set([...candidates.map(({ name }) => name), ...(destinations ?? [])]);
    this.#left = this.#left.filter(({ name }) => !busy.has(name));
  }

  /** The next nodes that may go together. */
  #withinBudget(from: number): readonly DisruptionCandidate[] {
    const counts = new Map<string, number>();
    const found: DisruptionCandidate[] = [];
    for (const candidate of this.#left.slice(from)) {
      const count = counts.get(candidate.pool.name) ?? 0;
      if (count >= this.#room(candidate)) continue;
      counts.set(candidate.pool.name, count + 1);
      if (found.push(candidate) === maxNodes) break;
    }
    return found;
  }

  #room({ pool }: DisruptionCandidate): number {
    return (this.#input.budgets.get(pool.name)?.available ?? 0) - (this.#taken.get(pool.name) ?? 0);
  }
}

// biome-ignore lint/correctness/useYield: there is nothing to do
function* none(): Steps<undefined> {
  return undefined;
}
