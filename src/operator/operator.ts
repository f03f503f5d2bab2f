import type { CloudProvider } from "../cloud/cloud-provider.ts";
import { overlaidProvider } from "../cloud/overlaid-provider.ts";
import { OverlayStore } from "../cloud/overlay-store.ts";
import type { ControllerDependencies } from "../controllers/controller-dependencies.ts";
import type { Metrics } from "../controllers/metrics/metrics.ts";
import { ProvisioningTrigger } from "../controllers/provisioning/provisioning-trigger.ts";
import { nominationMs, type Settings } from "../controllers/settings.ts";
import type { OpenWorkBudget } from "../controllers/work-budget.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Controller } from "../kube/controller.ts";
import { runWhileLeader } from "../kube/leader-election.ts";
import type { ReconcilerObserver } from "../kube/reconciler.ts";
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

export interface OperatorDependencies {
  readonly client: KubeClient;
  /** A client of its own, so that throttling of the other cannot cost the leadership. (03 §6.5) */
  readonly leaseClient: KubeClient;
  readonly provider: CloudProvider;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly openBudget: OpenWorkBudget;
  /** Asked while much arrives at once: others get a turn. */
  readonly pause?: Pause | undefined;
  /** Unique among all that may lead. */
  readonly identity: string;
  /** Undefined: leads without asking. */
  readonly leaderElection?: LeaderElection | undefined;
  /** Hears of the runs of each controller, for metrics. */
  readonly observe?: ((loop: string) => ReconcilerObserver) | undefined;
  /** Another may lead from now on: the process should end. */
  readonly onLeaseLost?: (() => void) | undefined;
}

export interface LeaderElection {
  readonly name: string;
  readonly namespace: string;
  /** Whether to watch the cluster before leading; not, unless said. (03 §6.4: --disable-controller-warmup) */
  readonly isWarmedUp?: boolean | undefined;
  readonly onChange?: ((isLeader: boolean) => void) | undefined;
}

export interface RunningOperator {
  /** Resolves when every controller has seen the world and begun: for one that does not lead, perhaps never. */
  readonly started: Promise<void>;
  /** Whether it is of use: as a leader, or as one that could lead at once. (03 §6.5) */
  isReady(): boolean;
  /** Lets the controllers finish what they are at, then gives the lease back. */
  stop(): Promise<void>;
  readonly dependencies: ControllerDependencies;
}

/**
 * The controller, whole: on a real cluster, or on the virtual clock without a socket. Everything it knows beside what
 * the cluster and the cloud say dies with it. (docs/designs/determinism.md)
 */
export function startOperator(options: OperatorDependencies): RunningOperator {
  const { dependencies, controllers } = assemble(options);
  const { clock, leaderElection, log, onLeaseLost } = options;
  const stopping = new AbortController();
  const controllerRun = new ControllerRun(options, controllers);
  if (leaderElection?.isWarmedUp) controllerRun.watch();
  const areCrdsServed = crdsServed({ client: options.client, clock, log, signal: stopping.signal });
  const ended = lead(options, { controllerRun, signal: stopping.signal }).then(
    (end) => {
      if (end !== "lost") return;
      log.error("lost the lease, another may lead");
      onLeaseLost?.();
    },
    (error: unknown) => log.error("leading failed", { error }),
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
  };
}

function assemble(options: OperatorDependencies): {
  readonly dependencies: ControllerDependencies;
  readonly controllers: readonly Controller[];
} {
  const { provider, settings, clock, log, metrics, openBudget } = options;
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
    settings,
    openBudget,
    metrics,
    log,
  };
  const trigger = new ProvisioningTrigger();
  return {
    dependencies,
    controllers: [
      clusterStateController(cluster),
      ...allControllers({ dependencies, provider, overlays, trigger, clock }),
    ],
  };
}

/** Reigns once the lease is ours, until told to stop or the lease is lost. */
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
