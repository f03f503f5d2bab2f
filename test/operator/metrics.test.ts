import { collectDefaultMetrics, type Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { metricsControllers } from "../../src/controllers/metrics/metrics-controllers.ts";
import { defaultGates } from "../../src/controllers/settings.ts";
import { frameworkMetrics } from "../../src/operator/metrics/framework-metrics.ts";
import { promMetrics } from "../../src/operator/metrics/prom-metrics.ts";
import { controllerWorld } from "../controllers/controller-world.ts";
import { type SpecMetric, specMetrics } from "./spec-metrics.ts";

/** Everything that is exposed with all controllers running, our prefix left off. */
async function exposed(): Promise<ReadonlyMap<string, SpecMetric>> {
  const { metrics, registry } = promMetrics();
  frameworkMetrics(registry);
  const gates = { ...defaultGates, CapacityBuffer: true };
  const world = await controllerWorld({ controllers: metricsControllers, metrics, settings: { gates } });
  await world.stop();
  return metricsIn(registry);
}

function metricsIn(registry: Registry): ReadonlyMap<string, SpecMetric> {
  const all = registry.getMetricsAsArray() as unknown as readonly (SpecMetric & {
    readonly name: string;
    readonly labelNames: readonly string[];
  })[];
  return new Map(
    all.map(({ name, type, labelNames }) => [name.replace(/^karpenter_/, ""), { type, labels: labelNames }]),
  );
}

/** Labels that only some providers have. */
const ofProviders = /^(nodes_(allocatable|total_|system_|current_))/;

describe("what Prometheus sees", () => {
  it("03 §6.1, 04 §5.5 everything of the table, by name, type and labels", async () => {
    const seen = await exposed();
    const missing = [...specMetrics.keys()].filter((name) => !seen.has(name));
    expect(missing).toEqual([]);
    for (const [name, { type, labels }] of specMetrics) {
      const found = seen.get(name);
      if (found === undefined) continue;
      expect(found.type, name).toBe(type);
      if (ofProviders.test(name)) expect(found.labels, name).toEqual(expect.arrayContaining([...labels]));
      else expect([...found.labels].sort(), name).toEqual([...labels].sort());
    }
  });

  it("03 §6.1 and nothing that is not in the table", async () => {
    const seen = await exposed();
    expect([...seen.keys()].filter((name) => !specMetrics.has(name))).toEqual([]);
  });

  it("03 §6.1 histograms have upstream's buckets", async () => {
    const { registry } = promMetrics();
    const upTo = (name: string): string => {
      const metric = registry.getSingleMetric(`karpenter_${name}`) as unknown as { upperBounds: readonly number[] };
      return metric.upperBounds.join(" ");
    };
    expect(upTo("scheduler_scheduling_duration_seconds")).toBe(
      "0.005 0.01 0.025 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1 1.25 1.5 1.75 2 2.5 3 3.5 4 4.5 " +
        "5 6 7 8 9 10 15 20 25 30 40 50 60 120 150 300 450 600",
    );
    expect(upTo("nodeclaims_instance_termination_duration_seconds")).toBe("1 2 4 8 16 32 64 128 256 512 1024");
    expect(upTo("nodeclaims_termination_duration_seconds")).toBe("1 2 4 8 16 32 64 128 256 512 1024 2048");
    const [minutes, hours, days] = [
      [15, 30, 45].map((one) => one * 60),
      [1, 2, 4, 6, 8, 10, 12, 16, 20].map((one) => one * 3_600),
      [1, 2, 3, 5, 10, 15, 20, 25, 30].map((one) => one * 86_400),
    ];
    expect(upTo("nodes_lifetime_duration_seconds")).toBe([...minutes, ...hours, ...days].join(" "));
    expect(upTo("cloudprovider_duration_seconds")).toBe("0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10");
  });

  it("the process itself is measured too", async () => {
    const { registry } = promMetrics();
    collectDefaultMetrics({ register: registry });
    const text = await registry.metrics();
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(text).toMatch(/^process_cpu_seconds_total [\d.]+$/m);
  });
});
