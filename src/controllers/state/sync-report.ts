import { type Loop, reconcileLoop } from "../../kube/loop.ts";
import { formatDurationMs } from "../../util/duration.ts";
import { memory } from "../memory.ts";
import type { Parts } from "../parts.ts";

const everyMs = 5_000;
/** Launches take a while; longer than this and somebody should know. (02:S-12) */
const patienceMs = 30_000;
const betweenLinesMs = 10_000;

/** Says how cluster state is, and complains when it stays incomplete. (02:S-12, 03:S-3) */
export function stateReport(parts: Parts): Loop {
  const complaint = memory((): { atMs: number } => ({ atMs: Number.NEGATIVE_INFINITY }));
  return reconcileLoop({
    name: "state.sync",
    triggers: [],
    initial: ["all"],
    reconcile: async (_, world) => {
      const now = world.clock.now();
      const last = complaint(world);
      const unsyncedMs = report(parts, now);
      if (unsyncedMs > patienceMs && now - last.atMs >= betweenLinesMs) {
        complain(parts, unsyncedMs);
        last.atMs = now;
      }
      return { afterMs: everyMs };
    },
  });
}

/** Returns how long the state has been incomplete. */
function report({ cluster, metrics }: Parts, now: number): number {
  const unsyncedMs = now - (cluster.unsyncedSince ?? now);
  metrics.set("cluster_state_synced", {}, cluster.isSynced ? 1 : 0);
  metrics.set("cluster_state_unsynced_time_seconds", {}, unsyncedMs / 1_000);
  metrics.set("cluster_state_node_count", {}, cluster.nodes().length);
  return unsyncedMs;
}

function complain({ cluster, log }: Parts, unsyncedMs: number): void {
  log.error("cluster is waiting on sync for extended duration", {
    duration: formatDurationMs(Math.floor(unsyncedMs / 1_000) * 1_000),
    nodeClaims: cluster.unlaunchedClaims(),
  });
}
