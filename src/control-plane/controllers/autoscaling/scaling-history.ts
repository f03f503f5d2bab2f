import type { ScalingPolicy, ScalingRules } from "./autoscaler-types.ts";

/** Until a larger number of replicas is no longer wanted, by default. */
const scaleDownWindowSeconds = 300;
const defaultUpPolicies: readonly ScalingPolicy[] = [
  { type: "Pods", value: 4, periodSeconds: 15 },
  { type: "Percent", value: 100, periodSeconds: 15 },
];
const defaultDownPolicies: readonly ScalingPolicy[] = [{ type: "Percent", value: 100, periodSeconds: 15 }];

interface AtTime {
  readonly atMs: number;
  readonly replicas: number;
}

export interface ScalingStep {
  readonly nowMs: number;
  readonly current: number;
  readonly proposed: number;
  readonly scaleUp: ScalingRules | undefined;
  readonly scaleDown: ScalingRules | undefined;
}

/** What an autoscaler wanted and did of late: both bound what it does next. (05:CP-L16) */
export class ScalingHistory {
  #proposals: AtTime[] = [];
  /** Replicas that were added, or taken away with a minus. */
  #changes: AtTime[] = [];

  /** The number of replicas to have now: neither a short peak nor a short lull counts, and policies bound the pace. */
  next(step: ScalingStep): number {
    const { nowMs, current, scaleUp, scaleDown } = step;
    const stable = this.#stabilized(step);
    if (stable > current) {
      const since = (seconds: number): number => current - this.#changed(nowMs, seconds, 1);
      return Math.max(current, Math.min(stable, mostReplicas(scaleUp, since, current)));
    }
    const since = (seconds: number): number => current - this.#changed(nowMs, seconds, -1);
    return stable === current
      ? current
      : Math.min(current, Math.max(stable, fewestReplicas(scaleDown, since, current)));
  }

  changed(nowMs: number, replicas: number): void {
    this.#changes = [...this.#changes.filter(({ atMs }) => nowMs - atMs < 1_800_000), { atMs: nowMs, replicas }];
  }

  #stabilized({ nowMs, current, proposed, scaleUp, scaleDown }: ScalingStep): number {
    const upMs = 1_000 * (scaleUp?.stabilizationWindowSeconds ?? 0);
    const downMs = 1_000 * (scaleDown?.stabilizationWindowSeconds ?? scaleDownWindowSeconds);
    const longest = Math.max(upMs, downMs);
    this.#proposals = this.#proposals.filter(({ atMs }) => nowMs - atMs < longest);
    const within = (ms: number): number[] =>
      this.#proposals.filter(({ atMs }) => nowMs - atMs < ms).map(({ replicas }) => replicas);
    const lowest = Math.min(proposed, ...within(upMs));
    const highest = Math.max(proposed, ...within(downMs));
    this.#proposals.push({ atMs: nowMs, replicas: proposed });
    return Math.min(Math.max(current, lowest), highest);
  }

  #changed(nowMs: number, seconds: number, sign: 1 | -1): number {
    return this.#changes
      .filter(({ atMs, replicas }) => nowMs - atMs < 1_000 * seconds && Math.sign(replicas) === sign)
      .reduce((sum, { replicas }) => sum + replicas, 0);
  }
}

/** The most that its policies allow; `since` tells how many there were that many seconds ago, as far as this grew them. */
function mostReplicas(rules: ScalingRules | undefined, since: (seconds: number) => number, current: number): number {
  if (rules?.selectPolicy === "Disabled") return current;
  const allowed = (rules?.policies ?? defaultUpPolicies).map(({ type, value, periodSeconds }) => {
    const before = since(periodSeconds);
    return type === "Pods" ? before + value : Math.ceil(before * (1 + value / 100));
  });
  return rules?.selectPolicy === "Min" ? Math.min(...allowed) : Math.max(...allowed);
}

function fewestReplicas(rules: ScalingRules | undefined, since: (seconds: number) => number, current: number): number {
  if (rules?.selectPolicy === "Disabled") return current;
  const allowed = (rules?.policies ?? defaultDownPolicies).map(({ type, value, periodSeconds }) => {
    const before = since(periodSeconds);
    return type === "Pods" ? before - value : Math.floor(before * (1 - value / 100));
  });
  return rules?.selectPolicy === "Min" ? Math.max(...allowed) : Math.min(...allowed);
}
