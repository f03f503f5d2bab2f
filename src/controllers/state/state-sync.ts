import { type Controller, reconcileController } from "../../kube/controller.ts";
import { formatDurationMs } from "../../util/duration.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { perRunState } from "../per-run-state.ts";

const periodMs = 5_000;
/** Launches take a while; longer than this and somebody should know. (02:S-12) */
const unsyncedWarningMs = 30_000;
const warningIntervalMs = 10_000;

/** Says how cluster state is, and complains when it stays incomplete. (02:S-12, 03:S-3) */
export function stateSyncController(dependencies: ControllerDependencies): Controller {
  const lastWarningOf = perRunState((): { atMs: number } => ({ atMs: Number.NEGATIVE_INFINITY }));
  return reconcileController({
    name: "state.sync",
    triggers: [],
    initialKeys: ["all"],
    reconcile: async (_, context) => {
      const now = context.clock.now();
      const last = lastWarningOf(context);
      const unsyncedMs = updateSyncMetrics(dependencies, now);
      if (unsyncedMs > unsyncedWarningMs && now - last.atMs >= warningIntervalMs) {
        warnUnsynced(dependencies, unsyncedMs);
        last.atMs = now;
      }
      return { afterMs: periodMs };
    },
  });
}

/** Returns how long the state has been incomplete. */
function updateSyncMetrics({ cluster, metrics }: ControllerDependencies, now: number): number {
  const unsyncedMs = now - (cluster.unsyncedSince ?? now);
  metrics.set("cluster_state_synced", {}, cluster.isSynced ? 1 : 0);
  metrics.set("cluster_state_unsynced_time_seconds", {}, unsyncedMs / 1_000);
  metrics.set("cluster_state_node_count", {}, cluster.nodes().length);
  return unsyncedMs;
}

function warnUnsynced({ cluster, log }: ControllerDependencies, unsyncedMs: number): void {
  log.error("cluster is waiting on sync for extended duration", {
    duration: formatDurationMs(Math.floor(unsyncedMs / 1_000) * 1_000),
    nodeClaims: cluster.unlaunchedClaims(),
  });
}
