import { type Command, InvalidArgumentError, Option } from "commander";

/** `-f` and `-R`, as kubectl has them. */
export function withFileOptions(
  command: Command,
  { description, isRequired = false }: { description: string; isRequired?: boolean },
): Command {
  return command
    .addOption(
      new Option("-f, --filename <path>", description).argParser(collectValues).makeOptionMandatory(isRequired),
    )
    .option("-R, --recursive", "process directories recursively");
}

/** The parser of an option that may be repeated. */
export function collectValues(value: string, values: readonly string[] = []): readonly string[] {
  return [...values, value];
}

/** `--prices`, of all commands that show prices. */
export function pricesOption(): Option {
  const description = "your own prices: YAML, JSON, CSV, or what the aws CLI prints; may be repeated";
  return new Option("--prices <file>", description).argParser(collectValues);
}

/** The parser of an option that takes a whole number from 0 to `max`. */
export function wholeNumberUpTo(max: number, { from = 0 }: { readonly from?: number } = {}): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number > max || number < from) {
      throw new InvalidArgumentError(`Expected a whole number from ${from} to ${max}.`);
    }
    return number;
  };
}

/** An option with a closed set of values; the first is the default. */
export function choiceOption(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values).default(values[0]);
}
