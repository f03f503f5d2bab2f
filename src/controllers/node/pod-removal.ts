import { get } from "../../api/conditions/engine.ts";
import { isKubeError, type KubeError } from "../../kube/error.ts";
import type { LoopWorld } from "../../kube/loop.ts";
import { builtIn } from "../../kube/resources.ts";
import { claimOf, nodesIn } from "../node-claim/lookups.ts";
import type { Parts } from "../parts.ts";
import type { Leaving } from "./eviction-queue.ts";
import { forcedGraceSeconds } from "./force.ts";
import type { LivePod } from "./node-scene.ts";

/** A pod that leaves, and what it takes to tell of it. */
export interface Departure {
  readonly leaving: Leaving;
  readonly pod: LivePod;
  readonly world: LoopWorld;
  readonly parts: Pick<Parts, "metrics" | "log">;
}

/** How the API server says that the pod's budget has to be waited for. */
export interface Blocked {
  readonly atLeastMs: number;
}

/** Asks by the rules, with all the pod's grace. A pod that is gone, or another by now, has left. (03:T-43, T-44, T-52) */
export async function evict(departure: Departure): Promise<Blocked | undefined> {
  const { leaving, world, parts } = departure;
  const { name, namespace, uid } = leaving;
  const eviction = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid } },
  };
  try {
    await world.client.create(builtIn.Pod, eviction, { subresource: "eviction", name });
  } catch (error) {
    return unevicted(departure, error);
  }
  parts.metrics.count("pods_eviction_requests_total", { code: "200" });
  tellGone(departure, { reason: "Evicted", message: `Evicted pod: ${drainReason(departure)}` });
  return undefined;
}

/** Two budgets over one pod are a 500 of their own. (03:T-44) */
const twoBudgets = /more than one PodDisruptionBudget/;

function unevicted(departure: Departure, error: unknown): Blocked | undefined {
  if (!isKubeError(error)) throw error;
  if (error.status !== undefined) {
    departure.parts.metrics.count("pods_eviction_requests_total", { code: String(error.status.code) });
  }
  if (error.code === "not-found" || error.code === "conflict") return undefined;
  const isTwo = error.code === "server-error" && twoBudgets.test(error.message);
  if (!isTwo && error.code !== "too-many-requests") throw error;
  tellBlocked(departure, isTwo ? "more than one PodDisruptionBudget selects it" : budgetText(error));
  return { atLeastMs: error.retryAfterMs ?? 0 };
}

/** With the budget's name, where the server gives it. */
function budgetText({ status }: KubeError): string {
  const cause = status?.details?.causes?.[0]?.message;
  return `a PodDisruptionBudget prevents pod evictions${cause === undefined ? "" : ` (${cause})`}`;
}

/** One pod speaks for all that are blocked alike: a node has only so many events. (03 §6.2) */
function tellBlocked({ leaving, world }: Departure, because: string): void {
  const node = nodesIn(world).get(leaving.node);
  if (node === undefined) return;
  world.tell(node, {
    type: "Warning",
    reason: "FailedDraining",
    message: `Failed to drain node, pod ${leaving.namespace}/${leaving.name} cannot be evicted: ${because}`,
    dedupe: { values: [node.metadata.uid ?? "", "blocked"] },
  });
}

/** Past budgets and protection: the node's deadline leaves no more time. (03:T-51) */
export async function forceDelete(departure: Departure, deadlineMs: number): Promise<void> {
  const { leaving, world, parts } = departure;
  const { name, namespace, uid } = leaving;
  const gracePeriodSeconds = forcedGraceSeconds({ nowMs: world.clock.now(), deadlineMs });
  try {
    await world.client.delete(builtIn.Pod, { name, namespace }, { gracePeriodSeconds, preconditions: { uid } });
  } catch (error) {
    if (isKubeError(error, "not-found")) return;
    throw error;
  }
  parts.log
    .with({ controller: "eviction-queue", Pod: { name, namespace } })
    .debug("deleting pod", { gracePeriodSeconds });
  const message = `Deleted pod with a grace of ${gracePeriodSeconds}s to meet the deadline of its node, past budgets and do-not-disrupt`;
  tellGone(departure, { reason: "Disrupted", message });
}

function tellGone(departure: Departure, news: { readonly reason: string; readonly message: string }): void {
  const { pod, leaving, world, parts } = departure;
  parts.metrics.count("pods_drained_total", { reason: drainReason(departure) });
  world.tell(pod, { type: "Normal", ...news, dedupe: { values: [leaving.uid] } });
}

/** Why the node goes, as its claim tells. (03:T-45) */
function drainReason({ leaving, world }: Departure): string {
  const node = nodesIn(world).get(leaving.node);
  const claim = node && claimOf(node, world);
  if (claim === undefined) return "";
  const found = get(claim, "DisruptionReason");
  return found?.status === "True" ? (found.reason ?? "") : "Forceful Termination";
}
