import type { Command, Option } from "commander";
import { explainedKind } from "../explain/explain-target.ts";
import type { WantedObjects } from "./object-names.ts";

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
  /** Names that are looked up in a cluster; they follow on the part of the word before them. */
  readonly objects?: WantedObjects & { readonly after: string };
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
  /** Arguments before the word, without the names of commands. */
  readonly args: readonly string[];
  /** Values of options that take one, by their long name. */
  readonly given: ReadonlyMap<string, string>;
}

function readLine(program: Command, words: readonly string[]): CommandLine {
  // bash takes `--option=value` for three words.
  const joined = words.filter((word, index) => word !== "=" || index === words.length - 1);
  const last = joined.at(-1) ?? "";
  let command = program;
  let pending: Option | undefined;
  const args: string[] = [];
  const given = new Map<string, string>();
  for (const word of joined.slice(0, -1)) {
    const [flag = "", inline] = splitFlag(word);
    if (pending !== undefined) {
      given.set(pending.long ?? "", word);
      pending = undefined;
    } else if (flag.startsWith("-")) {
      const option = optionOf(command, flag);
      if (inline !== undefined) given.set(option?.long ?? "", inline);
      pending = option?.required === true && inline === undefined ? option : undefined;
    } else {
      const next = args.length === 0 ? command.commands.find((one) => namesOf(one).includes(word)) : undefined;
      if (next === undefined) args.push(word);
      else command = next;
    }
  }
  const [flag = "", inline] = splitFlag(last);
  const shared = { command, args, given };
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
function wordsOf(line: CommandLine): Completion {
  const { command, current, args } = line;
  const help = command.createHelp();
  if (current.startsWith("-")) {
    const candidates = help
      .visibleOptions(command)
      .flatMap(({ long, short, description }) => [long, short].map((value) => ({ value: value ?? "", description })));
    const isLong = current.startsWith("--");
    return { candidates: candidates.filter(({ value }) => value !== "" && (!isLong || value.startsWith("--"))) };
  }
  const commands = args.length > 0 ? [] : help.visibleCommands(command);
  const argument = command.registeredArguments[args.length] ?? command.registeredArguments.find((one) => one.variadic);
  const objects = explainedObjects(line);
  return {
    ...(objects && { objects }),
    candidates: [
      ...commands.map((one) => ({ value: one.name(), description: one.summary() || one.description() })),
      ...(argument?.argChoices ?? []).map((value) => ({ value, description: "" })),
    ],
  };
}

/** `explain pod NAME`, `explain pod NAMESPACE/NAME`, `explain node NAME`, `explain KIND/NAME`, `explain KIND NAME`. */
function explainedObjects(line: CommandLine): Completion["objects"] {
  const { command, current, args, given } = line;
  if (["--filename", "--kustomize"].some((option) => given.has(option))) return undefined; // it is about files
  const path = [command.parent?.name(), command.name()].join(" ");
  const slash = current.indexOf("/") + 1;
  const [before, after] = [current.slice(0, Math.max(slash - 1, 0)), current.slice(0, slash)];
  if (path === "explain node" && args.length === 0 && slash === 0) return inCluster(line, "Node");
  if (path === "explain pod" && args.length === 0) {
    return inCluster(line, "Pod", { after, ...(slash > 0 && { namespace: before }) });
  }
  if (command.name() !== "explain") return undefined;
  const [kind] = args;
  if (args.length === 1 && kind !== undefined && slash === 0) return inCluster(line, explainedKind(kind));
  return args.length === 0 && slash > 0 ? inCluster(line, explainedKind(before), { after }) : undefined;
}

function inCluster(
  { given }: CommandLine,
  kind: string,
  { after = "", namespace = given.get("--namespace") }: { readonly after?: string; readonly namespace?: string } = {},
): NonNullable<Completion["objects"]> {
  const cluster = { kubeconfig: given.get("--kubeconfig"), context: given.get("--context") };
  return { kind, cluster, namespace, after };
}

function valuesOf(option: Option, line: CommandLine): Completion {
  const [, placeholder = ""] = /[<[]([^>\]]+)[>\]]/.exec(option.flags) ?? [];
  const choices = option.argChoices ?? (placeholder.includes("|") ? placeholder.split("|") : undefined);
  if (choices !== undefined) return { candidates: choices.map((value) => ({ value, description: "" })) };
  if (option.long === "--context") return { candidates: [], contexts: { kubeconfig: line.given.get("--kubeconfig") } };
  const isOfCluster = line.command.options.some(({ long }) => long === "--context");
  if (option.long === "--namespace" && isOfCluster) {
    return { candidates: [], objects: { ...inCluster(line, "Namespace"), after: line.prefix } };
  }
  if (placeholder === "boolean") return { candidates: ["true", "false"].map((value) => ({ value, description: "" })) };
  if (placeholder === "path" || placeholder === "file") return { candidates: [], paths: "files" };
  return placeholder === "folder" ? { candidates: [], paths: "folders" } : nothing;
}
