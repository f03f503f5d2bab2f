import type { Command, Option } from "commander";

interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** What a shell can offer for the word that is being typed. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  /** Names the shell completes itself. */
  readonly paths?: "files" | "folders";
  /** Names that are looked up: the contexts of a kubeconfig, of this file if one was named. */
  readonly contexts?: { readonly kubeconfig: string | undefined };
}

const nothing: Completion = { candidates: [] };

/** What can follow on a command line of which the last word is not complete yet, and may be empty. */
export function complete(program: Command, words: readonly string[]): Completion {
  const line = readLine(program, words);
  const { current, valueFor, prefix } = line;
  const found = valueFor === undefined ? wordsOf(line) : valuesOf(valueFor, line);
  const matching = found.candidates.filter(({ value }) => value.startsWith(current));
  return {
    ...found,
    candidates: matching.map((one) => ({ ...one, value: `${prefix}${one.value}` })),
  };
}

interface CommandLine {
  readonly command: Command;
  /** The word being typed, without an option it belongs to. */
  readonly current: string;
  /** The option whose value is being typed. */
  readonly valueFor: Option | undefined;
  /** `--option=` where it is part of the word. */
  readonly prefix: string;
  readonly argumentCount: number;
  readonly kubeconfig: string | undefined;
}

function readLine(program: Command, words: readonly string[]): CommandLine {
  // bash takes `--option=value` for three words.
  const joined = words.filter((word, index) => word !== "=" || index === words.length - 1);
  const last = joined.at(-1) ?? "";
  let command = program;
  let pending: Option | undefined;
  let argumentCount = 0;
  let kubeconfig: string | undefined;
  for (const word of joined.slice(0, -1)) {
    const [flag = "", inline] = splitFlag(word);
    if (pending !== undefined) {
      if (pending.long === "--kubeconfig") kubeconfig = word;
      pending = undefined;
    } else if (flag.startsWith("-")) {
      const option = optionOf(command, flag);
      if (option?.long === "--kubeconfig") kubeconfig = inline ?? kubeconfig;
      pending = option?.required === true && inline === undefined ? option : undefined;
    } else {
      const next = argumentCount === 0 ? command.commands.find((one) => namesOf(one).includes(word)) : undefined;
      if (next === undefined) argumentCount++;
      else command = next;
    }
  }
  const [flag = "", inline] = splitFlag(last);
  const shared = { command, argumentCount, kubeconfig };
  if (pending !== undefined) return { ...shared, current: last === "=" ? "" : last, valueFor: pending, prefix: "" };
  const option = inline === undefined ? undefined : optionOf(command, flag);
  if (inline === undefined || option === undefined)
    return { ...shared, current: last, valueFor: undefined, prefix: "" };
  return { ...shared, current: inline, valueFor: option, prefix: `${flag}=` };
}

function splitFlag(word: string): readonly [string, string?] {
  const at = word.startsWith("--") ? word.indexOf("=") : -1;
  return at === -1 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

function optionOf(command: Command, flag: string): Option | undefined {
  return command.options.find(({ long, short }) => long === flag || short === flag);
}

function namesOf(command: Command): readonly string[] {
  return [command.name(), ...command.aliases()];
}

/** Options after a dash; else subcommands and the values of arguments. */
function wordsOf({ command, current, argumentCount }: CommandLine): Completion {
  const help = command.createHelp();
  if (current.startsWith("-")) {
    const candidates = help
      .visibleOptions(command)
      .flatMap(({ long, short, description }) => [long, short].map((value) => ({ value: value ?? "", description })));
    const isLong = current.startsWith("--");
    return { candidates: candidates.filter(({ value }) => value !== "" && (!isLong || value.startsWith("--"))) };
  }
  const commands = argumentCount > 0 ? [] : help.visibleCommands(command);
  const argument =
    command.registeredArguments[argumentCount] ?? command.registeredArguments.find((one) => one.variadic);
  return {
    candidates: [
      ...commands.map((one) => ({ value: one.name(), description: one.summary() || one.description() })),
      ...(argument?.argChoices ?? []).map((value) => ({ value, description: "" })),
    ],
  };
}

function valuesOf(option: Option, { kubeconfig }: CommandLine): Completion {
  const [, placeholder = ""] = /[<[]([^>\]]+)[>\]]/.exec(option.flags) ?? [];
  const choices = option.argChoices ?? (placeholder.includes("|") ? placeholder.split("|") : undefined);
  if (choices !== undefined) return { candidates: choices.map((value) => ({ value, description: "" })) };
  if (option.long === "--context") return { candidates: [], contexts: { kubeconfig } };
  if (placeholder === "boolean") return { candidates: ["true", "false"].map((value) => ({ value, description: "" })) };
  if (placeholder === "path" || placeholder === "file") return { candidates: [], paths: "files" };
  return placeholder === "folder" ? { candidates: [], paths: "folders" } : nothing;
}
