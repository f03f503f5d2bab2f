import { parseDurationMs } from "../../util/duration.ts";
import type { DisruptionReason } from "../vocabulary.ts";
import { type Budget, budgetAppliesTo, defaultBudgets, evaluateBudget } from "./budget.ts";
import { readSchedule } from "./cron.ts";
import { nextHit } from "./schedule.ts";

/** A budget that allows no further disruption now. */
export interface BindingBudget {
  /** Its position in the list. */
  readonly index: number;
  readonly budget: Budget;
  /** How many nodes it allows to be disrupted at a time. */
  readonly limit: number;
  /** When its window ends; without it the budget always holds. */
  readonly untilMs?: number | undefined;
  /** Why it cannot be evaluated. */
  readonly problem?: string | undefined;
}

export interface BudgetOutlook {
  readonly binding: readonly BindingBudget[];
  /** When budgets allow another disruption though nothing else changes; undefined: only a change makes them. */
  readonly opensAtMs?: number | undefined;
}

export interface BudgetOutlookQuery {
  readonly reason: DisruptionReason;
  readonly nodes: number;
  /** Nodes that are being disrupted or not ready. */
  readonly disrupting: number;
  readonly nowMs: number;
}

/** Windows that open later than this are as good as closed. */
const horizonMs = 366 * 24 * 60 * 60_000;
/** Windows that overlap form one; more than this many in a row count as one without an end. */
const maxOverlaps = 20_000;
const maxWindows = 1_000;

/** Which budgets hold a reason back now, and when their windows are over. (03:D-21, D-25) */
export function budgetOutlook(budgets: readonly Budget[] | undefined, query: BudgetOutlookQuery): BudgetOutlook {
  const { nowMs } = query;
  const all = budgets ?? defaultBudgets;
  const binding = bindingAt(all, query, nowMs);
  let holding = binding;
  let opensAtMs = nowMs;
  for (let windows = 0; holding.length > 0; windows++) {
    const ends = holding.map(({ untilMs }) => untilMs ?? Number.POSITIVE_INFINITY);
    opensAtMs = Math.max(...ends);
    if (opensAtMs > nowMs + horizonMs || windows === maxWindows) return { binding };
    holding = bindingAt(all, query, opensAtMs);
  }
  return { binding, opensAtMs };
}

function bindingAt(
  budgets: readonly Budget[],
  { reason, nodes, disrupting }: BudgetOutlookQuery,
  atMs: number,
): readonly BindingBudget[] {
  return budgets.flatMap((budget, index): readonly BindingBudget[] => {
    const { limit, problem } = evaluateBudget(budget, { nodes, nowMs: atMs, index });
    if (problem !== undefined) return [{ index, budget, limit, problem: problem.message }];
    if (!budgetAppliesTo(budget, reason) || limit > disrupting) return [];
    return [{ index, budget, limit, untilMs: windowEndMs(budget, atMs) }];
  });
}

/** When the window that is open now ends, with the windows that overlap it; undefined: never. */
function windowEndMs({ schedule, duration }: Budget, nowMs: number): number | undefined {
  const durationMs = parseDurationMs(duration ?? "");
  const reading = readSchedule(schedule ?? "");
  if (schedule === undefined || durationMs === undefined || reading.kind === "error") return undefined;
  let hit = nextHit(reading.schedule, { afterMs: nowMs - durationMs, untilMs: nowMs });
  for (let overlaps = 0; hit !== undefined && overlaps < maxOverlaps; overlaps++) {
    const endMs = hit + durationMs;
    // A window that opens just as this one ends goes on without a gap.
    const next = nextHit(reading.schedule, { afterMs: hit, untilMs: endMs });
    if (next === undefined) return endMs;
    hit = next;
  }
  return undefined;
}
