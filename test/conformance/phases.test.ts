import { describe, expect, it } from "vitest";
import { kwokLabels } from "../../src/api/labels.ts";
import { phaseOf, priceOf } from "./phases.ts";

const node = (price: string) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n", labels: { [kwokLabels.instancePrice]: price } },
});
const pod = (deletionTimestamp?: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", deletionTimestamp },
  spec: { containers: [{ resources: { requests: { cpu: "4", memory: "100G" } } }, {}] },
});

describe("prices of a performance run", () => {
  it("are those of all nodes, over the price of what pods that stay ask for", () => {
    expect(priceOf([node("0.3"), node("0.1")], [pod(), pod("2026-01-01T00:00:00Z")], 7)).toEqual({
      at: 7,
      pricePerHour: 0.4,
      overBound: 2, // 4 cores at 0.025 and 100 GB at 0.001 are 0.2
    });
    expect(priceOf([], [], 7).overBound).toBe(0);
  });
});

describe("a phase of the performance suite", () => {
  const report = {
    test_type: "scale-out",
    total_time: 90.4e9,
    total_nodes: 151,
    timestamp: "2026-01-01T00:01:00Z",
    karpenter_avg_cpu_cores: 0.5,
    karpenter_max_memory_mb: 250.2,
    metrics_sample_count: 3,
  };
  const sample = (time: string, overBound: number) => ({ at: Date.parse(time), pricePerHour: 1, overBound, load: 3.2 });

  it("has the suite's figures and the last price before its end", () => {
    const samples = [sample("2026-01-01T00:00:50Z", 1.2), sample("2026-01-01T00:00:55Z", 1.1)];
    expect(phaseOf(report, [...samples, sample("2026-01-01T00:01:05Z", 9)])).toEqual({
      name: "scale-out",
      seconds: 90,
      nodes: 151,
      cpuSeconds: 45,
      peakMb: 250,
      pricePerHour: 1,
      overBound: 1.1,
      load: 3,
    });
  });

  it("has no CPU and memory when the suite could not read them", () => {
    expect(phaseOf({ ...report, metrics_sample_count: 0 }, [])).toEqual({ name: "scale-out", seconds: 90, nodes: 151 });
  });
});
