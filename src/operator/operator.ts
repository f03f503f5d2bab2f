import type { CloudProvider } from "../cloud/cloud-provider.ts";
import { overlaidProvider } from "../cloud/overlaid-provider.ts";
import { OverlayStore } from "../cloud/overlay-store.ts";
import type { ControllerDependencies } from "../controllers/controller-dependencies.ts";
import type { OpenSearch } from "../controllers/disruption/search-budget.ts";
import { Explanations } from "../controllers/explanations.ts";
import type { Metrics } from "../controllers/metrics/metrics.ts";
import { ProvisioningTrigger } from "../controllers/provisioning/provisioning-trigger.ts";
import { nominationMs, type Settings } from "../controllers/settings.ts";
import type { OpenWorkBudget } from "../controllers/work-budget.ts";
import type { KubeClient } from "../kube/client.ts";
import { runWhileLeader } from "../kube/leader-election.ts";
import type { ReconcilerObserver } from "../kube/reconciler.ts";
import type { ServerVersion } from "../kube/server-version.ts";
import { BufferPods } from "../state/buffer-pods.ts";
import { ClusterState } from "../state/cluster-state.ts";
import { clusterStateController } from "../state/cluster-state-controller.ts";
import { RegistrationHealth } from "../state/registration-health.ts";
import { whenAborted } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import type { Logger } from "../util/logger.ts";
import type { Pause } from "../util/pause.ts";
import type { Random } from "../util/random.ts";
import { allControllers } from "./all-controllers.ts";
import { ControllerRun } from "./controller-run.ts";
import { crdsServed } from "./crds-served.ts";
import { nominationSupport } from "./nomination-support.ts";

export interface OperatorDependencies {
  readonly client: KubeClient;
  /** A separate client, so that throttling cannot cost the lease. (03 §6.5) */
  readonly leaseClient: KubeClient;
  readonly provider: CloudProvider;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly openBudget: OpenWorkBudget;
  /** When searches for nodes to disrupt end; by the clock, unless given. */
  readonly openSearch?: OpenSearch | undefined;
  /** Yields while many objects arrive. */
  readonly pause?: Pause | undefined;
  /** The version of the API server; unless given, nothing is done that needs a recent one. (02:L-40) */
  readonly serverVersion?: (() => Promise<ServerVersion>) | undefined;
  /** Unique among all processes that may lead. */
  readonly identity: string;
  /** Without it the operator leads at once. */
  readonly leaderElection?: LeaderElection | undefined;
  /** Observes the reconciles of each controller, for metrics. */
  readonly observe?: ((controller: string) => ReconcilerObserver) | undefined;
  /** The lease was lost: the process should exit. */
  readonly onLeaseLost?: (() => void) | undefined;
}

interface LeaderElection {
  readonly name: string;
  readonly namespace: string;
  /** Whether to watch the cluster before leading; off by default. (03 §6.4: --disable-controller-warmup) */
  readonly isWarmedUp?: boolean | undefined;
  readonly onChange?: ((isLeader: boolean) => void) | undefined;
}

export interface RunningOperator {
  /** Resolves when every controller has started; never for an operator that does not get to lead. */
  readonly started: Promise<void>;
  /** Leading, or ready to lead. (03 §6.5) */
  isReady(): boolean;
  /** Lets running reconciles finish, then releases the lease. */
  stop(): Promise<void>;
  readonly dependencies: ControllerDependencies;
  /** Answers questions about nodes and pods while the controllers run. */
  readonly explanations: Explanations;
}

/**
 * The whole controller process, on a real cluster or on a virtual clock. It keeps no state beside the cluster and the
 * cloud: a restart loses nothing. (docs/designs/determinism.md)
 */
export function startOperator(options: OperatorDependencies): RunningOperator {
  const stopping = new AbortController();
  const explanations = new Explanations();
  const { dependencies, controllerRun } = assemble({ ...options, explanations }, stopping.signal);
  const { clock, leaderElection, log, onLeaseLost } = options;
  if (leaderElection?.isWarmedUp) controllerRun.watch();
  const areCrdsServed = crdsServed({ client: options.client, clock, log, signal: stopping.signal });
  const ended = lead(options, { controllerRun, signal: stopping.signal }).then(
    (end) => {
      if (end !== "lost") return;
      log.error("lost the lease");
      onLeaseLost?.();
    },
    (error: unknown) => log.error("leader election failed", { error }),
  );
  return {
    started: controllerRun.started,
    isReady: () => areCrdsServed() && (!controllerRun.isWatching || controllerRun.hasStarted),
    stop: async () => {
      stopping.abort();
      await ended;
      await controllerRun.stop();
    },
    dependencies,
    explanations,
  };
}

function assemble(
  options: OperatorDependencies & { readonly explanations: Explanations },
  signal: AbortSignal,
): {
  readonly dependencies: ControllerDependencies;
  readonly controllerRun: ControllerRun;
} {
  const { provider, settings, clock, log, metrics, openBudget } = options;
  const serverVersion = settings.nominatePods ? options.serverVersion : undefined;
  const overlays = new OverlayStore();
  const cluster = new ClusterState({
    clock,
    servedNodeClasses: provider.nodeClasses,
    nominationMs: nominationMs(settings),
  });
  const dependencies: ControllerDependencies = {
    cluster,
    cloud: settings.gates.NodeOverlay ? overlaidProvider(provider, overlays) : provider,
    registrationHealth: new RegistrationHealth(),
    bufferPods: new BufferPods(),
    trigger: new ProvisioningTrigger(),
    overlaidTypes: overlays.overlaid,
    settings,
    nominatesPods: nominationSupport({ serverVersion, clock, log, signal }),
    openBudget,
    openSearch: options.openSearch,
    metrics,
    explanations: options.explanations,
  };
  const controllerRun = new ControllerRun({
    ...options,
    stateController: clusterStateController(cluster),
    controllers: allControllers({ dependencies, provider, overlays, clock }),
  });
  return { dependencies, controllerRun };
}

/** Runs the controllers while we hold the lease. */
async function lead(
  { leaseClient, clock, random, log, identity, leaderElection }: OperatorDependencies,
  { controllerRun, signal }: { readonly controllerRun: ControllerRun; readonly signal: AbortSignal },
): Promise<"stopped" | "finished" | "lost"> {
  const work = async (term: AbortSignal): Promise<void> => {
    leaderElection?.onChange?.(true);
    controllerRun.startLeading();
    await whenAborted(term);
    await controllerRun.stop();
    leaderElection?.onChange?.(false);
  };
  if (leaderElection === undefined) {
    await work(signal);
    return "stopped";
  }
  const { name, namespace } = leaderElection;
  leaderElection.onChange?.(false);
  return runWhileLeader(
    work,
    {
      kube: leaseClient,
      clock,
      random: random.fork("leader-election"),
      lease: { name, namespace },
      identity,
      onNewLeader: (leader) =>
        log.info(leader === identity ? "became the leader" : "waiting for the leader", { leader }),
      onError: (error) => log.error("cannot renew the lease", { error }),
    },
    signal,
  );
}
