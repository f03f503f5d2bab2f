import { Command, Option } from "commander";
import type { RequirementItem } from "../api/kubernetes/pod.ts";
import { choiceOption, pricesOption, withFileOptions } from "./common-options.ts";
import type { InstanceTypesOutput } from "./instance-types/render-instance-types.ts";
import { parseRequirementText } from "./instance-types/requirement-text.ts";
import { exitCodes, type Io, withIo } from "./io.ts";
import { type PlanProvider, planProviders } from "./plan/plan-choices.ts";

interface InstanceTypesOptions {
  readonly provider: PlanProvider;
  readonly region?: string;
  readonly prices?: readonly string[];
  readonly instanceTypes?: string;
  readonly filename?: readonly string[];
  readonly recursive?: boolean;
  readonly requirement?: readonly RequirementItem[];
  readonly all?: boolean;
  readonly output: InstanceTypesOutput;
}

const details = `
The list is made without network, from the types and prices that come with this program, as "plan" uses them. Cpu,
memory and pods are what is left for pods; an EC2NodeClass given with -f changes them by its kubelet settings, volumes,
network interfaces and zones. Prices are the lowest of the zones listed.

A requirement is one of key=a, key!=a, key in (a,b), key notin (a,b), key, !key, key>4, key<8; all must hold. Keys of
well-known labels may be given without their domain: zone, arch, capacity-type, instance-cpu, instance-gpu-name.

Exit codes: 0 printed, 1 the input is invalid, 2 the command line is wrong.

Examples:
  karpenter instance-types --region us-east-1 -l 'instance-cpu>7' -l 'instance-cpu<17' -l arch=arm64
  karpenter instance-types --region us-east-1 -l 'instance-family in (m7g,m8g)' -o wide
  karpenter instance-types -f nodeclass.yaml --region eu-west-1 -l instance-gpu-count -o json
  karpenter instance-types --provider kwok -o name`;

/** `karpenter instance-types`: what a provider can launch, with allocatable resources, zones and prices. (04 §2) */
export function instanceTypesCommand(io: Io): Command {
  const command = withIo(new Command("instance-types"), io)
    .summary("list instance types with allocatable resources, zones and prices")
    .description("List the instance types of a provider: what pods can use of them, where, and for how much.");
  return withFileOptions(command, { description: "file or directory with a node class, or - for standard input" })
    .addOption(new Option("--provider <name>", "cloud provider").choices(planProviders).default("aws"))
    .option("--region <name>", "region whose EC2 types and prices are listed; needed unless the node class names it")
    .addOption(pricesOption())
    .option("--instance-types <what>", "kwok, fake:N, or a file in the KWOK format (default: the provider's)")
    .addOption(
      new Option("-l, --requirement <requirement>", "only types that fit; may be repeated").argParser(
        (text: string, before: readonly RequirementItem[] = []) => [...before, parseRequirementText(text)],
      ),
    )
    .option("--all", "also list types that are not available")
    .addOption(choiceOption("-o, --output <format>", "what to print", ["table", "wide", "json", "yaml", "name"]))
    .addHelpText("after", details)
    .action(async (options: InstanceTypesOptions, self: Command) => {
      const { runInstanceTypes } = await import("./instance-types/run-instance-types.ts");
      const problem = await runInstanceTypes(
        {
          ...options,
          paths: options.filename ?? [],
          recursive: options.recursive === true,
          requirements: options.requirement ?? [],
          includesUnavailable: options.all === true,
        },
        io,
      );
      if (problem !== undefined) self.error(`error: ${problem}`, { exitCode: exitCodes.usage });
    });
}
