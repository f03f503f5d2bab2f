import { type Argument, type Command, InvalidArgumentError, type Option } from "commander";
import { closestMatch, didYouMean } from "../api/manifest/closest-match.ts";
import { exitCodes } from "./io.ts";

/**
 * Makes a command and all below it say what was probably meant, where commander itself does not: an unknown command of a
 * group that does something when called alone, an unknown value of an option, a file without its -f.
 */
export function withSuggestions(command: Command): Command {
  for (const one of [...command.options, ...command.registeredArguments]) suggestChoice(one);
  if (command.registeredArguments.length === 0) suggestInsteadOfArgument(command);
  for (const one of command.commands) withSuggestions(one);
  return command;
}

function suggestChoice(one: Option | Argument): void {
  const { argChoices, parseArg } = one;
  if (argChoices === undefined || parseArg === undefined) return;
  one.argParser((value: string, previous: unknown) => {
    if (argChoices.includes(value)) return parseArg(value, previous);
    const near = closestMatch(value, argChoices);
    const hint = near === undefined ? "" : ` Did you mean ${near}?`;
    throw new InvalidArgumentError(`Allowed choices are ${argChoices.join(", ")}.${hint}`);
  });
}

function suggestInsteadOfArgument(command: Command): void {
  command.allowExcessArguments().hook("preAction", (_, acting) => {
    const [first, ...more] = command.args;
    if (acting !== command || first === undefined) return;
    command.error(`error: ${unexpectedArgument(command, { first, more })}`, { exitCode: exitCodes.usage });
  });
}

function unexpectedArgument(
  command: Command,
  { first, more }: { readonly first: string; readonly more: readonly string[] },
): string {
  const path = pathOf(command);
  if (command.commands.length > 0) {
    const names = command.commands.map((one) => one.name());
    return `unknown command '${first}'${didYouMean(first, names)}; ${path} --help lists the commands`;
  }
  const takesFiles = command.options.some(({ long }) => long === "--filename");
  const meant = takesFiles ? `; did you mean ${[first, ...more].map((one) => `-f ${one}`).join(" ")}?` : "";
  return `unexpected argument '${first}': ${path} takes none${meant}`;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
