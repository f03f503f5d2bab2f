import type { Conditioned } from "../../api/conditions/condition.ts";
import { isTrue } from "../../api/conditions/engine.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import type { Parts } from "../parts.ts";

type Where = Pick<Parts, "cluster" | "metrics">;

/** Whether nodes of the pool register. (03:P-20) */
export function isPoolHealthy(pool: NodePool | undefined): boolean {
  return pool !== undefined && isTrue(pool as Conditioned, "NodeRegistrationHealthy");
}

/** A place was found. */
export interface Placed {
  readonly now: number;
  readonly isPoolHealthy: boolean;
  /** The machine's claim, once there is one. */
  readonly claim?: string | undefined;
}

/** 02:S-45. */
export function recordPlaced(where: Where, pod: Pod, { now, isPoolHealthy, claim }: Placed): void {
  const isBound = (pod.spec.nodeName ?? "") !== ""; // it runs: its times are those of its first place
  if (!isBound) recordDecided(where, pod, now);
  where.cluster.times.placed(pod, { now, isPoolHealthy, ...(claim !== undefined && { claim }) });
}

/** 02:S-45. */
export function recordRefused(where: Where, pod: Pod, now: number): void {
  recordDecided(where, pod, now);
  where.cluster.times.refused(pod);
}

/** How long a pod waited for the first word on it. */
function recordDecided({ cluster, metrics }: Where, pod: Pod, now: number): void {
  if (!cluster.times.decided(pod, now)) return;
  const { ack } = cluster.times.get(namespacedName(pod.metadata));
  if (ack !== undefined) metrics.observe("pods_scheduling_decision_duration_seconds", {}, (now - ack) / 1_000);
}
