import { Command, InvalidArgumentError, Option } from "commander";
import { choiceOption } from "./common-options.ts";
import { explainedKind } from "./explain/explain-target.ts";
import { exitCodes, type Io, withIo } from "./io.ts";
import type { Connect } from "./live-cluster.ts";
import { type PlanningOptions, planRequestOf, withPlanningOptions } from "./planning-options.ts";

const outputs = ["text", "json"] as const;

interface ExplainOptions extends PlanningOptions {
  readonly output: (typeof outputs)[number];
  readonly spotToSpot?: boolean;
  readonly multiReplacement?: boolean;
  readonly controller?: string;
  readonly tokenFile?: string;
  readonly namespace?: string;
}

const podDetails = `
Explains where a pending pod is scheduled, or why it cannot be: the cause, the reasons of each NodePool and node, and what
to do about it. Each suggestion is a command to run, on the object you own (the Deployment, not its ReplicaSet), and was
checked by planning again with the change.

NAME may be the beginning of a pod's name: then a pending pod of that name is explained. Without -f, --kubeconfig or
--context, the cluster of the current context is asked.

Exit codes: 0 the pod can be scheduled, 1 the input is invalid or the pod does not exist, 2 the command line is wrong, 3
the pod cannot be scheduled.

Examples:
  karpenter explain pod cart-7d9f -n shop
  karpenter explain pod default/web-0 -f deployment.yaml -f nodepool.yaml
  karpenter explain pod web-0 -f karpenter-snapshot.json.gz -o json`;

const ownerDetails = `
Explains a pod (pod/NAME, or pod NAME), a pending pod of something that makes pods (deployment/NAME, statefulset/NAME,
job/NAME, rs/NAME, or any other owner), or a node (node/NAME).

Examples:
  karpenter explain pod cart-7d9f -n shop
  karpenter explain deployment/cart -n shop
  karpenter explain statefulset/db -f database.yaml -f nodepool.yaml
  karpenter explain node ip-10-0-1-17`;

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

/** `karpenter explain`: why a pod cannot be scheduled or a node stays, and what would help. (docs/designs/commands.md) */
export function explainCommand(io: Io, { connect }: { readonly connect?: Connect } = {}): Command {
  const run = async (kind: string, name: string, self: Command): Promise<void> => {
    const options = givenOptions(self);
    const request = planRequestOf(options, { connect, self, otherwise: "current-context" });
    const { output, spotToSpot = false, multiReplacement = false, controller, tokenFile, namespace } = options;
    const explainRequest = { request, output, io, spotToSpot, multiReplacement, controller, tokenFile, namespace };
    const { runExplainNode, runExplainPod } = await import("./explain/run-explain.ts");
    await (kind === "Node" ? runExplainNode(name, explainRequest) : runExplainPod(kind, name, explainRequest));
  };
  const pod = withIo(new Command("pod"), io)
    .summary("explain where a pod is scheduled or why it cannot be, and what would help")
    .description("Explain the scheduling of a pending pod, from a cluster or from the same input as `plan`.")
    .argument("<name>", "the pod, the beginning of its name, or NAMESPACE/NAME");
  const node = withIo(new Command("node"), io)
    .summary("explain why a node stays or would be disrupted, and what would unblock it")
    .description(
      "Explain why a node stays or goes, and what is scheduled to it, from a cluster or from the same input as `plan`.",
    )
    .argument("<name>", "the node, or its NodeClaim")
    .option("--spot-to-spot", "the feature gate SpotToSpotConsolidation")
    .option("--multi-replacement", "the feature gate MultiReplacement");
  const explain = withIo(new Command("explain"), io)
    .summary("explain why a pod cannot be scheduled or a node is kept, and what would change it")
    .description(
      "Explain decisions: why a pod is pending and what would help, why a node stays and what would unblock it.",
    )
    .argument(
      "[kind/name]",
      "what to explain: deployment/NAME, statefulset/NAME, job/NAME, rs/NAME, pod/NAME, node/NAME",
    )
    .argument("[name]", "its name, where the kind stands alone");
  return withExplainOptions(explain, ownerDetails)
    .addCommand(
      withExplainOptions(pod, podDetails).action((name: string, _: unknown, self: Command) => run("Pod", name, self)),
    )
    .addCommand(
      withExplainOptions(node, nodeDetails).action((name: string, _: unknown, self: Command) =>
        run("Node", name, self),
      ),
    )
    .action((first: string | undefined, second: string | undefined, _: unknown, self: Command) => {
      const target = writtenTarget(first, second);
      if (target === undefined) {
        const usage =
          "`karpenter explain pod NAME`, `karpenter explain deployment/NAME` or `karpenter explain node NAME`";
        self.error(`error: name what to explain: ${usage}`, { exitCode: exitCodes.usage });
      }
      return run(explainedKind(target.kind), target.name, self);
    });
}

/** The options of a command. Those it shares with the command above were read by that one, wherever they stand. */
function givenOptions(self: Command): ExplainOptions {
  const above = self.name() === "explain" ? null : self.parent;
  const shared = Object.entries(above?.opts() ?? {}).filter(([key]) => above?.getOptionValueSource(key) !== "default");
  return { ...self.opts<ExplainOptions>(), ...Object.fromEntries(shared) };
}

/** `KIND/NAME` or `KIND NAME`. */
function writtenTarget(first = "", second?: string): { readonly kind: string; readonly name: string } | undefined {
  const slash = first.indexOf("/");
  if (slash > 0 && slash < first.length - 1 && second === undefined) {
    return { kind: first.slice(0, slash), name: first.slice(slash + 1) };
  }
  return slash < 0 && first !== "" && second ? { kind: first, name: second } : undefined;
}

function withExplainOptions(command: Command, details: string): Command {
  return withPlanningOptions(command)
    .option("-n, --namespace <name>", "namespace of the pod (default: that of the current context)")
    .addOption(choiceOption("-o, --output <format>", "what to print", outputs))
    .addOption(
      new Option("--controller <url>", "of a live cluster: where the controller's metrics port is").argParser(parseUrl),
    )
    .option("--token-file <path>", "token for the controller (default: that of the kubeconfig)")
    .addHelpText("after", details);
}

function parseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text)) {
    throw new InvalidArgumentError("Expected a URL such as http://127.0.0.1:8080.");
  }
  return text;
}
