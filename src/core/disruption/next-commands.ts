import type { Steps } from "../../util/steps.ts";
import type { DisruptionCommand } from "./command.ts";
import { DisruptionPass, type ProposeOptions } from "./disruption-pass.ts";
import { type DisruptionMethodName, disruptionMethodNames, disruptionMethods } from "./methods.ts";
import { withReserved } from "./reserve-commands.ts";
import { sharedSimulator } from "./shared-simulator.ts";
import type { SearchBudget } from "./simulator.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import { validateCommand, validationDelayMs } from "./validation.ts";

/**
 * How the controller searches. By default it looks for several commands at a time, and pending pods and those of nodes on
 * their way out are placed once, and not in every simulation: what they need is no reason against a command, and there may
 * be thousands of them.
 */
export function controllerSearch(snapshot: DisruptionSnapshot): Pick<ProposeOptions, "simulator" | "sweep"> {
  const isUpstream = snapshot.mode !== "default";
  return {
    simulator: sharedSimulator(snapshot, { placesOwnPodsFirst: !isUpstream }),
    sweep: isUpstream ? "first" : "several",
  };
}

/** Commands of one method. */
export interface NextCommands {
  readonly method: DisruptionMethodName;
  readonly commands: readonly DisruptionCommand[];
}

/**
 * What the controller does next in a cluster in which nothing moves: it asks the methods in turn until one has commands
 * that still hold 15 seconds later. Undefined if none has. (03:D-2, D-54, D-60)
 */
export function* nextCommands(
  snapshot: DisruptionSnapshot,
  searchBudget: SearchBudget,
): Steps<NextCommands | undefined> {
  const pass = new DisruptionPass(snapshot);
  const search = controllerSearch(snapshot);
  for (const method of disruptionMethodNames) {
    const { commands: found } = yield* pass.propose(method, { ...search, searchBudget });
    const commands = disruptionMethods[method].isValidated ? yield* stillValid(found, snapshot) : found;
    if (commands.length > 0) return { method, commands };
  }
  return undefined;
}

/** Those that hold later, each on top of those before it. */
function* stillValid(
  commands: readonly DisruptionCommand[],
  snapshot: DisruptionSnapshot,
): Steps<readonly DisruptionCommand[]> {
  const valid: DisruptionCommand[] = [];
  if (commands.length === 0) return valid;
  let later = { ...snapshot, nowMs: snapshot.nowMs + validationDelayMs };
  let { simulator } = controllerSearch(later);
  for (const [at, command] of commands.entries()) {
    const outcome = yield* validateCommand(command, later, simulator);
    if (outcome.kind === "invalid") continue;
    valid.push(outcome.command);
    if (at === commands.length - 1) break;
    const taking = simulator.keep && (yield* simulator.keep(command.candidates, { isConsolidation: true }));
    later = withReserved(later, [command]);
    if (taking === undefined) ({ simulator } = controllerSearch(later));
  }
  return valid;
}
