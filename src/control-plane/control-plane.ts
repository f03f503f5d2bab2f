import type { KubeObject } from "../api/object.ts";
import { InstanceList, type InstanceSource, plainInstance } from "../cloud/instance-source.ts";
import { joinedInstances } from "../cloud/joined-instances.ts";
import { builtIn } from "../kube/resources.ts";
import { acceleratedClock, type Clock, systemClock } from "../util/clock.ts";
import { Random } from "../util/random.ts";
import { ApiServer } from "./api/server.ts";
import type { LogSource } from "./api/subresources/log.ts";
import { isFaultOfOurs, startCluster } from "./cluster.ts";
import { installCrds } from "./custom-kinds.ts";
import { type ServedApi, serveApi } from "./http/serve.ts";
import { keptCertificate } from "./http/state-folder.ts";
import { textAt } from "./kinds/draft.ts";
import { createObjects } from "./load.ts";
import { openJournal } from "./store/file-journal.ts";
import type { Journal, JournalEntry } from "./store/journal.ts";

export interface ControlPlaneOptions {
  readonly host: string;
  /** Zero: any that is free. */
  readonly port: number;
  /** Without TLS, on loopback only. */
  readonly isPlain: boolean;
  /** How much faster than the wall clock time runs in the cluster. */
  readonly speed: number;
  /** Simulated nodes to begin with. */
  readonly nodes: number;
  /** Where the certificate is kept from run to run. */
  readonly folder: string;
  /** Where the cluster is kept; in memory alone, unless given. (05:CP-T5) */
  readonly data?: DataOptions | undefined;
  /** More machines than those: a simulated cloud's. Asked once, when what the data folder kept is there. */
  readonly machines?: ((world: World) => Promise<InstanceSource>) | undefined;
  /** Where the output of containers comes from. */
  readonly logs?: LogSource | undefined;
  readonly onFault: (error: unknown) => void;
}

/** What a cluster is made of. */
export interface World {
  readonly api: ApiServer;
  readonly random: Random;
}

export interface DataOptions {
  readonly folder: string;
  /** Whether to go on with what is before a damage. */
  readonly recover: boolean;
  readonly compactAfterBytes?: number | undefined;
}

/** A running control plane. */
export interface ControlPlane extends ServedApi, World {
  /** What of an earlier life could not be kept, for the user. */
  readonly losses: readonly string[];
}

/** The composition of `karpenter up`: an API server with our kinds, on a socket, and the loops behind it. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { host, port, isPlain, folder, onFault } = options;
  const undo: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  const random = new Random(`up-${systemClock().now()}`);
  try {
    const certificate = isPlain ? undefined : await keptCertificate(folder, certificateFor(host));
    const { api, losses } = await openServer(options, { random, undo });
    const served = await serveApi(api, { host, port, certificate, onFault });
    undo.push(() => served.close());
    await installCrds(api, "all");
    await createObjects(api, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "karpenter" } }]);
    const loops = await runLoops(options, { api, random });
    undo.push(() => loops.stop());
    return { ...served, api, random, losses, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The certificate is of the real world: its time is not the cluster's. */
function certificateFor(host: string): { readonly hosts: readonly string[]; readonly now: number } {
  const hosts = [...new Set([host, "127.0.0.1", "::1", "localhost"])];
  return { hosts: hosts.filter((one) => one !== "0.0.0.0" && one !== "::"), now: systemClock().now() };
}

interface Making {
  readonly random: Random;
  /** How to take back what was done, last first. */
  readonly undo: (() => Promise<void>)[];
}

/** The API server with what its data folder kept. */
async function openServer(
  { data, speed, logs, onFault }: ControlPlaneOptions,
  { random, undo }: Making,
): Promise<{ readonly api: ApiServer; readonly losses: readonly string[] }> {
  if (data === undefined)
    return { api: new ApiServer({ clock: clockFrom(undefined, speed), random, logs }), losses: [] };
  const kept = await openJournal(data.folder, { recover: data.recover });
  undo.push(kept.abandon);
  const clock = clockFrom(kept.lastAt, speed);
  let snapshot: () => Iterable<JournalEntry> = () => [];
  const journal: Journal & { close(): Promise<void> } = await kept.begin({
    now: () => clock.now(),
    snapshot: () => snapshot(),
    compactAfterBytes: data.compactAfterBytes,
    onTrouble: onFault,
  });
  undo.push(() => journal.close());
  const api = new ApiServer({ clock, random, logs, journal, restore: kept.entries });
  snapshot = () => api.snapshot();
  return { api, losses: kept.losses };
}

/** A cluster whose time ran faster goes on from its own time: nothing in it may lie in its future. */
function clockFrom(lastAt: number | undefined, speed: number): Clock {
  const system = systemClock();
  const startAt = Math.max(system.now(), lastAt ?? 0);
  return speed === 1 && startAt === system.now() ? system : acceleratedClock({ speed, startAt });
}

const nodesWithin = 10_000; // of real time

/** Starts the loops; machines of an earlier life come up again. Resolves when the nodes are there. */
async function runLoops(
  { nodes, machines: more, onFault }: ControlPlaneOptions,
  { api, random }: World,
): Promise<{ stop(): Promise<void> }> {
  const { clock } = api;
  const kind = api.kinds.get(builtIn.Node);
  const earlier = (await api.list(kind)).items.flatMap((node) => ordinalOf(node) ?? []);
  const wanted = new Set([...Array.from({ length: nodes }, (_, index) => index + 1), ...earlier]);
  const machines = [...wanted].map((ordinal) => plainInstance(ordinal, { launchedAt: clock.now() }));
  const plain = new InstanceList(machines);
  const loops = startCluster({
    api,
    clock,
    random: random.fork("loops"),
    instances: more === undefined ? plain : joinedInstances(plain, await more({ api, random })),
    onTrouble: (trouble) => {
      if (isFaultOfOurs(trouble)) onFault(trouble.error);
    },
  });
  await untilNodes(api, new Set(machines.map(({ nodeName }) => nodeName)));
  return loops;
}

/** Not for ever: without all its nodes a cluster is of use too. */
async function untilNodes(api: ApiServer, missing: Set<string>): Promise<void> {
  if (missing.size === 0) return;
  const patience = new AbortController();
  const timer = systemClock().setTimer(nodesWithin, () => patience.abort());
  for await (const event of api.watch(api.kinds.get(builtIn.Node), { signal: patience.signal })) {
    if (event.type === "ADDED") missing.delete(event.object.metadata.name ?? "");
    if (missing.size === 0) break;
  }
  timer.cancel();
}

/** Which of our plain machines a Node was. */
function ordinalOf({ metadata, spec }: KubeObject): number | undefined {
  const ordinal = /^node-([1-9]\d{0,5})$/.exec(metadata.name ?? "")?.[1];
  return ordinal !== undefined && textAt(spec, "providerID") === `simulated:///node-${ordinal}`
    ? Number(ordinal)
    : undefined;
}
