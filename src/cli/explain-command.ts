import { Command, InvalidArgumentError, Option } from "commander";
import { choiceOption } from "./common-options.ts";
import { exitCodes, type Io, withIo } from "./io.ts";
import type { Connect } from "./live-cluster.ts";
import { type PlanningOptions, planRequestOf, withPlanningOptions } from "./planning-options.ts";

const outputs = ["text", "json"] as const;

interface ExplainOptions extends PlanningOptions {
  readonly output: (typeof outputs)[number];
  readonly spotToSpot?: boolean;
  readonly controller?: string;
  readonly tokenFile?: string;
}

type RunExplain = typeof import("./explain/run-explain.ts");

const podDetails = `
Explains where a pending pod is scheduled, or why it cannot be: the cause, the reasons of each NodePool and node, the
nearest miss, and the smallest changes that would make it schedulable. Every suggested change was verified by planning
again on a copy of the input.

Exit codes: 0 the pod can be scheduled, 1 the input is invalid or the pod does not exist, 2 the command line is wrong, 3
the pod cannot be scheduled.

Examples:
  karpenter explain pod default/web-0 -f deployment.yaml -f nodepool.yaml
  karpenter explain pod web-0 -f karpenter-snapshot.json.gz -o json
  karpenter explain pod shop/cart-7d9f --context prod`;

const nodeDetails = `
Explains why a node stays or would be disrupted: everything that blocks it (a PodDisruptionBudget, a protected pod, a
budget and when its window ends, consolidateAfter and how long it lasts, prices), what would unblock it, and what would
happen then, by simulation. Also shows what runs on the node, which pending pods would be scheduled to it, and why the
others do not fit. NAME may be that of its NodeClaim.

A live cluster's running controller is asked (GET /explain/node/NAME on its metrics port), which also knows its commands and
its last search. The token must be allowed to get the non-resource URL /explain/*. If the controller does not answer, the
explanation is computed from the objects of the cluster, and a note says why.

Exit codes: 0 explained, 1 the input is invalid or the node does not exist, 2 the command line is wrong.

Examples:
  karpenter explain node node-a -f karpenter-snapshot.json.gz
  karpenter explain node ip-10-0-1-17 --context prod -o json
  kubectl port-forward -n kube-system deployment/karpenter 8080 &
  karpenter explain node ip-10-0-1-17 --context prod --controller http://127.0.0.1:8080`;

/** `karpenter explain pod|node`: why a pod cannot be scheduled or a node stays, and what would help. (docs/designs/commands.md) */
export function explainCommand(io: Io, { connect }: { readonly connect?: Connect } = {}): Command {
  const explaining = (command: Command, details: string, run: (modules: RunExplain) => RunExplain["runExplainPod"]) =>
    withPlanningOptions(command)
      .addOption(choiceOption("-o, --output <format>", "what to print", outputs))
      .addOption(
        new Option("--controller <url>", "of a live cluster: where the controller's metrics port is").argParser(
          parseUrl,
        ),
      )
      .option("--token-file <path>", "token for the controller (default: that of the kubeconfig)")
      .addHelpText("after", details)
      .action(async (name: string, options: ExplainOptions, self: Command) => {
        const request = planRequestOf(options, { connect, self });
        const { output, spotToSpot = false, controller, tokenFile } = options;
        await run(await import("./explain/run-explain.ts"))(name, {
          ...{ request, output, io, spotToSpot, controller, tokenFile },
        });
      });
  const pod = withIo(new Command("pod"), io)
    .summary("explain where a pod is scheduled or why it cannot be, and what would help")
    .description("Explain the scheduling of a pending pod, from the same input as `plan`.")
    .argument("<namespace/name>", "the pod; the namespace defaults to default");
  const node = withIo(new Command("node"), io)
    .summary("explain why a node stays or would be disrupted, and what would unblock it")
    .description("Explain why a node stays or goes, and what is scheduled to it, from the same input as `plan`.")
    .argument("<name>", "the node, or its NodeClaim")
    .option("--spot-to-spot", "the feature gate SpotToSpotConsolidation");
  return withIo(new Command("explain"), io)
    .summary("explain why a pod cannot be scheduled or a node is kept, and what would change it")
    .description(
      "Explain decisions: why a pod is pending and what would help, why a node stays and what would unblock it.",
    )
    .addCommand(explaining(pod, podDetails, ({ runExplainPod }) => runExplainPod))
    .addCommand(explaining(node, nodeDetails, ({ runExplainNode }) => runExplainNode))
    .action((_: unknown, self: Command) => {
      const usage = "`karpenter explain pod NAMESPACE/NAME` or `karpenter explain node NAME`";
      self.error(`error: name what to explain: ${usage}`, { exitCode: exitCodes.usage });
    });
}

function parseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text)) {
    throw new InvalidArgumentError("Expected a URL such as http://127.0.0.1:8080.");
  }
  return text;
}
