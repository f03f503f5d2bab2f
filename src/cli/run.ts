import { Command, Option } from "commander";
import { type OptionRow, optionTable } from "../operator/option-table.ts";
import { formatDurationMs } from "../util/duration.ts";
import { withClusterOptions } from "./cluster-options.ts";
import { exitCodes, type Io, onIo } from "./io.ts";
import type { ClusterChoice } from "./live.ts";
import { type Stopped, untilSignal } from "./stopped.ts";

const details = `
Inside a cluster the pod's service account is used, elsewhere the kubeconfig as kubectl finds it. Each setting is read
from its flag, else from the environment variable named with it. Of several processes one leads; the others wait,
healthy and ready. /metrics is on the metrics port, /healthz and /readyz on the health port.

The aws and azure providers are not built yet; "karpenter up" sells EC2 types in a simulated region.

Exit codes: 0 stopped by SIGTERM or Ctrl-C, 1 it could not start or lost the lease, 2 the command line is wrong.

Examples:
  karpenter run --provider kwok
  karpenter run --context test --log-level debug --disable-leader-election
  CLOUD_PROVIDER=kwok FEATURE_GATES=NodeRepair=true karpenter run`;

export interface RunTools {
  readonly stopped?: Stopped | undefined;
  /** Ends the process, whatever still goes on in it. */
  readonly quit?: ((code: number) => void) | undefined;
  readonly version: string;
}

/** What is still under way after a clean stop gets this long. */
const lingerMs = 2_000;

type Flags = Readonly<Record<string, string | true | undefined>>;

const rows: readonly OptionRow[] = Object.values(optionTable);

/** `karpenter run`: the controller, on a cluster. (03 §6) */
export function runCommand(io: Io, { stopped = untilSignal, quit = quitProcess, version }: RunTools): Command {
  const command = onIo(new Command("run"), io)
    .summary("run the controller on a cluster")
    .description("Run the controller on a cluster: launch, disrupt and repair its nodes.");
  withClusterOptions(command, { purpose: "run on the cluster" });
  const options = rows.map((row) => ({ row, option: optionOf(row) }));
  for (const { option } of options) command.addOption(option);
  return command.addHelpText("after", details).action(async (given: Flags & ClusterChoice, self: Command) => {
    const flags = Object.fromEntries(options.map(({ row, option }) => [row.flag, given[option.attributeName()]]));
    const { run } = await import("./run/run.ts");
    const end = await run({ io, version, stopped, flags, cluster: given });
    if ("problems" in end) {
      self.error(end.problems.map((problem) => `error: ${problem}`).join("\n"), { exitCode: exitCodes.usage });
    }
    io.exit(end.code);
    // Another leads: what is under way here must not go on. Else only what is stuck is cut short.
    if (end.isUrgent) quit(end.code);
    else setTimeout(quit, lingerMs, end.code).unref();
  });
}

/** Values stay text here: all that is wrong is told at once, by whoever reads them. */
function optionOf(row: OptionRow): Option {
  const said = defaultText(row);
  const notes = [...(said === "" ? [] : [`default: ${said}`]), `env: ${row.env}`];
  return new Option(`--${row.flag} ${row.parser.placeholder}`, `${row.description} (${notes.join(", ")})`);
}

function defaultText({ default: value, parser }: OptionRow): string {
  if (typeof value === "number") return parser.placeholder === "<duration>" ? formatDurationMs(value) : String(value);
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "object" || value === undefined ? "" : String(value);
}

function quitProcess(code: number): void {
  process.exit(code);
}
