import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clusterBinaries } from "./binaries.ts";
import { makeCertificates } from "./certificates.ts";
import { type Child, startChild } from "./child.ts";
import {
  apiServer,
  type Component,
  component,
  etcd,
  type Files,
  type Program,
  type RequestRates,
} from "./components.ts";
import { eventually, Hopeless } from "./eventually.ts";
import { onExit } from "./exit-hook.ts";
import { type Connection, connect } from "./kube.ts";
import { freePorts } from "./ports.ts";

/** A real Kubernetes control plane on loopback, without nodes; its token is an administrator's. */
export interface ControlPlane extends Connection {
  readonly kubeconfigPath: string;
  readonly pids: readonly number[];
  /** Ends a component and starts it anew with other limits. */
  restart(name: Component, requestRates: RequestRates): Promise<void>;
  stop(): Promise<void>;
}

export interface ControlPlaneOptions {
  /** What runs beside etcd and the API server; both when not said. */
  readonly components?: readonly Component[];
  /** `fast` when not said. */
  readonly requestRates?: RequestRates;
}

const readyWithinMs = 120_000;
const graceMs = 5_000;

export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = await clusterBinaries();
  if (binaries.kind === "missing") throw new Error(`no control plane: ${binaries.because}`);
  const { components = ["kube-controller-manager", "kube-scheduler"], requestRates = "fast" } = options;
  try {
    return await attempt(binaries.dir, { components, requestRates });
  } catch (error) {
    if (!(error instanceof PortTaken)) throw error;
    return attempt(binaries.dir, { components, requestRates }); // between our asking and its binding somebody took the port
  }
}

async function attempt(
  binaries: string,
  { components, requestRates }: Required<ControlPlaneOptions>,
): Promise<ControlPlane> {
  const dir = await mkdtemp(join(tmpdir(), "karpenter-cluster-"));
  const children = new Map<string, Child>(); // by name, in the order of their start
  const forget = onExit(() => {
    for (const child of children.values()) child.kill();
    rmSync(dir, { recursive: true, force: true });
  });
  const stop = async (): Promise<void> => {
    // Clients before servers, so that none spends its last seconds retrying.
    for (const child of [...children.values()].reverse()) await child.stop(graceMs);
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
    forget();
  };

  try {
    const [etcdPort = 0, peerPort = 0, apiPort = 0, ...componentPorts] = await freePorts(3 + components.length);
    const connection = await writeFiles(dir, `https://127.0.0.1:${apiPort}`);
    const { files } = connection;
    const start = async (program: Program): Promise<void> => {
      const logPath = join(dir, `${program.name}.log`);
      const child = await startChild(join(binaries, program.name), { args: program.args, logPath });
      children.set(program.name, child);
      await untilReady(child, { ...connection, url: program.readyUrl });
    };
    const startComponent = (name: Component, rates: RequestRates): Promise<void> =>
      start(component(name, files, { port: componentPorts[components.indexOf(name)] ?? 0, requestRates: rates }));

    await start(etcd(files, { client: etcdPort, peer: peerPort }));
    await start(apiServer(files, { port: apiPort, etcdPort, components }));
    await allOf(components.map((name) => startComponent(name, requestRates)));

    const { url, ca, token } = connection;
    const pids = [...children.values()].map(({ pid }) => pid);
    const restart: ControlPlane["restart"] = async (name, rates) => {
      await children.get(name)?.stop(graceMs);
      await startComponent(name, rates);
    };
    return { url, ca, token, kubeconfigPath: files.kubeconfig, pids, restart, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Like `Promise.all`, but fails only once all have ended: until then one may still be starting a process. */
async function allOf(promises: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(promises);
  await Promise.all(promises);
}

async function writeFiles(dir: string, url: string): Promise<Connection & { readonly files: Files }> {
  const dataDir = join(dir, "etcd");
  await mkdir(dataDir, { mode: 0o700 });
  const certificates = await makeCertificates(dir);
  const files = { ...certificates, dataDir, tokens: join(dir, "tokens.csv"), kubeconfig: join(dir, "kubeconfig") };
  const ca = await readFile(certificates.ca, "utf8");
  const token = randomBytes(16).toString("hex");
  await writeFile(files.tokens, `${token},admin,admin,"system:masters"\n`, { mode: 0o600 });
  await writeFile(files.kubeconfig, JSON.stringify(kubeconfig({ url, ca, token })), { mode: 0o600 });
  return { url, ca, token, files };
}

function kubeconfig({ url, ca, token }: Connection): unknown {
  const cluster = { server: url, "certificate-authority-data": Buffer.from(ca).toString("base64") };
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster }],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "admin" } }],
    "current-context": "test",
  };
}

class PortTaken extends Hopeless {}

/** Polls until the program answers 200; fails with the end of its log when it exits or takes too long. */
async function untilReady(child: Child, ready: Connection): Promise<void> {
  const kube = connect(ready);
  try {
    const probe = async (): Promise<true | undefined> => {
      if (child.hasExited()) throw earlyExit(child);
      return (await kube.request("GET", ready.url)).status === 200 || undefined;
    };
    await eventually(`${child.name} is ready`, probe, { timeoutMs: readyWithinMs });
  } catch (error) {
    if (error instanceof Hopeless) throw error;
    throw new Error(`${child.name} did not become ready; its log ends:\n${child.logTail()}`, { cause: error });
  } finally {
    kube.close();
  }
}

function earlyExit(child: Child): Hopeless {
  const tail = child.logTail();
  const Kind = tail.includes("address already in use") ? PortTaken : Hopeless;
  return new Kind(`${child.name} exited early; its log ends:\n${tail}`);
}
