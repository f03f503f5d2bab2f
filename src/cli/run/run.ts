import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { collectDefaultMetrics } from "prom-client";
import type { KubeClient } from "../../kube/client.ts";
import { TokenBucket } from "../../kube/token-bucket.ts";
import { metricsRoutes } from "../../operator/endpoints.ts";
import { jsonLog } from "../../operator/log.ts";
import { type FrameworkMetrics, frameworkMetrics } from "../../operator/metrics/framework-metrics.ts";
import { promMetrics } from "../../operator/metrics/prom-metrics.ts";
import { type OperatorParts, type RunningOperator, startOperator } from "../../operator/operator.ts";
import { type OperatorOptions, readOptions } from "../../operator/options.ts";
import { profilingRoutes } from "../../operator/profiling.ts";
import { wallBudget } from "../../operator/wall-budget.ts";
import type { Logger } from "../../util/logger.ts";
import { pausing } from "../../util/pause.ts";
import { Random } from "../../util/random.ts";
import { type OpenCluster, openCluster } from "../connect.ts";
import { type ExitCode, exitCodes, type Io } from "../io.ts";
import type { ClusterChoice } from "../live.ts";
import type { Stopped } from "../stopped.ts";
import { logDestination } from "./log-destination.ts";
import { openProvider } from "./open-provider.ts";
import { portsOf, serveAll } from "./serve-all.ts";

export interface RunOptions {
  readonly io: Io;
  readonly version: string;
  readonly stopped: Stopped;
  readonly flags: Readonly<Record<string, string | true | undefined>>;
  readonly cluster: ClusterChoice;
}

/** What is wrong with the command line. */
export interface Misuse {
  readonly problems: readonly string[];
}

/** What to end with, and whether nothing may be waited for. */
export interface RunEnd {
  readonly code: ExitCode;
  readonly isUrgent: boolean;
}

/** Runs until told to stop. */
export async function run(request: RunOptions): Promise<RunEnd | Misuse> {
  const { io, flags } = request;
  const reading = await readOptions({ flags, env: io.env, readFile: fileIfThere });
  if (reading.kind === "refused") return { problems: reading.problems };
  const { options } = reading;
  const destination = logDestination(options.logPaths, io);
  const clock = { now: () => Date.now() };
  const log = jsonLog({ level: options.logLevel, destination, clock, commit: request.version });
  try {
    const cluster = await openCluster(io, request.cluster);
    try {
      return await runOn(cluster, { ...request, options, log });
    } finally {
      cluster.close();
    }
  } catch (error) {
    log.error("cannot run", { error });
    return { code: exitCodes.badInput, isUrgent: false };
  } finally {
    destination.flush();
  }
}

interface Running extends RunOptions {
  readonly options: OperatorOptions;
  readonly log: Logger;
}

async function runOn(cluster: OpenCluster, running: Running): Promise<RunEnd | Misuse> {
  const { options, version, log } = running;
  const toldToStop = running.stopped(); // from now on we say goodbye
  const measures = measuresOf(version);
  const pause = pausing({ now: () => performance.now(), turn });
  const clients = clientsOf(cluster, { framework: measures.framework, options, version, log });
  const opened = await openProvider({ client: clients.client, clock: cluster.clock, options, readFile: fileIfThere });
  if ("problems" in opened) return opened;
  let lose: (end: "lost") => void = () => {};
  const lost = new Promise<"lost">((resolve) => {
    lose = resolve;
  });
  const { provider } = opened;
  const operator = startOn(cluster, { ...running, ...clients, measures, provider, pause, onLost: () => lose("lost") });
  const profiles = options.isProfiled ? profilingRoutes(cluster.clock) : {};
  const routes = { ...metricsRoutes(measures.registry, turn), ...profiles };
  const servers = await serveAll(operator, { options, log, routes });
  log.info("started", { server: cluster.server, provider: provider.name, version, ...portsOf(servers) });
  const isLost = (await Promise.race([toldToStop, lost])) === "lost";
  log.info(isLost ? "ending" : "stopping");
  await wound(operator, { log, isLost });
  await Promise.all(servers.map((server) => server.close()));
  return { code: isLost ? exitCodes.badInput : exitCodes.ok, isUrgent: isLost };
}

function measuresOf(version: string) {
  const build = { version, commit: version, runtime: process.version, arch: process.arch };
  const { metrics, registry } = promMetrics({ build });
  collectDefaultMetrics({ register: registry });
  return { metrics, registry, framework: frameworkMetrics(registry) };
}

interface Starting extends Running, Pick<OperatorParts, "client" | "leaseClient" | "provider" | "pause" | "onLost"> {
  readonly measures: ReturnType<typeof measuresOf>;
}

function startOn({ clock, namespace }: OpenCluster, { options, measures, ...rest }: Starting): RunningOperator {
  const { metrics, framework } = measures;
  const { client, leaseClient, provider, log, pause, onLost } = rest;
  const { settings, lease, isWarmedUp, solveBudgetMs } = options;
  const random = new Random(`${hostname()}-${clock.now()}-${process.pid}`);
  return startOperator({
    client,
    leaseClient,
    provider,
    settings,
    clock,
    random,
    log,
    metrics,
    budgets: wallBudget({ totalMs: solveBudgetMs, now: () => performance.now(), turn }),
    pause,
    identity: `${hostname()}_${random.fork("identity").hex(16)}`,
    leaderElection: lease && {
      name: lease.name,
      namespace: lease.namespace || namespace,
      isWarmedUp,
      onChange: (isLeader) => framework.leads(lease.name, isLeader),
    },
    observe: framework.observe,
    onLost,
  });
}

/** Long enough for a launch to be noted; shorter than a kubelet's patience. */
const patienceMs = 20_000;

/** Waits for the controllers to wind up; where the lease is lost nobody may wait for anything. */
async function wound(operator: RunningOperator, { log, isLost }: { log: Logger; isLost: boolean }): Promise<void> {
  const stopped = operator.stop();
  if (isLost) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(resolve, patienceMs, "late");
  });
  if ((await Promise.race([stopped, late])) === "late") log.error("controllers did not stop in time");
  clearTimeout(timer);
}

interface Clients {
  readonly framework: FrameworkMetrics;
  readonly options: OperatorOptions;
  readonly version: string;
  readonly log: Logger;
}

/** The lease has a client of its own: throttling must not cost the leadership. (03 §6.5) */
function clientsOf(
  cluster: OpenCluster,
  { framework, options, version, log }: Clients,
): { readonly client: KubeClient; readonly leaseClient: KubeClient } {
  const common = { userAgent: `karpenter/${version}`, onRequest: framework.requested };
  const bucket = new TokenBucket(options.kubeRate, cluster.clock);
  const onWarning = (text: string): void => log.debug("the API server warns", { warning: text });
  return {
    client: cluster.client({ ...common, onWarning, admit: () => bucket.take() }),
    leaseClient: cluster.client({ ...common, timeoutMs: leaseTimeoutMs }),
  };
}

/** A renewal that takes longer is better tried again. */
const leaseTimeoutMs = 5_000;

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

async function fileIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
