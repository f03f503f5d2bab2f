import type { Controller } from "../../kube/controller.ts";
import { formatDurationMs } from "../../util/duration.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, karpenterController } from "../karpenter-context.ts";

const periodMs = 5_000;
/** Launches take a while; a state that is unsynced for longer is reported. (02:S-12) */
const unsyncedWarningMs = 30_000;
const warningIntervalMs = 10_000;

/** Reports whether cluster state is synced, and warns when it stays incomplete. (02:S-12, 03:S-3) */
export function stateSyncController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "state.sync",
    triggers: [],
    initialKeys: ["all"],
    reads: [{ of: "cluster state", withinMs: periodMs, because: "it reports how long the state is incomplete" }],
    start: () => ({ lastWarningAt: Number.NEGATIVE_INFINITY }),
    reconcile: async (_, context, state) => {
      const now = context.clock.now();
      const unsyncedMs = updateSyncMetrics(now, context);
      if (unsyncedMs > unsyncedWarningMs && now - state.lastWarningAt >= warningIntervalMs) {
        warnUnsynced(unsyncedMs, context);
        state.lastWarningAt = now;
      }
      return { afterMs: periodMs };
    },
  });
}

/** Returns how long the state has been incomplete. */
function updateSyncMetrics(now: number, { cluster, metrics }: KarpenterContext): number {
  const unsyncedMs = now - (cluster.unsyncedSince ?? now);
  metrics.set("cluster_state_synced", {}, cluster.isSynced ? 1 : 0);
  metrics.set("cluster_state_unsynced_time_seconds", {}, unsyncedMs / 1_000);
  metrics.set("cluster_state_node_count", {}, cluster.nodes().length);
  return unsyncedMs;
}

function warnUnsynced(unsyncedMs: number, { cluster, log }: KarpenterContext): void {
  log.error("cluster is waiting on sync for extended duration", {
    duration: formatDurationMs(Math.floor(unsyncedMs / 1_000) * 1_000),
    nodeClaims: cluster.unlaunchedClaims(),
  });
}
