import { describe, expect, it } from "vitest";
import { gonePoolMetricsController } from "../../../src/controllers/metrics/gone-pool-metrics.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { promMetrics } from "../../../src/operator/metrics/prom-metrics.ts";
import { controllerWorld } from "../controller-world.ts";
import { claim, kwokClass, pool } from "../pool-objects.ts";

const created = (nodepool: string) => ({ reason: "provisioned", nodepool, min_values_relaxed: "false" });

describe("03 §6.1 metrics of pools that are gone", () => {
  it("03 §6.1 are forgotten when the last claim is gone too; those of others stay", async () => {
    const { metrics, registry } = promMetrics();
    const world = await controllerWorld({
      metrics,
      controllers: (dependencies) => [gonePoolMetricsController(dependencies)],
    });
    const duration = {
      type: "histogram",
      name: "operator_claim_seconds",
      help: "of tests",
      labels: ["karpenter_sh_nodepool"],
    } as const;
    const claimSeconds = metrics.family(duration);
    for (const name of ["gone", "stays"]) {
      metrics.count("nodeclaims_created_total", created(name));
      claimSeconds.record({ karpenter_sh_nodepool: name }, 1);
    }
    const seriesOf = async (name: string) =>
      (await registry.metrics()).split("\n").filter((line) => line.includes(`"${name}"`)).length;
    const before = await seriesOf("stays");
    await world.create(kwokClass(), pool("gone"), pool("stays"));
    await world.create(claim("last", { pool: "gone" }));
    await world.client.delete(karpenterTypes.NodePool, { name: "gone" });
    await world.pass(600);
    expect(await seriesOf("gone")).toBe(before);
    await world.client.delete(karpenterTypes.NodeClaim, { name: "last" });
    await world.pass(600);
    expect([await seriesOf("gone"), await seriesOf("stays")]).toEqual([0, before]);
    expect(before).toBeGreaterThan(2);
    await world.stop();
  });
});
