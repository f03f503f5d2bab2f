import { metricsControllers } from "../../../src/controllers/metrics/metrics-controllers.ts";
import type { Settings } from "../../../src/controllers/settings.ts";
import { promMetrics } from "../../../src/operator/metrics/prom-metrics.ts";
import { labelsOf, scrape } from "../../operator/scrape.ts";
import { controllerWorld } from "../controller-world.ts";

/** The metrics controllers, with what Prometheus would see of them. */
export async function metricsWorld(options: { readonly settings?: Partial<Settings> } = {}) {
  const { metrics, registry } = promMetrics();
  const world = await controllerWorld({ controllers: metricsControllers, metrics, ...options });
  /** Samples of a metric: labels with values, and the value. */
  const samples = async (name: string) => {
    const found = (await scrape(registry)).get(name)?.samples ?? new Map<string, number>();
    return [...found].map(([sample, value]) => ({
      suffix: sample.slice(0, sample.indexOf("{")),
      labels: labelsOf(sample),
      value,
    }));
  };
  return {
    ...world,
    registry,
    samples,
    /** The values of a gauge or counter, by one of its labels. */
    byLabel: async (name: string, label: string): Promise<Readonly<Record<string, number>>> =>
      Object.fromEntries((await samples(name)).map(({ labels, value }) => [labels[label] ?? "", value])),
    /** How often something was observed, and what it came to. */
    observed: async (name: string) => {
      const all = await samples(name);
      const figure = (suffix: string) => all.find((one) => one.suffix === suffix)?.value;
      return { count: figure("_count") ?? 0, sum: figure("_sum") ?? 0 };
    },
  };
}
