import { Command, Option } from "commander";
import { type OptionRow, optionTable } from "../operator/option-table.ts";
import { formatDurationMs } from "../util/duration.ts";
import { withClusterOptions } from "./cluster-options.ts";
import { exitCodes, type Io, withIo } from "./io.ts";
import type { ClusterChoice } from "./live-cluster.ts";
import { type UntilStopped, untilSignal } from "./until-stopped.ts";

const details = `
Inside a cluster the pod's service account is used, elsewhere the kubeconfig as kubectl finds it. Each setting is read
from its flag, else from the environment variable named with it. With several replicas one is the leader; the others
stand by and report ready. /metrics is on the metrics port, /healthz and /readyz on the health port.

With aws the region and credentials are found as the AWS SDK finds them, and the cluster's name is required; "karpenter
aws iam" prints the permissions. The azure provider is not available yet.

Exit codes: 0 stopped by SIGTERM or Ctrl-C, 1 it failed to start or lost the lease, 2 the command line is wrong.

Examples:
  karpenter run --provider kwok
  AWS_REGION=us-west-2 karpenter run --provider aws --cluster-name prod --interruption-queue prod
  karpenter run --context test --log-level debug --disable-leader-election
  CLOUD_PROVIDER=kwok FEATURE_GATES=NodeRepair=true karpenter run`;

export interface RunCommandTools {
  readonly untilStopped?: UntilStopped | undefined;
  /** Ends the process at once, even if work is still running. */
  readonly exit?: ((code: number) => void) | undefined;
  readonly version: string;
}

/** How long pending work may take after a clean stop. */
const exitGraceMs = 2_000;

type Flags = Readonly<Record<string, string | true | undefined>>;

const optionRows: readonly OptionRow[] = Object.values(optionTable);

/** `karpenter run`: the controller, on a cluster. (03 §6) */
export function runCommand(
  io: Io,
  { untilStopped = untilSignal, exit = exitProcess, version }: RunCommandTools,
): Command {
  const command = withIo(new Command("run"), io)
    .summary("run the controller on a cluster")
    .description("Run the controller on a cluster: launch, disrupt and repair its nodes.");
  withClusterOptions(command, { purpose: "run on the cluster" });
  const options = optionRows.map((row) => ({ row, option: optionOf(row) }));
  for (const { option } of options) command.addOption(option);
  return command.addHelpText("after", details).action(async (given: Flags & ClusterChoice, self: Command) => {
    const flags = Object.fromEntries(options.map(({ row, option }) => [row.flag, given[option.attributeName()]]));
    const { runOperator } = await import("./run/run-operator.ts");
    const result = await runOperator({ io, version, untilStopped, flags, cluster: given });
    if ("problems" in result) {
      self.error(result.problems.map((problem) => `error: ${problem}`).join("\n"), { exitCode: exitCodes.usage });
    }
    io.exit(result.code);
    // After the lease is lost another replica leads: exit at once. Otherwise give pending work a moment to finish.
    if (result.mustExitNow) exit(result.code);
    else setTimeout(exit, exitGraceMs, result.code).unref();
  });
}

/** Values stay strings here; `readOptions` parses them, so that all problems are reported together. */
function optionOf(row: OptionRow): Option {
  const defaultValue = defaultText(row);
  const notes = [...(defaultValue === "" ? [] : [`default: ${defaultValue}`]), `env: ${row.env}`];
  return new Option(`--${row.flag} ${row.parser.placeholder}`, `${row.description} (${notes.join(", ")})`);
}

function defaultText({ default: value, parser }: OptionRow): string {
  if (typeof value === "number") return parser.placeholder === "<duration>" ? formatDurationMs(value) : String(value);
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "object" || value === undefined ? "" : String(value);
}

function exitProcess(code: number): void {
  process.exit(code);
}
