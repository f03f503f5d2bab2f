import { Gauge } from "prom-client";
import type { MetricCollector, MetricSeries } from "../../controllers/metrics/metrics.ts";
import { forgetSeries } from "./forget-series.ts";

/** A gauge with two kinds of series: those that were set, and those computed when it is read. */
export class LiveGauge extends Gauge<string> {
  readonly #collectors = new Set<MetricCollector>();

  collectFrom(series: MetricCollector): () => void {
    const own: MetricCollector = () => series(); // a new function, so that one collector can be added twice
    this.#collectors.add(own);
    return () => this.#collectors.delete(own);
  }

  /** The computed series, one by one: there may be very many. */
  *live(): Generator<MetricSeries> {
    for (const collector of [...this.#collectors]) yield* collector();
  }

  /** Removes the series that were set with these labels, whatever their other labels. */
  forget(labels: Readonly<Record<string, string | undefined>>): void {
    forgetSeries(this, labels);
  }

  /** The series that were set. */
  async stored(): Promise<readonly MetricSeries[]> {
    return (await super.get()).values as readonly MetricSeries[];
  }

  override async get(): ReturnType<Gauge<string>["get"]> {
    const own = await super.get();
    return { ...own, values: [...own.values, ...this.live()] };
  }
}
