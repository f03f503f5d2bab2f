import { forEachInSteps, type Steps } from "../../util/steps.ts";
import { balancedTotals } from "./balanced.ts";
import { type PoolBudget, poolBudgets } from "./budgets.ts";
import { type DisruptionCandidate, type DisruptionCandidates, disruptionCandidates, verdictOn } from "./candidate.ts";
import { drift } from "./drift.ts";
import { emptiness } from "./emptiness.ts";
import type { MethodInput, MethodOutcome, SearchPosition } from "./method.ts";
import { filterCause } from "./method-filters.ts";
import { type DisruptionClass, type DisruptionMethodName, disruptionMethods } from "./methods.ts";
import { multiNodeConsolidation } from "./multi-node.ts";
import type { DisruptionSimulator, SearchBudget } from "./simulator.ts";
import { singleNodeConsolidation } from "./single-node.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import { staticDrift } from "./static-drift.ts";
import type { NodeVerdict } from "./verdict.ts";

/** What a method would do about a snapshot, and what it found out about every node. */
export interface MethodProposal extends MethodOutcome {
  readonly method: DisruptionMethodName;
  /** Nodes the method is for, by name. (03:D-4) */
  readonly candidates: readonly DisruptionCandidate[];
  /** By pool; empty without candidates. */
  readonly budgets: ReadonlyMap<string, PoolBudget>;
}

export interface ProposeOptions {
  readonly simulator: DisruptionSimulator;
  readonly searchBudget: SearchBudget;
  readonly resume?: SearchPosition | undefined;
  readonly sweep?: MethodInput["sweep"];
  readonly memory?: MethodInput["memory"];
}

/** Asks the methods about one snapshot. What they have in common is computed once. (03 §4) */
export class DisruptionPass {
  readonly #snapshot: DisruptionSnapshot;
  readonly #candidates = new Map<DisruptionClass, DisruptionCandidates>();

  constructor(snapshot: DisruptionSnapshot) {
    this.#snapshot = snapshot;
  }

  /** What one method would do. (03:D-4) */
  *propose(method: DisruptionMethodName, options: ProposeOptions): Steps<MethodProposal> {
    const snapshot = this.#snapshot;
    const { class: disruptionClass, reason } = disruptionMethods[method];
    const all = yield* this.#candidatesOf(disruptionClass);
    const candidates: DisruptionCandidate[] = [];
    const filtered: NodeVerdict[] = [];
    yield* forEachInSteps(all.candidates, (candidate) => {
      const cause = filterCause(method, candidate, snapshot);
      if (cause === undefined) candidates.push(candidate);
      else filtered.push(verdictOn(candidate, cause));
    });
    yield;
    const others = [...all.blocked, ...filtered];
    if (candidates.length === 0) {
      return { method, candidates, budgets: new Map(), ...noOutcome, verdicts: others };
    }
    const budgets = poolBudgets(snapshot, reason);
    yield;
    const totals = yield* balancedTotals(all.candidates, snapshot);
    const outcome = yield* outcomeOf(method, { sweep: "first", ...options, snapshot, candidates, budgets, totals });
    return { method, candidates, budgets, ...outcome, verdicts: [...outcome.verdicts, ...others] };
  }

  *#candidatesOf(disruptionClass: DisruptionClass): Steps<DisruptionCandidates> {
    const known = this.#candidates.get(disruptionClass);
    const found = known ?? (yield* disruptionCandidates(this.#snapshot, disruptionClass));
    this.#candidates.set(disruptionClass, found);
    return found;
  }
}

const noOutcome: MethodOutcome = { commands: [], verdicts: [], isHeldBackByBudget: false, moves: [] };

function* outcomeOf(method: DisruptionMethodName, input: MethodInput): Steps<MethodOutcome> {
  switch (method) {
    case "emptiness":
      return emptiness(input);
    case "static-drift":
      return staticDrift(input);
    case "drift":
      return yield* drift(input);
    case "multi-node-consolidation":
      return yield* multiNodeConsolidation(input);
    case "single-node-consolidation":
      return yield* singleNodeConsolidation(input);
  }
}
