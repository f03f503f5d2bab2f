import type { KubeObject } from "../api/object.ts";
import { combinedInstanceSource } from "../cloud/combined-instance-source.ts";
import {
  defaultInstance,
  InstanceList,
  type InstancePlacement,
  type InstanceSource,
} from "../cloud/instance-source.ts";
import { builtInTypes } from "../kube/resources.ts";
import { acceleratedClock, type Clock } from "../util/clock.ts";
import { Random } from "../util/random.ts";
import { ApiServer } from "./api/server.ts";
import type { LogSource } from "./api/subresources/log.ts";
import { loopbackOf } from "./http/http-listener.ts";
import { type ServedApi, serveApi } from "./http/serve-api.ts";
import { loadOrCreateCertificate } from "./http/state-folder.ts";
import { initialObjects } from "./initial-objects.ts";
import { installCrds } from "./install-crds.ts";
import { createObjects } from "./load-objects.ts";
import { textAt } from "./object-fields.ts";
import { isInternalFailure, startSimulatedCluster } from "./simulated-cluster.ts";
import { openJournal } from "./store/file-journal.ts";
import type { Journal, JournalEntry } from "./store/journal.ts";

export interface ControlPlaneOptions {
  /** Real time, which certificates go by; the cluster's own time may run faster. */
  readonly realClock: Clock;
  /** Grants full access to the API server. */
  readonly token: string;
  readonly host: string;
  /** Names and addresses of this machine, for the certificate of a server that listens on all of them. */
  readonly machineHosts?: readonly string[] | undefined;
  /** Zero: any free port. */
  readonly port: number;
  /** Serve without TLS, on loopback only. */
  readonly isPlainHttp: boolean;
  /** How much faster than real time the cluster's time runs. */
  readonly speed: number;
  /** How many simulated nodes to start with. */
  readonly nodes: number;
  /** Where those nodes are; in a region of their own by default. */
  readonly nodePlacement?: InstancePlacement | undefined;
  /** Where the certificate is stored between runs. */
  readonly folder: string;
  /** Where the cluster is persisted; in memory only, unless given. (05:CP-T5) */
  readonly data?: DataFolderOptions | undefined;
  /** Instances of a simulated cloud in addition to nodes; called once, after the data folder was read. */
  readonly cloudInstances?: ((context: ControlPlaneContext) => Promise<InstanceSource>) | undefined;
  /** The source of container logs. */
  readonly logs?: LogSource | undefined;
  readonly onInternalError: (error: unknown) => void;
}

/** What a control plane is built from. */
interface ControlPlaneContext {
  readonly api: ApiServer;
  readonly random: Random;
}

interface DataFolderOptions {
  readonly folder: string;
  /** Whether to drop everything after a damaged record. */
  readonly recover: boolean;
  readonly compactAfterBytes?: number | undefined;
}

/** A running control plane. */
export interface ControlPlane extends ServedApi, ControlPlaneContext {
  /** Writes that were lost in recovery, to show to the user. */
  readonly losses: readonly string[];
}

/** Starts an API server with our CRDs, its HTTP listener and a simulated cluster: what `karpenter up` runs. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { host, port, token, isPlainHttp, folder, realClock, onInternalError } = options;
  const cleanups: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const step of cleanups.splice(0).reverse()) await step();
  };
  const random = new Random(`up-${realClock.now()}`);
  try {
    const certificate = isPlainHttp
      ? undefined
      : await loadOrCreateCertificate(folder, { hosts: hostsOf(options), now: realClock.now() });
    const { api, losses } = await openServer(options, { random, cleanups });
    const served = await serveApi(api, { host, port, token, certificate, onInternalError });
    cleanups.push(() => served.close());
    await installCrds(api, "all");
    await createObjects(api, initialObjects);
    const controllers = await runCluster(options, { api, random });
    cleanups.push(() => controllers.stop());
    return { ...served, api, random, losses, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The names and addresses the server is reached by. On all addresses that is every name and address of the machine. */
function hostsOf({ host, machineHosts = [] }: ControlPlaneOptions): readonly string[] {
  const own = loopbackOf.has(host) ? machineHosts : [host];
  return [...new Set([...own, "127.0.0.1", "::1", "localhost"])];
}

