import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { collectDefaultMetrics } from "prom-client";
import { accessFailure } from "../../kube/access-failure.ts";
import type { KubeClient } from "../../kube/client.ts";
import { bearerAccess } from "../../operator/bearer-access.ts";
import { explainRoutes } from "../../operator/explain-routes.ts";
import { jsonLogger } from "../../operator/json-logger.ts";
import { type FrameworkMetrics, frameworkMetrics } from "../../operator/metrics/framework-metrics.ts";
import { promMetrics } from "../../operator/metrics/prom-metrics.ts";
import { type OperatorDependencies, type RunningOperator, startOperator } from "../../operator/operator.ts";
import { metricsRoutes } from "../../operator/operator-routes.ts";
import { type OperatorOptions, readOptions } from "../../operator/options.ts";
import { profilingRoutes } from "../../operator/profiling-routes.ts";
import { wallClockBudget } from "../../operator/wall-clock-budget.ts";
import type { Logger } from "../../util/logger.ts";
import { timeSlicePause } from "../../util/pause.ts";
import { Random } from "../../util/random.ts";
import { TokenBucket } from "../../util/token-bucket.ts";
import { type OpenCluster, openCluster } from "../connect.ts";
import { type ExitCode, errorCodeOf, exitCodes, type Io } from "../io.ts";
import type { ClusterChoice } from "../live-cluster.ts";
import type { UntilStopped } from "../until-stopped.ts";
import { logDestination } from "./log-destination.ts";
import { openProvider } from "./open-provider.ts";
import { portsOf, serveAll } from "./serve-all.ts";
import type { UsageProblems } from "./usage-problems.ts";

export interface RunOperatorOptions {
  readonly io: Io;
  readonly version: string;
  readonly untilStopped: UntilStopped;
  readonly flags: Readonly<Record<string, string | true | undefined>>;
  readonly cluster: ClusterChoice;
}

/** What the process exits with, and whether it must exit at once. */
export interface RunResult {
  readonly code: ExitCode;
  readonly mustExitNow: boolean;
}

/** Runs the controllers until the process is asked to stop or loses the lease. */
export async function runOperator(request: RunOperatorOptions): Promise<RunResult | UsageProblems> {
  const { io, flags } = request;
  const reading = await readOptions({ flags, env: io.env, readFile: readFileIfExists });
  if (reading.kind === "refused") return { problems: reading.problems };
  const { options } = reading;
  const destination = await logDestination(options.logPaths, io);
  if ("problems" in destination) return destination;
  const clock = { now: () => Date.now() };
  const log = jsonLogger({ level: options.logLevel, destination, clock, commit: request.version });
  try {
    const cluster = await openCluster(io, request.cluster);
    try {
      return await runOnCluster(cluster, { ...request, options, log });
    } catch (error) {
      throw accessFailure(error, cluster.address);
    } finally {
      cluster.close();
    }
  } catch (error) {
    log.error("failed to start", { error });
    return { code: exitCodes.badInput, mustExitNow: false };
  }
}

interface RunContext extends RunOperatorOptions {
  readonly options: OperatorOptions;
  readonly log: Logger;
}

