import { join, resolve } from "node:path";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "../../control-plane/control-plane.ts";
import { stateFolder, writePrivate } from "../../control-plane/http/state-folder.ts";
import { type Sandbox, startSandbox } from "../../operator/sandbox/sandbox.ts";
import { exitCodes, type Io } from "../io.ts";
import type { Stopped } from "../stopped.ts";
import type { UpOptions } from "../up.ts";
import { loadManifests } from "./load-manifests.ts";
import { ready } from "./ready.ts";

interface World {
  readonly io: Io;
  readonly stopped: Stopped;
  readonly version: string;
}

/** Starts it, says what to try, and stays until the user has had enough. */
export async function up(options: UpOptions, { io, stopped, version }: World): Promise<void> {
  const folder = stateFolder(io.env);
  const path = resolve(options.kubeconfig ?? join(folder, "kubeconfig"));
  let running: ControlPlane | Sandbox;
  try {
    running = await start(options, { io, version, folder });
  } catch (error) {
    io.stderr(`error: cannot start the control plane: ${reasonOf(error)}\n`);
    io.exit(exitCodes.badInput);
    return;
  }
  for (const loss of running.losses) io.stderr(`warning: ${loss}\n`);
  try {
    const isLoaded = await loadManifests(running.api, options, io);
    if (!isLoaded) return io.exit(exitCodes.badInput);
    await writePrivate(path, running.kubeconfig);
    io.stdout(ready({ url: running.url, path, options }));
    await (options.demo === true && "cloud" in running ? withDemo(running, { io, stopped }) : stopped());
    io.stdout("stopping\n");
  } catch (error) {
    io.stderr(`error: ${reasonOf(error)}\n`);
    io.exit(exitCodes.badInput);
  } finally {
    await running.close();
  }
}

interface Starting {
  readonly io: Io;
  readonly version: string;
  readonly folder: string;
}

function start(options: UpOptions, { io, version, folder }: Starting): Promise<ControlPlane | Sandbox> {
  const { dataDir, region } = options;
  const bare: ControlPlaneOptions = {
    host: options.listen,
    port: options.port,
    isPlain: options.plainHttp === true,
    speed: options.speed,
    nodes: options.nodes,
    folder,
    data: dataDir === undefined ? undefined : { folder: resolve(dataDir), recover: options.recover === true },
    onFault: (error) => io.stderr(`error: something failed inside the control plane: ${reasonOf(error)}\n`),
  };
  return options.controller
    ? startSandbox({ ...bare, version, region, tell: io.stdout, isColoured: io.isTty })
    : startControlPlane(bare);
}

/** Plays the demo, and waits on. */
async function withDemo(sandbox: Sandbox, { io, stopped }: Pick<World, "io" | "stopped">): Promise<void> {
  const { playDemo } = await import("../../operator/sandbox/demo/demo.ts");
  const enough = new AbortController();
  const tell = (text: string) => sandbox.say(`\n${text}\n`);
  const playing = playDemo(sandbox, { tell, signal: enough.signal }).catch((error: unknown) => {
    io.stderr(`error: the demo failed: ${reasonOf(error)}\n`);
  });
  await stopped();
  enough.abort();
  await playing;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
