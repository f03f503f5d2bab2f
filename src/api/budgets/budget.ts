import { hoursForDays, parseDurationMs } from "../../util/duration.ts";
import type { FieldPath, Problem } from "../problem.ts";
import { type DisruptionReason, defaultBudgetNodes } from "../vocabulary.ts";
import { readSchedule } from "./cron.ts";
import { nextHit } from "./schedule.ts";

/** One item of `spec.disruption.budgets`. (01 §1.2) */
export interface Budget {
  /** A count or a percentage, always text; filled with the default when absent. */
  readonly nodes?: string | undefined;
  readonly schedule?: string | undefined;
  readonly duration?: string | undefined;
  readonly reasons?: readonly string[] | undefined;
}

/** "No limit" in statuses and metrics: the largest 32-bit integer. */
export const unlimitedDisruptions = 2_147_483_647;

/** Those of a pool without any. */
export const defaultBudgets: readonly Budget[] = [{ nodes: defaultBudgetNodes }];

export interface DisruptionAllowance {
  /** How many nodes may be disrupted for the reason, before those already disrupting are taken off. */
  readonly allowed: number;
  /** Budgets that cannot be evaluated. Any makes `allowed` 0, whatever reason they are for. (03:D-23) */
  readonly problems: readonly Problem[];
  /** Warnings about budgets that have no effect. */
  readonly notices: readonly Problem[];
}

interface AllowanceQuery {
  readonly reason: DisruptionReason;
  /** Initialized nodes of the pool whose instance is not terminating. (03:D-20) */
  readonly nodes: number;
  readonly nowMs: number;
}

/** The minimum over the budgets that apply to the reason. Absent budgets mean one of 10 %; an empty list means no limit. */
export function allowedDisruptions(
  budgets: readonly Budget[] | undefined,
  { reason, nodes, nowMs }: AllowanceQuery,
): DisruptionAllowance {
  const evaluated = (budgets ?? defaultBudgets).map((budget, index) => ({
    budget,
    ...evaluateBudget(budget, { nodes, nowMs, index }),
  }));
  const problems = evaluated.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  const limits = evaluated.filter(({ budget }) => budgetAppliesTo(budget, reason)).map(({ limit }) => limit);
  return {
    allowed: problems.length > 0 ? 0 : Math.min(unlimitedDisruptions, ...limits),
    problems,
    notices: (budgets ?? []).flatMap(emptyReasonsNotice),
  };
}

/** What is left once nodes that are NotReady or marked for deletion have consumed their share. (03:D-24) */
export function availableDisruptions(allowed: number, disrupting: number): number {
  return Math.max(0, allowed - disrupting);
}

export type BudgetActivity =
  | { readonly kind: "active" | "inactive" }
  | { readonly kind: "error"; readonly message: string };

/** Whether now lies in [hit, hit + duration) of some hit. Windows that overlap extend each other. (03:D-25) */
export function budgetActivity({ schedule, duration }: Budget, nowMs: number): BudgetActivity {
  if (schedule === undefined && duration === undefined) return { kind: "active" };
  if (schedule === undefined || duration === undefined) {
    return {
      kind: "error",
      message: "schedule and duration must be given together; add the missing one or remove both",
    };
  }
  const durationMs = parseDurationMs(duration);
  if (durationMs === undefined)
    return { kind: "error", message: `duration ${JSON.stringify(duration)} is not ${durationText(duration)}` };
  const reading = readSchedule(schedule);
  if (reading.kind === "error")
    return { kind: "error", message: `schedule ${JSON.stringify(schedule)}: ${reading.message}` };
  const hit = nextHit(reading.schedule, { afterMs: nowMs - durationMs, untilMs: nowMs });
  return { kind: hit === undefined ? "inactive" : "active" };
}

function durationText(written: string): string {
  const hours = hoursForDays(written);
  return `a duration such as 8h or 1h30m${hours === undefined ? "" : `; for ${written} write ${hours}`}`;
}

/** Whether a budget limits disruption for the reason. (03:D-21) */
export function budgetAppliesTo({ reasons }: Budget, reason: DisruptionReason): boolean {
  return reasons === undefined || reasons.includes(reason);
}

/** How many nodes one budget allows now, and what is wrong with it. (03:D-22, D-23) */
export function evaluateBudget(
  budget: Budget,
  { nodes, nowMs, index }: { nodes: number; nowMs: number; index: number },
): { readonly limit: number; readonly problem: Problem | undefined } {
  const active = budgetActivity(budget, nowMs);
  if (active.kind === "error") return { limit: 0, problem: budgetProblem([index], active.message) };
  const limit = nodeLimit(budget.nodes ?? defaultBudgetNodes, nodes);
  if (limit === undefined) {
    return {
      limit: 0,
      problem: budgetProblem(
        [index, "nodes"],
        `${JSON.stringify(budget.nodes)} is neither a count like "5" nor a percentage from 0% to 100%`,
      ),
    };
  }
  return { limit: active.kind === "active" ? limit : unlimitedDisruptions, problem: undefined };
}

// Rounded up: 10% of one node must not mean that it can never be replaced. (03:D-22)
function nodeLimit(text: string, nodes: number): number | undefined {
  const match = /^(?:(100|\d{1,2})(%)|(\d+))$/.exec(text);
  if (match === null) return undefined;
  const [, percent, , count] = match;
  return percent === undefined
    ? Math.min(unlimitedDisruptions, Number(count))
    : Math.ceil((Number(percent) * nodes) / 100);
}

function budgetProblem(path: FieldPath, message: string): Problem {
  return {
    code: "invalid-value",
    path: [...budgetsPath, ...path],
    message: `${message}; until it is fixed no node of this pool is disrupted voluntarily`,
    rule: "03:D-23",
  };
}

function emptyReasonsNotice({ reasons }: Budget, index: number): readonly Problem[] {
  if (reasons === undefined || reasons.length > 0) return [];
  const message =
    "an empty list stands for no reason at all, so this budget limits nothing; remove the field to cover every reason";
  return [{ code: "value-count", path: [...budgetsPath, index, "reasons"], message, rule: "03:D-21" }];
}

const budgetsPath: FieldPath = ["spec", "disruption", "budgets"];
