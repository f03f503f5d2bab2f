import { Command, InvalidArgumentError, Option } from "commander";
import { knownRegions } from "../providers/aws/regions.ts";
import { choiceOption, wholeNumberUpTo, withFileOptions } from "./common-options.ts";
import { controllerNamespaces } from "./controller-namespaces.ts";
import { exitCodes, type Io, withIo } from "./io.ts";
import { type UntilStopped, untilSignal } from "./until-stopped.ts";
import type { UpOptions } from "./up/up-options.ts";

const details = `
One process: an API server, workload controllers, scheduler and kubelets, a simulated cloud, and Karpenter's controller,
which launches nodes there for unschedulable pods. A KWOKNodeClass launches KWOK instance types, an EC2NodeClass EC2
instance types in a simulated region; no account is needed and nothing costs money. The terminal shows what the
controller does and why; for the full log run "kubectl logs -n karpenter deploy/karpenter", or with -n kube-system after
--controller-namespace kube-system. Nodes created with --nodes are not managed by Karpenter.

The kubeconfig is written once the control plane is ready, readable only by you; the token in it gives access. Without
--kubeconfig the file is kubeconfig in $XDG_STATE_HOME/karpenter-ts (~/.local/state/karpenter-ts). Manifests of older
Karpenter versions are converted as by "karpenter convert".

Without --data-dir everything is lost when the process ends. With it every write is on disk before it is answered, and
the next start continues from there, including the simulated instances, even after a crash. A damaged journal is
rejected with its line number; --recover continues with the entries before the damage and keeps a copy of the damaged
file.

Exit codes: 0 stopped by Ctrl-C, 1 it failed to start or a manifest was rejected, 2 the command line is wrong.

Examples:
  karpenter up
  karpenter up --demo
  karpenter up --demo --speed 10
  karpenter up -f examples/quick-start.yaml
  karpenter up --data-dir ./cluster
  karpenter up --region us-east-1 --port 8443 --kubeconfig ./kubeconfig
  karpenter up --no-controller --nodes 3`;

/** `karpenter up`: a cluster, a simulated cloud and the controller in this process. (05) */
export function upCommand(
  io: Io,
  { untilStopped = untilSignal, version }: { untilStopped?: UntilStopped | undefined; version: string },
): Command {
  const command = withIo(new Command("up"), io)
    .summary("start the sandbox: a cluster, a simulated cloud and the controller")
    .description(
      "Start a cluster kubectl can talk to, with a simulated cloud and Karpenter's controller in one process.",
    )
    .addOption(
      new Option("--port <number>", "port to listen on; 0 chooses a free one")
        .argParser(wholeNumberUpTo(65_535))
        .default(0),
    )
    .option("--listen <address>", "address to listen on", "127.0.0.1")
    .option("--plain-http", "serve without TLS; on loopback only")
    .option("--kubeconfig <path>", "where to write the kubeconfig")
    .addOption(
      new Option("--nodes <number>", "nodes to start with, not managed by Karpenter")
        .argParser(wholeNumberUpTo(10_000))
        .default(0),
    )
    .addOption(new Option("--region <name>", "simulated region for EC2NodeClasses").choices(knownRegions))
    .addOption(
      new Option("--speed <factor>", "make time in the cluster run this much faster").argParser(parseSpeed).default(1),
    )
    .option("--demo", "play a demo, then keep running")
    .option("--no-controller", "only the control plane: no Karpenter, no cloud")
    .addOption(
      choiceOption("--controller-namespace <name>", "where the controller's pod appears", controllerNamespaces),
    )
    .option("--data-dir <path>", "save the cluster in this folder, and continue with what is there")
    .option("--recover", "with --data-dir: continue with the writes before the damage");
  return withFileOptions(command, { description: "manifests to start with; may be repeated" })
    .addHelpText("after", details)
    .action(async (options: UpOptions, self: Command) => {
      const problem = usageProblem(options);
      if (problem !== undefined) self.error(`error: ${problem}`, { exitCode: exitCodes.usage });
      const { runUp } = await import("./up/run-up.ts"); // imported here, so that --help starts quickly
      await runUp(options, { io, untilStopped, version });
    });
}

function usageProblem({ controller, demo, region }: UpOptions): string | undefined {
  if (controller) return undefined;
  if (demo === true) return "--demo needs the controller; remove --no-controller";
  return region === undefined ? undefined : "--region needs the controller; remove --no-controller";
}

function parseSpeed(text: string): number {
  const factor = Number(text);
  if (!(factor > 0 && factor <= 100_000)) throw new InvalidArgumentError("Expected a number above 0, at most 100000.");
  return factor;
}
