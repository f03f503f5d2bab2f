import { Command } from "commander";
import { exitCodes, type Io, withIo } from "./io.ts";
import type { Connect } from "./live-cluster.ts";
import { choiceOption, type PlanningOptions, planRequestOf, withPlanningOptions } from "./planning-options.ts";

const outputs = ["text", "json"] as const;

interface ExplainOptions extends PlanningOptions {
  readonly output: (typeof outputs)[number];
}

const podDetails = `
Says why a pending pod goes where it goes, or why it has no place: the cause, what each pool and each node says, what came
nearest, and the smallest changes that would give it a place. Every change that is printed has been applied to a copy of
the input and planned again.

Exit codes: 0 the pod has a place, 1 the input is bad or there is no such pod, 2 the command line is wrong, 3 the pod has
no place.

Examples:
  karpenter explain pod default/web-0 -f deployment.yaml -f nodepool.yaml
  karpenter explain pod web-0 -f karpenter-snapshot.json.gz -o json
  karpenter explain pod shop/cart-7d9f --context prod`;

const nodeDetails = `
Says what runs on a node, what the pending pods add to it, and why those that go elsewhere, or nowhere, do not fit.

Exit codes: 0 explained, 1 the input is bad or there is no such node, 2 the command line is wrong.

Examples:
  karpenter explain node node-a -f karpenter-snapshot.json.gz
  karpenter explain node ip-10-0-1-17 --context prod -o json`;

/** `karpenter explain pod|node`: why a pod has no place, and what would help. (docs/designs/commands.md) */
export function explainCommand(io: Io, { connect }: { readonly connect?: Connect } = {}): Command {
  const pod = withPlanningOptions(
    withIo(new Command("pod"), io)
      .summary("why a pod goes where it goes, or nowhere, and what would help")
      .description("Explain the place of a pending pod, over the same input as `plan`.")
      .argument("<namespace/name>", "the pod; without a namespace it is in default"),
  )
    .addOption(choiceOption("-o, --output <format>", "what to print", outputs))
    .addHelpText("after", podDetails)
    .action(async (name: string, options: ExplainOptions, self: Command) => {
      const request = planRequestOf(options, { connect, self });
      const { runExplainPod } = await import("./explain/run-explain.ts");
      await runExplainPod(name, { request, output: options.output, io });
    });
  const node = withPlanningOptions(
    withIo(new Command("node"), io)
      .summary("what a node holds, and why pending pods do not fit on it")
      .description("Explain what is and is not placed on a node, over the same input as `plan`.")
      .argument("<name>", "the node"),
  )
    .addOption(choiceOption("-o, --output <format>", "what to print", outputs))
    .addHelpText("after", nodeDetails)
    .action(async (name: string, options: ExplainOptions, self: Command) => {
      const request = planRequestOf(options, { connect, self });
      const { runExplainNode } = await import("./explain/run-explain.ts");
      await runExplainNode(name, { request, output: options.output, io });
    });
  return withIo(new Command("explain"), io)
    .summary("say why a pod has no place, and the smallest change that gives it one")
    .description("Explain placements: the cause, the nearest miss, and changes that were checked by planning again.")
    .addCommand(pod)
    .addCommand(node)
    .action((_: unknown, self: Command) => {
      self.error("error: explain what? `explain pod NAMESPACE/NAME` or `explain node NAME`", {
        exitCode: exitCodes.usage,
      });
    });
}
