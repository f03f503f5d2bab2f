import { Command, Option } from "commander";
import type { KubeObject } from "../api/object.ts";
import { withClusterOptions } from "./cluster-options.ts";
import { collectValues } from "./common-options.ts";
import { exitCodes, failureText, type Io, withIo } from "./io.ts";
import type { ClusterChoice, Connect, LiveReading } from "./live-cluster.ts";

interface SnapshotOptions extends ClusterChoice {
  readonly output: string;
  readonly namespace?: readonly string[];
  readonly hashNames?: boolean;
  readonly salt?: string;
  readonly keepLabel?: readonly string[];
}

/** What the command uses besides files; tests replace it. */
export interface SnapshotCommandTools {
  readonly connect?: Connect | undefined;
  readonly now?: () => number;
  /** Makes a salt that cannot be guessed. */
  readonly randomSalt?: () => string | Promise<string>;
}

const defaultOutputFile = "karpenter-snapshot.json.gz";

const details = `
Writes everything scheduling depends on into one file: Nodes, Pods, NodePools, NodeClaims, node classes, NodeOverlays,
CapacityBuffers, workloads, Services, Namespaces, volumes, PodDisruptionBudgets, PriorityClasses. Images, commands,
environment variables, user data, messages and most annotations are left out; Secrets and ConfigMaps are not read. Every
command that reads manifests can read the file.

With --hash-names, names of objects and namespaces, and your own labels and taints, are replaced consistently; zones,
instance types and well-known labels are kept. A plan of the file makes the same decisions. The replacements keep the
alphabetical order of the names. See docs/guides/snapshot.md for what else is kept.

Exit codes: 0 written, 1 the cluster could not be read, or only in part (that part is written), 2 the command line is
wrong.

Examples:
  karpenter snapshot
  karpenter snapshot --context prod --hash-names -o prod.json.gz
  karpenter plan -f prod.json.gz -f new-nodepool.yaml`;

/** `karpenter snapshot`: a live cluster as one file. (docs/designs/commands.md) */
export function snapshotCommand(io: Io, tools: SnapshotCommandTools = {}): Command {
  const command = withIo(new Command("snapshot"), io)
    .summary("write the scheduling state of a live cluster into one file")
    .description("Write the scheduling state of a live cluster into one file, for plan and explain.")
    .option("-o, --output <file>", "file to write", defaultOutputFile);
  return withClusterOptions(command, { purpose: "read the cluster" })
    .addOption(
      new Option("-n, --namespace <name>", "only objects of this namespace; may be repeated").argParser(collectValues),
    )
    .option("--hash-names", "replace names consistently")
    .option("--salt <text>", "salt for the hashes, so that two snapshots can be compared (default: random)")
    .addOption(
      new Option("--keep-label <key>", "with --hash-names, do not replace this label; may be repeated").argParser(
        collectValues,
      ),
    )
    .addHelpText("after", details)
    .action((options: SnapshotOptions, self: Command) => runSnapshot(options, { io, tools, self }));
}

interface SnapshotCommandContext {
  readonly io: Io;
  readonly tools: SnapshotCommandTools;
  readonly self: Command;
}

async function runSnapshot(options: SnapshotOptions, { io, tools, self }: SnapshotCommandContext): Promise<void> {
  const problem = usageProblem(options);
  if (problem !== undefined) self.error(`error: ${problem}`, { exitCode: exitCodes.usage });
  const reading = await readCluster(options, { io, tools });
  if (reading === undefined) return;
  const { contents, count } = await packObjects(reading, { options, tools });
  try {
    await io.writeFile(options.output, contents);
  } catch (error) {
    io.stderr(`error: ${options.output}: cannot write: ${failureText(error)}; choose another file with -o\n`);
    io.exit(exitCodes.badInput);
    return;
  }
  await reportSnapshot(reading, { io, written: `${options.output}: ${count} objects, ${sizeText(contents.length)}` });
}