interface StartupContext {
  readonly random: Random;
  /** Cleanups, run in reverse order. */
  readonly cleanups: (() => Promise<void>)[];
}

/** Starts the API server with the contents of its data folder. */
async function openServer(
  { data, speed, logs, realClock, onInternalError }: ControlPlaneOptions,
  { random, cleanups }: StartupContext,
): Promise<{ readonly api: ApiServer; readonly losses: readonly string[] }> {
  if (data === undefined)
    return { api: new ApiServer({ clock: clusterClock(realClock, { speed }), random, logs }), losses: [] };
  const openedJournal = await openJournal(data.folder, { recover: data.recover });
  cleanups.push(openedJournal.abandon);
  const clock = clusterClock(realClock, { speed, lastAt: openedJournal.lastAt });
  let snapshot: () => Iterable<JournalEntry> = () => [];
  const journal: Journal & { close(): Promise<void> } = await openedJournal.begin({
    now: () => clock.now(),
    snapshot: () => snapshot(),
    compactAfterBytes: data.compactAfterBytes,
    onCompactionError: onInternalError,
  });
  cleanups.push(() => journal.close());
  const api = new ApiServer({ clock, random, logs, journal, restore: openedJournal.entries });
  snapshot = () => api.snapshot();
  return { api, losses: openedJournal.losses };
}

/** Time never runs backwards: a cluster that ran accelerated continues from its own last time. */
function clusterClock(
  realClock: Clock,
  { speed, lastAt = 0 }: { readonly speed: number; readonly lastAt?: number | undefined },
): Clock {
  const startAt = Math.max(realClock.now(), lastAt);
  return speed === 1 && startAt === realClock.now()
    ? realClock
    : acceleratedClock({ speed, clock: realClock, startAt });
}

const nodeWaitMs = 10_000; // real time

/** Starts the simulated cluster, including nodes of an earlier run. Resolves when the nodes are registered. */
async function runCluster(
  { nodes, nodePlacement: placement, cloudInstances, realClock, onInternalError }: ControlPlaneOptions,
  { api, random }: ControlPlaneContext,
): Promise<{ stop(): Promise<void> }> {
  const { clock } = api;
  const kind = api.kinds.get(builtInTypes.Node);
  const earlier = (await api.list(kind)).items.flatMap((node) => ordinalOf(node) ?? []);
  const ordinals = new Set([...Array.from({ length: nodes }, (_, index) => index + 1), ...earlier]);
  const instances = [...ordinals].map((ordinal) => defaultInstance(ordinal, { launchedAt: clock.now(), placement }));
  const plainInstances = new InstanceList(instances);
  const controllers = startSimulatedCluster({
    api,
    clock,
    random: random.fork("loops"),
    instances:
      cloudInstances === undefined
        ? plainInstances
        : combinedInstanceSource(plainInstances, await cloudInstances({ api, random })),
    onFailure: (failure) => {
      if (isInternalFailure(failure)) onInternalError(failure.error);
    },
  });
  await untilNodes(api, { missing: new Set(instances.map(({ nodeName }) => nodeName)), realClock });
  return controllers;
}

/** Waits at most 10 s: the cluster is usable without all its nodes. */
async function untilNodes(
  api: ApiServer,
  { missing, realClock }: { readonly missing: Set<string>; readonly realClock: Clock },
): Promise<void> {
  if (missing.size === 0) return;
  const timeout = new AbortController();
  const timer = realClock.setTimer(nodeWaitMs, () => timeout.abort());
  for await (const event of api.watch(api.kinds.get(builtInTypes.Node), { signal: timeout.signal })) {
    if (event.type === "ADDED") missing.delete(event.object.metadata.name ?? "");
    if (missing.size === 0) break;
  }
  timer.cancel();
}

/** The ordinal of one of our own simulated nodes. */
function ordinalOf({ metadata, spec }: KubeObject): number | undefined {
  const ordinal = /^node-([1-9]\d{0,5})$/.exec(metadata.name ?? "")?.[1];
  return ordinal !== undefined && textAt(spec, "providerID") === `simulated:///node-${ordinal}`
    ? Number(ordinal)
    : undefined;
}
