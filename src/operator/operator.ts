import { overlaidProvider } from "../cloud/overlaid-provider.ts";
import { OverlayStore } from "../cloud/overlay-store.ts";
import type { CloudProvider } from "../cloud/provider.ts";
import type { Budgets } from "../controllers/budget.ts";
import type { Metrics } from "../controllers/metrics/metrics.ts";
import type { Parts } from "../controllers/parts.ts";
import { Trigger } from "../controllers/provisioning/trigger.ts";
import { nominationMs, type Settings } from "../controllers/settings.ts";
import type { KubeClient } from "../kube/client.ts";
import { leadAnd } from "../kube/leader-election.ts";
import { aborted, type Loop } from "../kube/loop.ts";
import type { ReconcilerObserver } from "../kube/reconciler.ts";
import { Buffers } from "../state/buffers.ts";
import { ClusterState } from "../state/cluster-state.ts";
import { stateFeed } from "../state/feed.ts";
import { RegistrationHealth } from "../state/registration-health.ts";
import type { Clock } from "../util/clock.ts";
import type { Logger } from "../util/logger.ts";
import type { Pause } from "../util/pause.ts";
import type { Random } from "../util/random.ts";
import { controllersOf } from "./controllers.ts";
import { kindsServed } from "./kinds-served.ts";
import { Reign } from "./reign.ts";

export interface OperatorParts {
  readonly client: KubeClient;
  /** A client of its own, so that throttling of the other cannot cost the leadership. (03 §6.5) */
  readonly leaseClient: KubeClient;
  readonly provider: CloudProvider;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly budgets: Budgets;
  /** Asked while much arrives at once: others get a turn. */
  readonly pause?: Pause | undefined;
  /** Unique among all that may lead. */
  readonly identity: string;
  /** Undefined: leads without asking. */
  readonly leaderElection?: LeaderElection | undefined;
  /** Hears of the runs of each controller, for metrics. */
  readonly observe?: ((loop: string) => ReconcilerObserver) | undefined;
  /** Another may lead from now on: the process should end. */
  readonly onLost?: (() => void) | undefined;
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
  readonly begun: Promise<void>;
  /** Whether it is of use: as a leader, or as one that could lead at once. (03 §6.5) */
  ready(): boolean;
  /** Lets the controllers finish what they are at, then gives the lease back. */
  stop(): Promise<void>;
  readonly parts: Parts;
}

/**
 * The controller, whole: on a real cluster, or on the virtual clock without a socket. Everything it knows beside what
 * the cluster and the cloud say dies with it. (design §8)
 */
export function startOperator(options: OperatorParts): RunningOperator {
  const { parts, loops } = assemble(options);
  const { clock, leaderElection, log, onLost } = options;
  const stopping = new AbortController();
  const reign = new Reign(options, loops);
  if (leaderElection?.isWarmedUp) reign.watch();
  const served = kindsServed({ client: options.client, clock, log, signal: stopping.signal });
  const ended = lead(options, { reign, signal: stopping.signal }).then(
    (end) => {
      if (end !== "lost") return;
      log.error("lost the lease, another may lead");
      onLost?.();
    },
    (error: unknown) => log.error("leading failed", { error }),
  );
  return {
    begun: reign.begun,
    ready: () => served() && (!reign.isWatching || reign.hasBegun),
    stop: async () => {
      stopping.abort();
      await ended;
      await reign.end();
    },
    parts,
  };
}

function assemble(options: OperatorParts): { readonly parts: Parts; readonly loops: readonly Loop[] } {
  const { provider, settings, clock, log, metrics, budgets } = options;
  const overlays = new OverlayStore();
  const cluster = new ClusterState({ clock, served: provider.nodeClasses, nominationMs: nominationMs(settings) });
  const parts: Parts = {
    cluster,
    cloud: settings.gates.NodeOverlay ? overlaidProvider(provider, overlays) : provider,
    health: new RegistrationHealth(),
    buffers: new Buffers(),
    settings,
    budgets,
    metrics,
    log,
  };
  const trigger = new Trigger();
  return { parts, loops: [stateFeed(cluster), ...controllersOf({ parts, provider, overlays, trigger, clock })] };
}

/** Reigns once the lease is ours, until told to stop or the lease is lost. */
async function lead(
  { leaseClient, clock, random, log, identity, leaderElection }: OperatorParts,
  { reign, signal }: { readonly reign: Reign; readonly signal: AbortSignal },
): Promise<"stopped" | "finished" | "lost"> {
  const work = async (term: AbortSignal): Promise<void> => {
    leaderElection?.onChange?.(true);
    reign.begin();
    await aborted(term);
    await reign.end();
    leaderElection?.onChange?.(false);
  };
  if (leaderElection === undefined) {
    await work(signal);
    return "stopped";
  }
  const { name, namespace } = leaderElection;
  leaderElection.onChange?.(false);
  return leadAnd(
    work,
    {
      kube: leaseClient,
      clock,
      random: random.fork("leader-election"),
      lease: { name, namespace },
      identity,
      onLeader: (leader) => log.info(leader === identity ? "became the leader" : "waiting for the leader", { leader }),
      onError: (error) => log.error("cannot renew the lease", { error }),
    },
    signal,
  );
}
