import type { DisruptionCommand } from "../../core/disruption/command.ts";
import { type DisruptionMethodName, disruptionMethods } from "../../core/disruption/methods.ts";
import { controllerSearch } from "../../core/disruption/next-commands.ts";
import { withReserved } from "../../core/disruption/reserve-commands.ts";
import type { DisruptionSimulator } from "../../core/disruption/simulator.ts";
import type { DisruptionSnapshot } from "../../core/disruption/snapshot.ts";
import {
  revalidateCandidates,
  type ValidationFailure,
  type ValidationOutcome,
  validateCommand,
} from "../../core/disruption/validation.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { runInSlices } from "../provisioning/run-in-slices.ts";
import { recordApproved, recordRejected } from "./disruption-events.ts";
import { currentSnapshot, type DisruptionState } from "./disruption-state.ts";
import { startCommand } from "./start-command.ts";

export interface DueCommandsOutcome {
  readonly hasStarted: boolean;
  /** The method of the last command that did not hold. */
  readonly failedMethod?: DisruptionMethodName | undefined;
}

/** Checks the commands that have waited long enough, one after the other, and starts those that still hold. (03 §4.11) */
export async function startDueCommands(state: DisruptionState, context: KarpenterContext): Promise<DueCommandsOutcome> {
  let hasStarted = false;
  let failedMethod: DisruptionMethodName | undefined;
  let basis: ValidationBasis | undefined;
  for (;;) {
    const due = state.waiting.takeDue(context.clock.now());
    if (due === undefined) return { hasStarted, failedMethod };
    basis = isUsable(basis, context) ? basis : await validationBasis(state, context);
    const outcome = await validate(due, { basis, state }, context);
    countFailures(due, outcome, context);
    if (outcome.kind === "invalid") {
      rejected(due, outcome.failure, context);
      failedMethod = due.method;
      continue;
    }
    await startCommand(outcome.command, state.commands, context);
    recordApproved(outcome.command, context);
    hasStarted = true;
    basis = await withStarted(basis, outcome.command, context);
  }
}

/** For how long commands that are due together are checked in one snapshot. */
const basisMs = 5_000;

/** The cluster that commands are checked in: those that have started are gone from it. */
interface ValidationBasis {
  readonly takenAtMs: number;
  readonly snapshot: DisruptionSnapshot;
  readonly simulator: DisruptionSimulator;
}

/**
 * Opening a simulation takes far longer than running it, and hundreds of commands may be due at once. Commands that still
 * wait were found on top of these: they must not take their room, or each would refuse the other for ever.
 */
async function validationBasis(state: DisruptionState, context: KarpenterContext): Promise<ValidationBasis> {
  const takenAtMs = context.clock.now();
  const snapshot = await currentSnapshot(state, [], context);
  return { takenAtMs, snapshot, simulator: controllerSearch(snapshot).simulator };
}

function isUsable(basis: ValidationBasis | undefined, { clock }: KarpenterContext): basis is ValidationBasis {
  return basis !== undefined && clock.now() - basis.takenAtMs < basisMs;
}

/** The next command is checked on top of this one; undefined where a new snapshot is needed for that. */
async function withStarted(
  basis: ValidationBasis,
  command: DisruptionCommand,
  { openBudget }: KarpenterContext,
): Promise<ValidationBasis | undefined> {
  const { snapshot, simulator } = basis;
  if (snapshot.mode !== "default" || simulator.keep === undefined) return undefined;
  const kept = await runInSlices(simulator.keep(command.candidates, { isConsolidation: true }), openBudget());
  return kept && { ...basis, snapshot: withReserved(snapshot, [command]) };
}

interface ValidationInput {
  readonly basis: ValidationBasis;
  readonly state: DisruptionState;
}

/**
 * The nodes are checked once more afterwards, because pods may have been bound to them meanwhile. Empty nodes need no
 * simulation, so they are checked once, as they are now. (03:D-29c, D-61 to D-64)
 */
async function validate(
  command: DisruptionCommand,
  { basis: { snapshot, simulator }, state }: ValidationInput,
  context: KarpenterContext,
): Promise<ValidationOutcome> {
  const isEmptiness = command.method === "emptiness";
  const first = isEmptiness ? await currentSnapshot(state, [], context) : snapshot;
  const outcome = await runInSlices(validateCommand(command, first, simulator), context.openBudget());
  if (isEmptiness || outcome.kind === "invalid") return outcome;
  const again = revalidateCandidates(command, await currentSnapshot(state, [], context));
  return "failure" in again ? { kind: "invalid", ...again } : outcome;
}

/** Emptiness counts each node it leaves out. (03:D-65) */
function countFailures(command: DisruptionCommand, outcome: ValidationOutcome, { metrics }: KarpenterContext): void {
  const { consolidationType: consolidation_type } = disruptionMethods[command.method];
  const failures = outcome.kind === "invalid" ? command.candidates.length : outcome.dropped.length;
  if (failures > 0) metrics.count("voluntary_disruption_failed_validations_total", { consolidation_type }, failures);
}

function rejected(command: DisruptionCommand, failure: ValidationFailure, context: KarpenterContext): void {
  if (command.method === "emptiness")
    context.log.debug("abandoning empty node consolidation attempt due to pod churn, command is no longer valid", {
      nodes: command.candidates.map(({ name }) => name),
    });
  else recordRejected(command, failure, context);
}
