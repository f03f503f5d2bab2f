import type { Steps } from "../../util/steps.ts";
import type { DisruptionCommand } from "./command.ts";
import { DisruptionPass, type MethodProposal, type ProposeOptions } from "./disruption-pass.ts";
import { type DisruptionMethodName, disruptionMethodNames, disruptionMethods } from "./methods.ts";
import type { DisruptionSimulator } from "./simulator.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import { type ValidationFailure, validateCommand, validationDelayMs } from "./validation.ts";

/** What each method would do about a cluster in which nothing moves. */
export interface DisruptionProposal {
  /** The first method that commands something. (03:D-2) */
  readonly acts: DisruptionMethodName | undefined;
  readonly methods: readonly ValidatedProposal[];
}

export interface ValidatedProposal extends MethodProposal {
  /** Commands that would not hold when they are checked again. */
  readonly invalid: readonly { readonly command: DisruptionCommand; readonly failure: ValidationFailure }[];
}

export interface ProposalOptions extends Omit<ProposeOptions, "simulator" | "resume"> {
  readonly simulatorFor: (snapshot: DisruptionSnapshot) => DisruptionSimulator;
}

/** Asks every method, each about the same cluster, and checks their commands as the controller would. (03:D-60) */
export function* proposeDisruption(
  snapshot: DisruptionSnapshot,
  { simulatorFor, ...options }: ProposalOptions,
): Steps<DisruptionProposal> {
  const pass = new DisruptionPass(snapshot);
  const simulator = simulatorFor(snapshot);
  const later = { ...snapshot, nowMs: snapshot.nowMs + validationDelayMs };
  const methods: ValidatedProposal[] = [];
  for (const method of disruptionMethodNames) {
    const proposal = yield* pass.propose(method, { ...options, simulator });
    methods.push(yield* validated(proposal, { later, simulatorFor }));
  }
  return { acts: methods.find(({ commands }) => commands.length > 0)?.method, methods };
}

interface LaterValidation extends Pick<ProposalOptions, "simulatorFor"> {
  readonly later: DisruptionSnapshot;
}

function* validated(proposal: MethodProposal, { later, simulatorFor }: LaterValidation): Steps<ValidatedProposal> {
  if (!disruptionMethods[proposal.method].isValidated) return { ...proposal, invalid: [] };
  const commands: DisruptionCommand[] = [];
  const invalid: { command: DisruptionCommand; failure: ValidationFailure }[] = [];
  for (const command of proposal.commands) {
    const simulator = simulatorFor(later);
    simulator.expect?.(command.candidates);
    const outcome = yield* validateCommand(command, later, simulator);
    if (outcome.kind === "valid") commands.push(outcome.command);
    else invalid.push({ command, failure: outcome.failure });
  }
  return { ...proposal, commands, invalid };
}
