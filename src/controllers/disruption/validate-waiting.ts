import type { DisruptionCommand } from "../../core/disruption/command.ts";
import { type DisruptionMethodName, disruptionMethods } from "../../core/disruption/methods.ts";
import {
  revalidateCandidates,
  type ValidationFailure,
  type ValidationOutcome,
  validateCommand,
} from "../../core/disruption/validation.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { runInSlices } from "../provisioning/run-in-slices.ts";
import { recordApproved, recordRejected } from "./disruption-events.ts";
import { currentSnapshot, type DisruptionState, simulatorFor } from "./disruption-state.ts";
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
  for (;;) {
    const due = state.waiting.takeDue(context.clock.now());
    if (due === undefined) return { hasStarted, failedMethod };
    const outcome = await validate(due, state, context);
    countFailures(due, outcome, context);
    if (outcome.kind === "invalid") {
      rejected(due, outcome.failure, context);
      failedMethod = due.method;
      continue;
    }
    await startCommand(outcome.command, state.commands, context);
    recordApproved(outcome.command, context);
    hasStarted = true;
  }
}

/**
 * Checked with a pass of its own, and the nodes once more afterwards, because pods may have been bound to them meanwhile. (03:D-61 to D-64)
 * Commands that still wait were found on top of this one: they must not take its room, or each would refuse the other for ever.
 */
async function validate(
  command: DisruptionCommand,
  state: DisruptionState,
  context: KarpenterContext,
): Promise<ValidationOutcome> {
  const snapshot = await currentSnapshot(state, [], context);
  const outcome = await runInSlices(validateCommand(command, snapshot, simulatorFor(snapshot)), context.openBudget());
  if (outcome.kind === "invalid" || command.method === "emptiness") return outcome;
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
