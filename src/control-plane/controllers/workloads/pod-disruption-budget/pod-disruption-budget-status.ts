import { isTerminatingPod } from "../../../../core/pod-predicates.ts";
import { rfc3339 } from "../../../../util/timestamp.ts";
import type { ApiPod } from "../../api-pod-and-node.ts";
import { isPodReady } from "../pods.ts";
import { scaledValue } from "../scaled-value.ts";
import type { PodDisruptionBudgetObject, PodDisruptionBudgetStatus } from "../types.ts";
import { withWorkloadCondition } from "../workload-status.ts";

/** An eviction that has not led to a deletion by then is considered failed. */
const evictionTimeoutMs = 2 * 60_000;

export interface ExpectedPodCount {
  readonly expected: number;
  readonly desired: number;
}

/** How many pods are expected, and how many of them must be healthy. `scale` is the sum of their controllers' replicas. */
export function expectedPodCount(
  { spec }: PodDisruptionBudgetObject,
  { pods, scale }: { readonly pods: number; readonly scale: number },
): ExpectedPodCount {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable !== undefined) {
    const allowedUnavailable = scaledValue(maxUnavailable, { of: scale, round: "up" });
    return { expected: scale, desired: Math.max(0, scale - allowedUnavailable) };
  }
  if (typeof minAvailable === "number") return { expected: pods, desired: minAvailable };
  return { expected: scale, desired: scaledValue(minAvailable, { of: scale, round: "up" }) };
}

/** Whether the budget depends on the replicas of the pods' controllers. */
export function needsScale({ spec }: PodDisruptionBudgetObject): boolean {
  return spec.maxUnavailable !== undefined || typeof spec.minAvailable === "string";
}

export interface DisruptedPods {
  readonly pods: Readonly<Record<string, string>>;
  /** Evicted, but never deleted. */
  readonly stale: readonly ApiPod[];
  /** When the next eviction times out. */
  readonly recheckMs: number | undefined;
}

/** Evicted pods whose deletion has not been observed yet. (05:CP-L6) */
export function stillDisruptedPods(
  { status }: PodDisruptionBudgetObject,
  pods: readonly ApiPod[],
  now: number,
): DisruptedPods {
  const byName = new Map(pods.map((pod) => [pod.metadata.name ?? "", pod]));
  const kept: Record<string, string> = {};
  const stale: ApiPod[] = [];
  const waits: number[] = [];
  for (const [name, since] of Object.entries(status?.disruptedPods ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const pod = byName.get(name);
    if (pod === undefined || isTerminatingPod(pod)) continue; // deleted, as expected
    const leftMs = Date.parse(since) + evictionTimeoutMs - now;
    if (leftMs > 0) {
      kept[name] = since;
      waits.push(leftMs);
    } else stale.push(pod);
  }
  return { pods: kept, stale, recheckMs: waits.length === 0 ? undefined : Math.min(...waits) };
}

/** Computes `status`: how many more pods may be disrupted. */
export function podDisruptionBudgetStatus(
  budget: PodDisruptionBudgetObject,
  {
    pods,
    disrupted,
    expectation: { expected, desired },
    now,
  }: {
    readonly pods: readonly ApiPod[];
    readonly disrupted: DisruptedPods;
    readonly expectation: ExpectedPodCount;
    readonly now: number;
  },
): PodDisruptionBudgetStatus {
  const isCounted = (pod: ApiPod) =>
    !isTerminatingPod(pod) && isPodReady(pod) && !Object.hasOwn(disrupted.pods, pod.metadata.name ?? "");
  const currentHealthy = pods.filter(isCounted).length;
  const allowed = expected <= 0 ? 0 : Math.max(0, currentHealthy - desired);
  const hasDisrupted = Object.keys(disrupted.pods).length > 0;
  const generation = budget.metadata.generation;
  return {
    ...(hasDisrupted && { disruptedPods: disrupted.pods }),
    disruptionsAllowed: allowed,
    currentHealthy,
    desiredHealthy: desired,
    expectedPods: expected,
    observedGeneration: generation,
    conditions: disruptionAllowedCondition(budget, { allowed, now }),
  };
}

function disruptionAllowedCondition(
  budget: PodDisruptionBudgetObject,
  { allowed, now }: { allowed: number; now: number },
) {
  const condition = {
    type: "DisruptionAllowed",
    status: allowed > 0 ? "True" : "False",
    reason: allowed > 0 ? "SufficientPods" : "InsufficientPods",
    message: "",
    observedGeneration: budget.metadata.generation,
  } as const;
  const conditions = withWorkloadCondition(budget.status?.conditions, condition, { now });
  return conditions.map((one) =>
    one.type === condition.type ? { ...one, observedGeneration: condition.observedGeneration } : one,
  );
}

/** While the expected pod count is unknown, no disruption is allowed. */
export function failSafeStatus(
  budget: PodDisruptionBudgetObject,
  message: string,
  now: number,
): PodDisruptionBudgetStatus {
  const condition = {
    type: "DisruptionAllowed",
    status: "False",
    reason: "SyncFailed",
    message,
    observedGeneration: budget.metadata.generation,
    lastTransitionTime: rfc3339(now),
  } as const;
  const { currentHealthy = 0, desiredHealthy = 0, expectedPods = 0, ...rest } = budget.status ?? {};
  return {
    ...rest,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed: 0,
    conditions: withWorkloadCondition(budget.status?.conditions, condition, { now }),
  };
}