function usageProblem({ output, hashNames, salt, keepLabel }: SnapshotOptions): string | undefined {
  if (output === "-") return "-o takes a file; use -o /dev/stdout for standard output";
  if (hashNames !== true && salt !== undefined) return "--salt requires --hash-names";
  if (hashNames !== true && keepLabel !== undefined) return "--keep-label requires --hash-names";
  return undefined;
}

async function readCluster(
  { kubeconfig, context, namespace = [] }: SnapshotOptions,
  { io, tools }: Pick<SnapshotCommandContext, "io" | "tools">,
): Promise<LiveReading | undefined> {
  const [{ readLiveCluster }, { connectTo }, { unreachableText }] = await Promise.all([
    import("./live-cluster.ts"),
    import("./connect.ts"),
    import("./plan-input.ts"),
  ]);
  const progress = readProgress(io);
  try {
    const cluster = await (tools.connect ?? connectTo(io))({ kubeconfig, context });
    try {
      return await readLiveCluster(cluster, { namespaces: namespace, onProgress: progress.show });
    } finally {
      cluster.close();
      progress.clear();
    }
  } catch (error) {
    io.stderr(`error: ${unreachableText(error)}\n`);
    io.exit(exitCodes.badInput);
    return undefined;
  }
}

/** On a terminal, one line that shows how much has been read. */
function readProgress(io: Io): { readonly show: (kind: string, count: number) => void; readonly clear: () => void } {
  const wipe = "\r\u001b[K";
  if (!io.isTty) return { show: () => undefined, clear: () => undefined };
  return {
    show: (kind, count) => io.stderr(`${wipe}reading ${kind}: ${count}`),
    clear: () => io.stderr(wipe),
  };
}

async function packObjects(
  { objects }: LiveReading,
  { options, tools }: { readonly options: SnapshotOptions; readonly tools: SnapshotCommandTools },
): Promise<{ readonly contents: Uint8Array; readonly count: number }> {
  const [{ packSnapshot }, { snapshotHeaderOf }, { inOrderOfAge, projectObject }] = await Promise.all([
    import("./snapshot/snapshot-file.ts"),
    import("./snapshot/snapshot-header.ts"),
    import("./snapshot/project-object.ts"),
  ]);
  const { now = Date.now } = tools;
  const ordered = inOrderOfAge(objects);
  const hashed = options.hashNames === true;
  const kept = hashed
    ? await withHashedNames(ordered, { options, tools })
    : ordered.flatMap((object) => projectObject(object) ?? []);
  return { contents: packSnapshot(snapshotHeaderOf(kept, { timeMs: now(), hashed }), kept), count: kept.length };
}

async function withHashedNames(
  objects: readonly KubeObject[],
  { options, tools }: { readonly options: SnapshotOptions; readonly tools: SnapshotCommandTools },
): Promise<readonly KubeObject[]> {
  const [{ hashNames }, { NameHasher }] = await Promise.all([
    import("./snapshot/hash-names.ts"),
    import("./snapshot/name-hasher.ts"),
  ]);
  const { randomSalt = generateSalt } = tools;
  const salt = options.salt ?? (await randomSalt());
  return hashNames(objects, new NameHasher({ salt, keepLabels: new Set(options.keepLabel ?? []) }));
}

async function generateSalt(): Promise<string> {
  const { randomBytes } = await import("node:crypto");
  return randomBytes(32).toString("hex");
}

/** Prints what was written, what the cluster does not serve, and what could not be read. */
async function reportSnapshot(
  { absent, forbidden }: LiveReading,
  { io, written }: { readonly io: Io; readonly written: string },
): Promise<void> {
  io.stdout(`${written}\n`);
  if (absent.length > 0) io.stderr(`note: the cluster does not serve ${absent.join(", ")}\n`);
  if (forbidden.length === 0) return;
  const { forbiddenAdvice } = await import("./plan-input.ts");
  for (const { kind, because } of forbidden) {
    io.stderr(
      `error: not allowed to list ${kind}, which is missing from the snapshot: ${because}; ${forbiddenAdvice}\n`,
    );
  }
  io.exit(exitCodes.badInput);
}

function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