async function runOnCluster(cluster: OpenCluster, context: RunContext): Promise<RunResult | UsageProblems> {
  const { options, version, log } = context;
  const stopping = new AbortController();
  const stopRequested = context.untilStopped().then(() => stopping.abort()); // signals are handled from here on
  const metricSet = createMetrics(version);
  const pause = timeSlicePause({ now: () => performance.now(), nextTurn: yieldToEventLoop });
  const clients = createClients(cluster, { ...context, framework: metricSet.framework });
  const random = new Random(`${hostname()}-${cluster.clock.now()}-${process.pid}`);
  const serverVersion = () => cluster.version({ userAgent: `karpenter/${version}` });
  const opening = openProvider({
    client: clients.client,
    clock: cluster.clock,
    signal: stopping.signal,
    options,
    readFile: readFileIfExists,
    host: {
      ...{ log, version, serverVersion, env: context.io.env, metrics: metricSet.metrics },
      random: random.fork("provider"),
      connectionCa: cluster.certificateAuthority,
    },
  });
  opening.catch(() => {}); // after a stop nobody awaits it
  const opened = await Promise.race([opening, stopRequested]);
  if (opened === undefined) {
    log.info("stopping");
    return { code: exitCodes.ok, mustExitNow: false };
  }
  if ("problems" in opened) return opened;
  let signalLost: (end: "lost") => void = () => {};
  const lost = new Promise<"lost">((resolve) => {
    signalLost = resolve;
  });
  const { provider } = opened;
  const operator = startOperatorOn(cluster, {
    ...context,
    ...clients,
    metricSet,
    provider,
    random,
    serverVersion,
    pause,
    onLeaseLost: () => signalLost("lost"),
  });
  const profiles = options.isProfiled ? profilingRoutes(cluster.clock) : {};
  const access = bearerAccess({ client: clients.client, clock: cluster.clock });
  const routes = {
    ...metricsRoutes(metricSet.registry, yieldToEventLoop),
    ...explainRoutes({ explanations: operator.explanations, access }),
    ...profiles,
  };
  const servers = await serveAll(operator, { options, log, routes });
  log.info("started", { server: cluster.server, provider: provider.name, version, ...portsOf(servers) });
  const isLost = (await Promise.race([stopRequested, lost])) === "lost";
  log.info(isLost ? "lost the lease, exiting" : "stopping");
  await stopOperator(operator, { log, isLost });
  await Promise.all(servers.map((server) => server.close()));
  return { code: isLost ? exitCodes.badInput : exitCodes.ok, mustExitNow: isLost };
}

function createMetrics(version: string) {
  const build = { version, commit: version, runtime: process.version, arch: process.arch };
  const { metrics, registry } = promMetrics({ build });
  collectDefaultMetrics({ register: registry });
  return { metrics, registry, framework: frameworkMetrics(registry) };
}

interface StartContext
  extends RunContext,
    Pick<
      OperatorDependencies,
      "client" | "leaseClient" | "provider" | "random" | "serverVersion" | "pause" | "onLeaseLost"
    > {
  readonly metricSet: ReturnType<typeof createMetrics>;
}

function startOperatorOn(cluster: OpenCluster, { options, metricSet, ...rest }: StartContext): RunningOperator {
  const { metrics, framework } = metricSet;
  const { client, leaseClient, provider, random, serverVersion, log, pause, onLeaseLost } = rest;
  const { settings, lease, isWarmedUp, solveBudgetMs } = options;
  const { clock, namespace } = cluster;
  return startOperator({
    client,
    leaseClient,
    provider,
    settings,
    clock,
    random,
    log,
    metrics,
    openBudget: wallClockBudget({ totalMs: solveBudgetMs, now: () => performance.now(), yieldToEventLoop }),
    pause,
    serverVersion,
    identity: `${hostname()}_${random.fork("identity").hex(16)}`,
    leaderElection: lease && {
      name: lease.name,
      namespace: lease.namespace || namespace,
      isWarmedUp,
      onChange: (isLeader) => framework.recordLeadership(lease.name, isLeader),
    },
    observe: framework.observerFor,
    onLeaseLost,
  });
}

/** Long enough to record a launch; shorter than the default termination grace period of 30 s. */
const stopTimeoutMs = 20_000;

/** Stops the controllers; does not wait for them when the lease was lost. */
async function stopOperator(
  operator: RunningOperator,
  { log, isLost }: { log: Logger; isLost: boolean },
): Promise<void> {
  const untilStopped = operator.stop();
  if (isLost) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(resolve, stopTimeoutMs, "late");
  });
  if ((await Promise.race([untilStopped, late])) === "late") log.error("controllers did not stop in time");
  clearTimeout(timer);
}

/** The lease has its own client, so that rate limiting cannot delay its renewal. (03 §6.5) */
function createClients(
  cluster: OpenCluster,
  { framework, options, version, log }: RunContext & { readonly framework: FrameworkMetrics },
): { readonly client: KubeClient; readonly leaseClient: KubeClient } {
  const common = { userAgent: `karpenter/${version}`, onRequest: framework.recordRequest };
  const bucket = new TokenBucket(options.kubeRate, cluster.clock);
  const onWarning = (text: string): void => log.debug("API server warning", { warning: text });
  return {
    client: cluster.client({ ...common, onWarning, waitForRateLimit: (signal) => bucket.take(signal) }),
    leaseClient: cluster.client({ ...common, timeoutMs: leaseTimeoutMs }),
  };
}

/** A renewal that takes longer is retried. */
const leaseTimeoutMs = 5_000;

async function readFileIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errorCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
