import { Command, InvalidArgumentError, Option } from "commander";
import { conformance, type RunOptions } from "./conformance.ts";
import { controllerNames } from "./controller.ts";

const positive = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("expected a whole number from 1 on");
  return value;
};

const command = new Command("conformance")
  .description("Run upstream's own end-to-end specs, unmodified, against a controller on a real control plane.")
  .argument("[regex]", 'only specs whose "SUITE: NAME" matches', ".")
  .addOption(
    new Option("--controller <name>", "whose controller is tested").choices(controllerNames).default("karpenter-ts"),
  )
  .option("--times <count>", "run each spec so many times, all of which must pass", positive, 1)
  .option("--fresh <count>", "a new cluster after so many specs, and after each that fails", positive, 25)
  .option(
    "--timeout <seconds>",
    "limit for each spec (default: four times what upstream takes, and two minutes)",
    positive,
  )
  .option("--results <file>", "append each result to this file, as a line of JSON")
  .option("--import <file>", "put the results of earlier runs (--results) into docs/conformance.md, and run none")
  .option("--ci", "only the selection that CI runs")
  .option("--list", "print the specs and run none")
  .option("--write", "put the results into docs/conformance.md")
  .action(async (regex: string, given: Omit<RunOptions, "matching">) => {
    process.exitCode = await conformance({ ...given, matching: new RegExp(regex) });
  });

await command.parseAsync();
