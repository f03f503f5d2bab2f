import { rfc3339 } from "../../../util/timestamp.ts";
import type { WorkloadCondition } from "../workloads/types.ts";
import { withWorkloadCondition } from "../workloads/workload-status.ts";
import type { AutoscalerStatus, HorizontalPodAutoscaler } from "./autoscaler-types.ts";

/** Collects the conditions of a status. */
export class AutoscalerStatusDraft {
  readonly #autoscaler: HorizontalPodAutoscaler;
  readonly #nowMs: number;
  #conditions: readonly WorkloadCondition[];

  constructor(autoscaler: HorizontalPodAutoscaler, nowMs: number) {
    this.#autoscaler = autoscaler;
    this.#nowMs = nowMs;
    this.#conditions = autoscaler.status?.conditions ?? [];
  }

  set(type: string, status: "True" | "False", reason: string, message: string): this {
    this.#conditions = withWorkloadCondition(this.#conditions, { type, status, reason, message }, { now: this.#nowMs });
    return this;
  }

  done(result: {
    readonly current?: number;
    readonly desired?: number;
    readonly metrics?: readonly object[];
    readonly hasScaled?: boolean;
  }): AutoscalerStatus {
    const { status, metadata } = this.#autoscaler;
    const { current = status?.currentReplicas ?? 0, desired = status?.desiredReplicas ?? 0, metrics = [] } = result;
    const scaledAt = result.hasScaled ? rfc3339(this.#nowMs) : status?.lastScaleTime;
    return {
      observedGeneration: metadata.generation,
      ...(scaledAt !== undefined && { lastScaleTime: scaledAt }),
      currentReplicas: current,
      desiredReplicas: desired,
      currentMetrics: metrics.length > 0 ? metrics : undefined,
      conditions: this.#conditions,
    };
  }
}
