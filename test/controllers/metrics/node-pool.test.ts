import { describe, expect, it } from "vitest";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { foreignClass, pool } from "../pool-objects.ts";
import { metricsWorld } from "./metrics-world.ts";

const limits = { cpu: "10", memory: "20Gi", "ephemeral-storage": "1k" };

describe("metrics.nodepool", () => {
  it("03 §6.1 shows the limits of pools", async () => {
    const world = await metricsWorld();
    await world.create(pool("default", { limits }));
    expect(await world.byLabel("karpenter_nodepools_limit", "resource_type")).toEqual({
      cpu: 10,
      memory: 21_474_836_480,
      ephemeral_storage: 1_000,
    });
    expect(await world.byLabel("karpenter_nodepools_limit", "nodepool")).toMatchObject({ default: expect.any(Number) });
    await world.stop();
  });

  it("03 §6.1 leaves out pools of other node classes", async () => {
    const world = await metricsWorld();
    await world.create(pool("foreign", { limits, template: { nodeClassRef: foreignClass } }));
    expect(await world.samples("karpenter_nodepools_limit")).toEqual([]);
    await world.stop();
  });

  it("03 §6.1 shows what pools use of them", async () => {
    const world = await metricsWorld();
    const made = await world.create(pool());
    await world.status(made, { resources: { cpu: "1500m", nodes: "3" } });
    expect(await world.byLabel("karpenter_nodepools_usage", "resource_type")).toEqual({ cpu: 1.5, nodes: 3 });
    await world.stop();
  });

  it("03 §6.1 nothing is left of a pool that is gone, nor of a limit", async () => {
    const world = await metricsWorld();
    await world.create(pool("default", { limits }), pool("other", { limits }));
    const body = { spec: { limits: { memory: null } } };
    await world.client.patch(karpenterTypes.NodePool, { name: "other" }, { kind: "merge", body });
    await world.client.delete(karpenterTypes.NodePool, { name: "default" });
    await world.pass(1);
    const left = await world.samples("karpenter_nodepools_limit");
    expect(left.map(({ labels }) => `${labels["nodepool"]} ${labels["resource_type"]}`).sort()).toEqual([
      "other cpu",
      "other ephemeral_storage",
    ]);
    await world.stop();
  });
});
