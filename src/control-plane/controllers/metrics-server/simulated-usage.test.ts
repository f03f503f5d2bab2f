import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../test/runs.ts";
import type { ApiPod } from "../api-pod-and-node.ts";
import { simulatedNodeMetrics, simulatedNodeUsage, simulatedPodMetrics, simulatedPodUsage } from "./simulated-usage.ts";

function pod(uid: string, { cpuMilli, memoryMi }: { readonly cpuMilli: number; readonly memoryMi: number }): ApiPod {
  const requests = { cpu: `${cpuMilli}m`, memory: `${memoryMi}Mi` };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: uid, namespace: "default", uid },
    spec: { nodeName: "node-1", containers: [{ name: "a", resources: { requests } }, { name: "b" }] },
    status: { phase: "Running" },
  };
}

const mi = 1024 * 1024;

describe("05:CP-L13 usage", () => {
  it("05:CP-L13 is close to the requests of a pod, and the same for the same moment and seed", () => {
    const arbitrary = fc.record({
      uid: fc.uuid(),
      cpuMilli: fc.integer({ min: 1, max: 64_000 }),
      memoryMi: fc.integer({ min: 1, max: 500_000 }),
      now: fc.integer({ min: 0, max: 4e12 }),
      seed: fc.string(),
    });
    fc.assert(
      fc.property(arbitrary, ({ uid, cpuMilli, memoryMi, now, seed }) => {
        const one = pod(uid, { cpuMilli, memoryMi });
        const usage = simulatedPodUsage(one, { now, seed });
        expect(simulatedPodUsage(one, { now, seed })).toEqual(usage);
        expect(usage.cpuNano).toBeGreaterThan(0.05 * cpuMilli * 1e6);
        expect(usage.cpuNano).toBeLessThan(1.1 * cpuMilli * 1e6);
        expect(usage.memoryBytes).toBeGreaterThan(0.3 * memoryMi * mi);
        expect(usage.memoryBytes).toBeLessThanOrEqual(memoryMi * mi);
      }),
      { numRuns: runs(5_000) },
    );
  });

  it("05:CP-L13 differs by seed and moves over the day", () => {
    const one = pod("uid", { cpuMilli: 1000, memoryMi: 1000 });
    const at = (hour: number, seed = "seed") => simulatedPodUsage(one, { now: hour * 3_600_000, seed }).cpuNano;
    expect(new Set([at(0), at(6), at(12), at(18)]).size).toBe(4);
    expect(at(0, "other")).not.toBe(at(0));
  });

  it("05:CP-L13 sums up to nodes, finished pods left out", () => {
    const options = { now: 0, seed: "seed" };
    const one = pod("one", { cpuMilli: 1000, memoryMi: 1000 });
    const done = { ...pod("two", { cpuMilli: 1000, memoryMi: 1000 }), status: { phase: "Succeeded" } };
    expect(simulatedNodeUsage([one, done], options)).toEqual(simulatedNodeUsage([one], options));
    expect(simulatedNodeUsage([one], options).cpuNano - simulatedNodeUsage([], options).cpuNano).toBe(
      simulatedPodUsage(one, options).cpuNano,
    );
  });

  it("05:CP-L13 is served as metrics.k8s.io writes it", () => {
    const options = { now: Date.parse("2026-01-15T12:00:07Z"), seed: "seed" };
    const one = pod("one", { cpuMilli: 1000, memoryMi: 1000 });
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } };
    const [metrics] = simulatedPodMetrics([one], options);
    expect(metrics).toMatchObject({
      kind: "PodMetrics",
      timestamp: "2026-01-15T12:00:00Z",
      window: "15s",
      containers: [{ name: "a" }, { name: "b" }],
    });
    const [ofNode] = simulatedNodeMetrics([node], { ...options, podsOn: () => [one] });
    expect(ofNode).toMatchObject({
      kind: "NodeMetrics",
      metadata: { name: "node-1" },
      usage: { cpu: expect.stringMatching(/^\d+n$/), memory: expect.stringMatching(/^\d+Ki$/) },
    });
  });
});
