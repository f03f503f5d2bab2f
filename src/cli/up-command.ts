import { Command, InvalidArgumentError, Option } from "commander";
import { knownRegions } from "../providers/aws/regions.ts";
import { exitCodes, type Io, withIo } from "./io.ts";
import { type UntilStopped, untilSignal } from "./until-stopped.ts";

export interface UpOptions {
  readonly port: number;
  readonly listen: string;
  readonly plainHttp?: boolean;
  readonly kubeconfig?: string;
  readonly nodes: number;
  readonly speed: number;
  readonly region?: string;
  readonly controller: boolean;
  readonly demo?: boolean;
  readonly filename?: readonly string[];
  readonly recursive?: boolean;
  readonly dataDir?: string;
  readonly recover?: boolean;
}

const details = `
One process: an API server, workload controllers, scheduler and kubelets, a simulated cloud, and Karpenter's controller,
which buys nodes there for pods that find no place. A KWOKNodeClass buys KWOK types, an EC2NodeClass buys EC2 types in a
simulated region; no account is needed and nothing costs money. The terminal tells what the controller does and why; its
whole log is what "kubectl logs -n karpenter karpenter-0" shows. Nodes given with --nodes are not Karpenter's.

The kubeconfig is written, readable by you alone, once the control plane answers; the token in it is what lets a client
in. Without --kubeconfig it is kubeconfig in $XDG_STATE_HOME/karpenter-ts (~/.local/state/karpenter-ts). Manifests of
older Karpenter versions are converted as "karpenter convert" does.

Without --data-dir nothing outlives the process. With it every write is on disk before it is answered, and the next
start goes on from there, machines included, even after a crash. A journal that is damaged is refused, with the line;
--recover goes on with what is before it and keeps the damaged file beside.

Exit codes: 0 stopped by Ctrl-C, 1 it could not start or a manifest was refused, 2 the command line is wrong.

Examples:
  karpenter up
  karpenter up --demo
  karpenter up --demo --speed 10
  karpenter up -f examples/quick-start.yaml
  karpenter up --data-dir ./cluster
  karpenter up --region us-east-1 --port 8443 --kubeconfig ./kubeconfig
  karpenter up --no-controller --nodes 3`;

export interface UpCommandTools {
  readonly untilStopped?: UntilStopped | undefined;
  readonly version: string;
}

/** `karpenter up`: a cluster, a cloud and the controller, in this process. (05) */
export function upCommand(io: Io, { untilStopped = untilSignal, version }: UpCommandTools): Command {
  return withIo(new Command("up"), io)
    .summary("start the sandbox: a cluster, a simulated cloud and the controller")
    .description(
      "Start a cluster kubectl can talk to, with a simulated cloud and Karpenter's controller in one process.",
    )
    .addOption(new Option("--port <number>", "port to listen on; 0 takes any free one").argParser(parsePort).default(0))
    .option("--listen <address>", "address to listen on", "127.0.0.1")
    .option("--plain-http", "serve without TLS; on loopback only")
    .option("--kubeconfig <path>", "where to write the kubeconfig")
    .addOption(new Option("--nodes <number>", "plain nodes to begin with").argParser(parseCount).default(0))
    .addOption(new Option("--region <name>", "where EC2NodeClasses buy").choices(knownRegions))
    .addOption(
      new Option("--speed <factor>", "let the cluster's time run this much faster").argParser(parseSpeed).default(1),
    )
    .option("--demo", "play a day in the life of a cluster, then stay up")
    .option("--no-controller", "the bare control plane: no Karpenter, no cloud")
    .option("--data-dir <path>", "keep the cluster in this folder, and go on with what is there")
    .option("--recover", "with --data-dir: go on with what is before a damage")
    .addOption(new Option("-f, --filename <path>", "manifests to begin with; may be repeated").argParser(collectValues))
    .option("-R, --recursive", "look into the directories of directories too")
    .addHelpText("after", details)
    .action(async (options: UpOptions, self: Command) => {
      const problem = usageProblem(options);
      if (problem !== undefined) self.error(`error: ${problem}`, { exitCode: exitCodes.usage });
      const { runUp } = await import("./up/run-up.ts"); // what it needs is loaded now, so that --help stays quick
      await runUp(options, { io, stopped: untilStopped, version });
    });
}

function usageProblem({ controller, demo, region }: UpOptions): string | undefined {
  if (controller) return undefined;
  if (demo === true) return "--demo shows what the controller does: leave out --no-controller";
  return region === undefined ? undefined : "--region is where the controller buys: leave out --no-controller";
}

function collectValues(path: string, paths: readonly string[] = []): readonly string[] {
  return [...paths, path];
}

function parseWholeNumber(text: string, most: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > most)
    throw new InvalidArgumentError(`Expected a whole number from 0 to ${most}.`);
  return number;
}

function parsePort(text: string): number {
  return parseWholeNumber(text, 65_535);
}

function parseCount(text: string): number {
  return parseWholeNumber(text, 10_000);
}

function parseSpeed(text: string): number {
  const factor = Number(text);
  if (!(factor > 0 && factor <= 100_000)) throw new InvalidArgumentError("Expected a number above 0, at most 100000.");
  return factor;
}
