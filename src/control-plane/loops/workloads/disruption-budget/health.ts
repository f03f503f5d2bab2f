import { rfc3339 } from "../../../api/times.ts";
import { scaled } from "../counts.ts";
import { isReady, isTerminating } from "../pods.ts";
import { withCondition } from "../status.ts";
import type { DisruptionBudget, DisruptionBudgetStatus, LivePod } from "../types.ts";

/** An eviction that did not become a deletion by then did not happen. */
const evictionMs = 2 * 60_000;

export interface Expectation {
  readonly expected: number;
  readonly desired: number;
}

/** How many pods there should be, and how many of them healthy. `scale` is what their controllers want in all. */
export function expectation(
  { spec }: DisruptionBudget,
  { pods, scale }: { readonly pods: number; readonly scale: number },
): Expectation {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable !== undefined) {
    const away = scaled(maxUnavailable, { of: scale, round: "up" });
    return { expected: scale, desired: Math.max(0, scale - away) };
  }
  if (typeof minAvailable === "number") return { expected: pods, desired: minAvailable };
  return { expected: scale, desired: scaled(minAvailable, { of: scale, round: "up" }) };
}

/** Whether the controllers of the pods have to be asked how many there should be. */
export function needsScale({ spec }: DisruptionBudget): boolean {
  return spec.maxUnavailable !== undefined || typeof spec.minAvailable === "string";
}

export interface Disrupted {
  readonly pods: Readonly<Record<string, string>>;
  /** Evictions nothing came of. */
  readonly stale: readonly LivePod[];
  /** When the next one is stale. */
  readonly recheckMs: number | undefined;
}

/** Pods that were evicted and are not yet seen to go. (05:CP-L6) */
export function stillDisrupted({ status }: DisruptionBudget, pods: readonly LivePod[], now: number): Disrupted {
  const byName = new Map(pods.map((pod) => [pod.metadata.name ?? "", pod]));
  const kept: Record<string, string> = {};
  const stale: LivePod[] = [];
  const waits: number[] = [];
  for (const [name, since] of Object.entries(status?.disruptedPods ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const pod = byName.get(name);
    if (pod === undefined || isTerminating(pod)) continue; // it goes, as it should
    const leftMs = Date.parse(since) + evictionMs - now;
    if (leftMs > 0) {
      kept[name] = since;
      waits.push(leftMs);
    } else stale.push(pod);
  }
  return { pods: kept, stale, recheckMs: waits.length === 0 ? undefined : Math.min(...waits) };
}

/** What `status` has to say: how many more pods may go. */
export function budgetStatus(
  budget: DisruptionBudget,
  {
    pods,
    disrupted,
    expectation: { expected, desired },
    now,
  }: {
    readonly pods: readonly LivePod[];
    readonly disrupted: Disrupted;
    readonly expectation: Expectation;
    readonly now: number;
  },
): DisruptionBudgetStatus {
  const isCounted = (pod: LivePod) =>
    !isTerminating(pod) && isReady(pod) && !Object.hasOwn(disrupted.pods, pod.metadata.name ?? "");
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
    conditions: allowedCondition(budget, { allowed, now }),
  };
}

function allowedCondition(budget: DisruptionBudget, { allowed, now }: { allowed: number; now: number }) {
  const condition = {
    type: "DisruptionAllowed",
    status: allowed > 0 ? "True" : "False",
    reason: allowed > 0 ? "SufficientPods" : "InsufficientPods",
    message: "",
    observedGeneration: budget.metadata.generation,
  } as const;
  const conditions = withCondition(budget.status?.conditions, condition, { now });
  return conditions.map((one) =>
    one.type === condition.type ? { ...one, observedGeneration: condition.observedGeneration } : one,
  );
}

/** Nobody may go while we cannot tell how many there should be. */
export function failedStatus(budget: DisruptionBudget, message: string, now: number): DisruptionBudgetStatus {
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
    conditions: withCondition(budget.status?.conditions, condition, { now }),
  };
}
