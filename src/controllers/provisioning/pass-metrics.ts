import type { Decision } from "../../core/scheduling/decision.ts";
import { pendingByZone } from "../../core/scheduling/effective-zone.ts";
import type { Pass } from "../../core/scheduling/pass-state.ts";
import type { Clock } from "../../util/clock.ts";
import type { Steps } from "../../util/steps.ts";
import type { Metrics } from "../metrics/metrics.ts";

export interface PassMetricsOptions {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly controller: string;
  /** Of this pass alone. */
  readonly id: string;
}

/** The metrics of one scheduling pass, while it runs and when it is finished. (03 §6.1) */
export class PassMetrics {
  readonly #options: PassMetricsOptions;
  readonly #startedAt: number;
  #pass: Pass | undefined;

  constructor(options: PassMetricsOptions) {
    const { metrics, controller, clock } = options;
    this.#options = options;
    this.#startedAt = clock.now();
    metrics.forget("scheduler_queue_depth", { controller }); // of the previous pass
  }

  get elapsedMs(): number {
    return this.#options.clock.now() - this.#startedAt;
  }

  *opened(pass: Pass): Steps<void> {
    const { metrics, controller } = this.#options;
    this.#pass = pass;
    const counts = yield* pendingByZone(pass);
    metrics.forget("scheduler_pending_pods_by_effective_zone_count", { controller });
    for (const [zone, count] of counts) {
      metrics.set("scheduler_pending_pods_by_effective_zone_count", { controller, zone }, count);
    }
    this.paused();
  }

  /** Reports progress while the pass yields. */
  paused(): void {
    const { metrics, controller, id } = this.#options;
    const left = this.#pass === undefined ? 0 : this.#pass.queue.length - this.#pass.queueHead;
    metrics.set("scheduler_queue_depth", { controller, scheduling_id: id }, left);
    metrics.set("scheduler_unfinished_work_seconds", { controller, scheduling_id: id }, this.elapsedMs / 1_000);
  }

  /** Pods that wait for reserved capacity do not count as refused. (02:Y-5) */
  closed({ refusals }: Decision): void {
    const { metrics, controller, id } = this.#options;
    this.paused();
    metrics.forget("scheduler_unfinished_work_seconds", { controller, scheduling_id: id });
    metrics.observe("scheduler_scheduling_duration_seconds", { controller }, this.elapsedMs / 1_000);
    const refused = refusals.filter(({ code }) => code !== "reserved-capacity").length;
    metrics.set("scheduler_unschedulable_pods_count", { controller }, refused);
  }
}
