import type { BalancedTotals } from "./balanced.ts";
import type { PoolBudget } from "./budgets.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import type { DisruptionCommand } from "./command.ts";
import type { DisruptionSimulator, SearchBudget } from "./simulator.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import type { BalancedScore, NodeVerdict } from "./verdict.ts";
import type { VerdictMemory } from "./verdict-memory.ts";

/** What a method decides on. */
export interface MethodInput {
  readonly snapshot: DisruptionSnapshot;
  /** Nodes the method is for, by name. */
  readonly candidates: readonly DisruptionCandidate[];
  readonly budgets: ReadonlyMap<string, PoolBudget>;
  /** Of the pools of all candidates of the class. (03:B-4) */
  readonly totals: ReadonlyMap<string, BalancedTotals>;
  readonly simulator: DisruptionSimulator;
  readonly searchBudget: SearchBudget;
  /** Where the last search stopped. */
  readonly resume?: SearchPosition | undefined;
  /**
   * `all`: after the first command the other nodes are looked at too, for their verdicts. `several`: they are looked at as
   * they will be after it, for more commands. (03 §10.2-9)
   */
  readonly sweep: "first" | "all" | "several";
  /** What earlier sweeps found out. (03 §10.2-10) */
  readonly memory?: VerdictMemory | undefined;
}

export interface MethodOutcome {
  readonly commands: readonly DisruptionCommand[];
  /** One for every candidate. */
  readonly verdicts: readonly NodeVerdict[];
  /** Only a budget kept a candidate back, so the search is worth repeating without any other change. (03:D-33) */
  readonly isHeldBackByBudget: boolean;
  /** Where the search stopped before it was over. */
  readonly stoppedAt?: SearchPosition | undefined;
  /** Every move that was scored or passed without a score, for metrics. (03:B-7) */
  readonly moves: readonly ConsolidationMove[];
}

/** Enough to go on where a search stopped: given back to the next one. (docs/designs/disruption.md) */
export type SearchPosition =
  /** Nodes that were not reached, in order. */
  | { readonly kind: "sweep"; readonly unreached: readonly string[]; readonly unreachedPools: readonly string[] }
  /** The prefix search over these nodes goes on between the bounds. */
  | { readonly kind: "prefix"; readonly nodes: readonly string[]; readonly low: number; readonly high: number };

/** A consolidation that was evaluated. (03:B-7) */
export interface ConsolidationMove {
  readonly pool: string;
  readonly policy: string;
  readonly isApproved: boolean;
  /** Of Balanced pools. */
  readonly score?: BalancedScore | undefined;
}
