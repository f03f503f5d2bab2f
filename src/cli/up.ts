import { Command, InvalidArgumentError, Option } from "commander";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { exitCodes, type Io, onIo } from "./io.ts";

interface UpOptions {
  readonly port: number;
  readonly listen: string;
  readonly plainHttp?: boolean;
  readonly kubeconfig?: string;
  readonly nodes: number;
  readonly speed: number;
  readonly filename?: readonly string[];
  readonly recursive?: boolean;
  readonly dataDir?: string;
  readonly recover?: boolean;
}

const details = `
The kubeconfig is written, readable by you alone, once the control plane answers; the token in it is what lets a client
in. Without --kubeconfig it is kubeconfig in $XDG_STATE_HOME/karpenter-ts (~/.local/state/karpenter-ts). Manifests of
older Karpenter versions are converted as "karpenter convert" does.

Without --data-dir nothing outlives the process. With it every write is on disk before it is answered, and the next
start goes on from there, even after a crash. A journal that is damaged is refused, with the line; --recover goes on
with what is before it and keeps the damaged file beside.

Exit codes: 0 stopped by Ctrl-C, 1 it could not start or a manifest was refused, 2 the command line is wrong.

Examples:
  karpenter up
  karpenter up --nodes 3 -f examples/
  karpenter up --data-dir ./cluster --nodes 3
  karpenter up --speed 60 --port 8443 --kubeconfig ./kubeconfig`;

/** Resolves when the user has had enough. */
export type Stopped = () => Promise<void>;

/** `karpenter up`: a control plane kubectl can talk to, in this process. (05) */
export function upCommand(io: Io, { stopped = untilSignal }: { readonly stopped?: Stopped } = {}): Command {
  return onIo(new Command("up"), io)
    .summary("start a control plane kubectl can talk to")
    .description("Start an embedded control plane with Karpenter's kinds, and write a kubeconfig for it.")
    .addOption(new Option("--port <number>", "port to listen on; 0 takes any free one").argParser(port).default(0))
    .option("--listen <address>", "address to listen on", "127.0.0.1")
    .option("--plain-http", "serve without TLS; on loopback only")
    .option("--kubeconfig <path>", "where to write the kubeconfig")
    .addOption(new Option("--nodes <number>", "simulated nodes to begin with").argParser(count).default(0))
    .addOption(
      new Option("--speed <factor>", "let the cluster's time run this much faster").argParser(speed).default(1),
    )
    .option("--data-dir <path>", "keep the cluster in this folder, and go on with what is there")
    .option("--recover", "with --data-dir: go on with what is before a damage")
    .addOption(new Option("-f, --filename <path>", "manifests to begin with; may be repeated").argParser(gather))
    .option("-R, --recursive", "look into the directories of directories too")
    .addHelpText("after", details)
    .action((options: UpOptions) => up(options, { io, stopped }));
}

function gather(path: string, paths: readonly string[] = []): readonly string[] {
  return [...paths, path];
}

function wholeNumber(text: string, most: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > most)
    throw new InvalidArgumentError(`Expected a whole number from 0 to ${most}.`);
  return number;
}

function port(text: string): number {
  return wholeNumber(text, 65_535);
}

function count(text: string): number {
  return wholeNumber(text, 10_000);
}

function speed(text: string): number {
  const factor = Number(text);
  if (!(factor > 0 && factor <= 100_000)) throw new InvalidArgumentError("Expected a number above 0, at most 100000.");
  return factor;
}

interface World {
  readonly io: Io;
  readonly stopped: Stopped;
}

/** What the pieces need is loaded only now, so that `--help` of any command stays quick. */
async function up(options: UpOptions, { io, stopped }: World): Promise<void> {
  const [{ startControlPlane }, { stateFolder, writePrivate }, { join, resolve }] = await Promise.all([
    import("../control-plane/control-plane.ts"),
    import("../control-plane/http/state-folder.ts"),
    import("node:path"),
  ]);
  const folder = stateFolder(io.env);
  const path = resolve(options.kubeconfig ?? join(folder, "kubeconfig"));
  let plane: ControlPlane;
  try {
    plane = await startControlPlane({
      host: options.listen,
      port: options.port,
      isPlain: options.plainHttp === true,
      speed: options.speed,
      nodes: options.nodes,
      folder,
      data:
        options.dataDir === undefined
          ? undefined
          : { folder: resolve(options.dataDir), recover: options.recover === true },
      onFault: (error) => io.stderr(`error: something failed inside the control plane: ${reasonOf(error)}\n`),
    });
  } catch (error) {
    io.stderr(`error: cannot start the control plane: ${reasonOf(error)}\n`);
    io.exit(exitCodes.badInput);
    return;
  }
  for (const loss of plane.losses) io.stderr(`warning: ${loss}\n`);
  try {
    const isLoaded = await load(plane, options, io);
    if (!isLoaded) return io.exit(exitCodes.badInput);
    await writePrivate(path, plane.kubeconfig);
    io.stdout(ready({ url: plane.url, path, options }));
    await stopped();
    io.stdout("stopped\n");
  } catch (error) {
    io.stderr(`error: ${reasonOf(error)}\n`);
    io.exit(exitCodes.badInput);
  } finally {
    await plane.close();
  }
}

/** Manifests, through the lenient converter; all of them or, with an error among them, none. */
async function load(plane: ControlPlane, { filename = [], recursive }: UpOptions, io: Io): Promise<boolean> {
  if (filename.length === 0) return true;
  const [{ readInput }, { convertManifests }, { inReadingOrder }, { reportFindings }, { loadObjects }] =
    await Promise.all([
      import("./input.ts"),
      import("../api/conversion/manifests.ts"),
      import("../api/manifest/finding.ts"),
      import("./problems.ts"),
      import("../control-plane/load.ts"),
    ]);
  const input = await readInput({ paths: filename, recursive: recursive === true }, io);
  const conversion = convertManifests(input.documents, { mode: "lenient", provider: "all", ignoreDefaults: false });
  const findings = inReadingOrder([...input.findings, ...conversion.findings], input.sources);
  if (reportFindings(findings, io) > 0) return false;
  const refusals = await loadObjects(
    plane.api,
    conversion.documents.map(({ object }) => object),
  );
  for (const refusal of refusals) io.stderr(`error: ${refusal}\n`);
  return refusals.length === 0;
}

function ready({ url, path, options }: { url: string; path: string; options: UpOptions }): string {
  const hasNodes = options.nodes > 0;
  return `The control plane is ready at ${url}${options.speed === 1 ? "" : `; its time runs ${options.speed} times faster`}.

  export KUBECONFIG=${shellWord(path)}

Try:
  kubectl get ${hasNodes ? "nodes" : "namespaces"}
  kubectl api-resources --api-group=karpenter.sh
  kubectl explain nodepool.spec.disruption

Ctrl-C stops it; ${options.dataDir === undefined ? "nothing is kept" : `the cluster is kept in ${options.dataDir}`}.
`;
}

/** As one types it: quoted only where the shell would take it apart. */
function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      process.off("SIGINT", done).off("SIGTERM", done);
      resolve();
    };
    process.on("SIGINT", done).on("SIGTERM", done);
  });
}
