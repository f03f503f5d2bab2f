import { randomBytes } from "node:crypto";
import { hostname, networkInterfaces } from "node:os";
import { resolve } from "node:path";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "../../control-plane/control-plane.ts";
import { stateFolder, writePrivateFile } from "../../control-plane/http/state-folder.ts";
import { type Sandbox, startSandbox } from "../../operator/sandbox/sandbox.ts";
import { systemClock } from "../../util/clock.ts";
import { errorText } from "../../util/error-text.ts";
import { exitCodes, type Io } from "../io.ts";
import type { UntilStopped } from "../until-stopped.ts";
import { claimKubeconfig, type KubeconfigClaim, KubeconfigInUse } from "./kubeconfig-claim.ts";
import { loadManifests } from "./load-manifests.ts";
import { readyText } from "./ready-text.ts";
import type { UpOptions } from "./up-options.ts";

interface UpContext {
  readonly io: Io;
  readonly untilStopped: UntilStopped;
  readonly version: string;
}

/** Starts the sandbox or the control plane, prints what to try, and runs until it is asked to stop. */
export async function runUp(options: UpOptions, { io, untilStopped, version }: UpContext): Promise<void> {
  const folder = stateFolder(io.env);
  let running: ControlPlane | Sandbox;
  let claim: KubeconfigClaim | undefined;
  try {
    claim = await claimKubeconfig(options.kubeconfig, { folder, processId: process.pid });
    running = await startCluster(options, { io, version, folder });
  } catch (error) {
    await claim?.release();
    const what = error instanceof KubeconfigInUse ? "" : "cannot start the control plane: ";
    io.stderr(`error: ${what}${errorText(error)}\n`);
    io.exit(exitCodes.badInput);
    return;
  }
  for (const loss of running.losses) io.stderr(`warning: ${loss}\n`);
  try {
    const isLoaded = await loadManifests(running.api, options, io);
    if (!isLoaded) return io.exit(exitCodes.badInput);
    await writePrivateFile(claim.path, running.kubeconfig);
    io.stdout(readyText({ url: running.url, claim, options }));
    await (options.demo === true && "cloud" in running ? runDemo(running, { io, untilStopped }) : untilStopped());
    io.stdout("stopping\n");
  } catch (error) {
    io.stderr(`error: ${errorText(error)}\n`);
    io.exit(exitCodes.badInput);
  } finally {
    await running.close();
    await claim.release();
  }
}

function startCluster(
  options: UpOptions,
  { io, version, folder }: { io: Io; version: string; folder: string },
): Promise<ControlPlane | Sandbox> {
  const { dataDir, region, controllerNamespace } = options;
  const controlPlaneOptions: ControlPlaneOptions = {
    realClock: systemClock(),
    token: randomBytes(24).toString("base64url"),
    host: options.listen,
    machineHosts: machineHosts(),
    port: options.port,
    isPlainHttp: options.plainHttp === true,
    speed: options.speed,
    nodes: options.nodes,
    folder,
    data: dataDir === undefined ? undefined : { folder: resolve(dataDir), recover: options.recover === true },
    onInternalError: (error) => io.stderr(`error: internal error in the control plane: ${errorText(error)}\n`),
  };
  return options.controller
    ? startSandbox({
        ...controlPlaneOptions,
        ...{ version, region, controllerNamespace },
        print: io.stdout,
        isColoured: io.isTty,
      })
    : startControlPlane(controlPlaneOptions);
}

/** The names and addresses of this machine; link-local ones need an interface in the URL, which certificates cannot name. */
function machineHosts(): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  const reachable = addresses.map(({ address }) => address).filter((address) => !address.startsWith("fe80:"));
  const name = hostname();
  return /^[A-Za-z0-9.-]+$/.test(name) ? [...reachable, name] : reachable;
}

/** Plays the demo, then waits until the process is asked to stop. */
async function runDemo(sandbox: Sandbox, { io, untilStopped }: Pick<UpContext, "io" | "untilStopped">): Promise<void> {
  const { runDemoSteps } = await import("../../operator/sandbox/demo/demo.ts");
  const demoAbort = new AbortController();
  const writeBlock = (text: string) => sandbox.printLine(`\n${text}\n`);
  const playing = runDemoSteps(sandbox, { print: writeBlock, signal: demoAbort.signal }).catch((error: unknown) => {
    io.stderr(`error: the demo failed: ${errorText(error)}\n`);
  });
  await untilStopped();
  demoAbort.abort();
  await playing;
}
