import { Command, Option } from "commander";
import { withClusterOptions } from "./cluster-options.ts";
import { errorCodeOf, exitCodes, type Io, withIo } from "./io.ts";
import type { ClusterChoice, Connect, LiveReading } from "./live-cluster.ts";

interface SnapshotOptions extends ClusterChoice {
  readonly output: string;
  readonly namespace?: readonly string[];
  readonly hashNames?: boolean;
  readonly salt?: string;
  readonly keepLabel?: readonly string[];
}

/** What a snapshot needs of the world besides files. */
export interface SnapshotCommandTools {
  readonly connect?: Connect | undefined;
  readonly now?: () => number;
  /** A salt nobody can guess. */
  readonly randomSalt?: () => string | Promise<string>;
}

const defaultOutputFile = "karpenter-snapshot.json.gz";

const details = `
One file with what decides where pods go: Nodes, Pods, NodePools, NodeClaims, node classes, NodeOverlays,
CapacityBuffers, workloads, Services, Namespaces, volumes, PodDisruptionBudgets, PriorityClasses. Images, commands,
environments, user data, messages and most annotations are left out; Secrets and ConfigMaps are not read. Every command
that reads manifests reads it.

With --hash-names, names of objects and namespaces, and labels and taints of your own, are replaced, the same name
always by the same; zones, instance types and other words of Kubernetes and the clouds stay. A plan of it decides the
same. The file says in which alphabetical order the names were. See docs/guides/snapshot.md for what else stays.

Exit codes: 0 written, 1 the cluster could not be read, or not all of it (what could be is written), 2 the command line
is wrong.

Examples:
  karpenter snapshot
  karpenter snapshot --context prod --hash-names -o prod.json.gz
  karpenter plan -f prod.json.gz -f new-nodepool.yaml`;

/** `karpenter snapshot`: a live cluster as one file. (docs/designs/commands.md) */
export function snapshotCommand(io: Io, tools: SnapshotCommandTools = {}): Command {
  const command = withIo(new Command("snapshot"), io)
    .summary("write what decides about nodes in a live cluster into one file")
    .description("Write what decides about nodes in a live cluster into one file, for plan and explain.")
    .option("-o, --output <file>", "file to write", defaultOutputFile);
  return withClusterOptions(command, { purpose: "read the cluster" })
    .addOption(
      new Option("-n, --namespace <name>", "objects of this namespace only; may be repeated").argParser(collectValues),
    )
    .option("--hash-names", "replace names, consistently")
    .option("--salt <text>", "hash with this, so that two snapshots can be compared; drawn at random unless said")
    .addOption(
      new Option("--keep-label <key>", "with --hash-names, leave this label as it is; may be repeated").argParser(
        collectValues,
      ),
    )
    .addHelpText("after", details)
    .action((options: SnapshotOptions, self: Command) => runSnapshot(options, { io, tools, self }));
}

function collectValues(name: string, names: readonly string[] = []): readonly string[] {
  return [...names, name];
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
    io.stderr(
      `error: ${options.output}: cannot write this: ${errorCodeOf(error) ?? String(error)}; name another with -o\n`,
    );
    io.exit(exitCodes.badInput);
    return;
  }
  await reportSnapshot(reading, { io, written: `${options.output}: ${count} objects, ${sizeText(contents.length)}` });
}

function usageProblem({ output, hashNames, salt, keepLabel }: SnapshotOptions): string | undefined {
  if (output === "-") return "-o names a file; for standard output say -o /dev/stdout";
  if (hashNames !== true && salt !== undefined) return "--salt is for --hash-names";
  if (hashNames !== true && keepLabel !== undefined) return "--keep-label is for --hash-names";
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

/** On a terminal, one line that says how far we are. */
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
  const [{ packSnapshot }, { snapshotHeaderOf }, { inOrderOfAge, projectObject }, { hashNames }] = await Promise.all([
    import("./snapshot/snapshot-file.ts"),
    import("./snapshot/snapshot-header.ts"),
    import("./snapshot/project-object.ts"),
    import("./snapshot/hash-names.ts"),
  ]);
  const { now = Date.now, randomSalt = generateSalt } = tools;
  const ordered = inOrderOfAge(objects);
  const hashed = options.hashNames === true;
  const kept = hashed
    ? hashNames(ordered, {
        salt: options.salt ?? (await randomSalt()),
        keepLabels: new Set(options.keepLabel ?? []),
      }).objects
    : ordered.flatMap((object) => projectObject(object) ?? []);
  return { contents: packSnapshot(snapshotHeaderOf(kept, { timeMs: now(), hashed }), kept), count: kept.length };
}

async function generateSalt(): Promise<string> {
  const { randomBytes } = await import("node:crypto");
  return randomBytes(32).toString("hex");
}

/** What was written, what the cluster does not have, and what is missing. */
async function reportSnapshot(
  { absent, forbidden }: LiveReading,
  { io, written }: { readonly io: Io; readonly written: string },
): Promise<void> {
  io.stdout(`${written}\n`);
  if (absent.length > 0) io.stderr(`note: the cluster does not have ${absent.join(", ")}\n`);
  if (forbidden.length === 0) return;
  const { forbiddenAdvice } = await import("./plan-input.ts");
  for (const { kind, because } of forbidden) {
    io.stderr(`error: you may not list ${kind}, and so it is not in the snapshot: ${because}; ${forbiddenAdvice}\n`);
  }
  io.exit(exitCodes.badInput);
}

function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
