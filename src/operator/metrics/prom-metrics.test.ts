import { describe, expect, it } from "vitest";
import { scrape } from "../../../test/operator/scrape.ts";
import { frameworkMetrics } from "./framework-metrics.ts";
import { promMetrics } from "./prom-metrics.ts";

async function samplesOf(registry: Parameters<typeof scrape>[0], name: string) {
  return Object.fromEntries((await scrape(registry)).get(name)?.samples ?? []);
}

describe("metrics for Prometheus", () => {
  it("03 §6.1 have build_info", async () => {
    const build = { version: "1.2.3", commit: "abc", runtime: "v20.20.2", arch: "x64" };
    const { registry } = promMetrics({ build });
    expect(await samplesOf(registry, "karpenter_build_info")).toEqual({
      '{commit="abc",goarch="x64",goversion="v20.20.2",version="1.2.3"}': 1,
    });
  });

  it("03 §6.1 count, set and observe", async () => {
    const { metrics, registry } = promMetrics();
    metrics.count("nodes_drained_total", { nodepool: "a" });
    metrics.count("nodes_drained_total", { nodepool: "a" }, 2);
    metrics.set("nodepools_cost_total", { nodepool: "a" }, 1);
    metrics.set("nodepools_cost_total", { nodepool: "a" }, 0.5);
    metrics.observe("nodeclaims_termination_duration_seconds", { nodepool: "a" }, 3);
    expect(await samplesOf(registry, "karpenter_nodes_drained_total")).toEqual({ '{nodepool="a"}': 3 });
    expect(await samplesOf(registry, "karpenter_nodepools_cost_total")).toEqual({ '{nodepool="a"}': 0.5 });
    const histogram = await samplesOf(registry, "karpenter_nodeclaims_termination_duration_seconds");
    expect(histogram).toMatchObject({
      '_bucket{le="2",nodepool="a"}': 0,
      '_bucket{le="4",nodepool="a"}': 1,
      '_bucket{le="+Inf",nodepool="a"}': 1,
      '_sum{nodepool="a"}': 3,
      '_count{nodepool="a"}': 1,
    });
    expect(Object.keys(histogram).filter((key) => key.startsWith("_bucket"))).toHaveLength(12 + 1); // 1..2048 and +Inf
  });

  it("03 §6.1 summaries have upstream's quantiles", async () => {
    const { metrics, registry } = promMetrics();
    for (let value = 1; value <= 100; value++) metrics.observe("pods_startup_duration_seconds", {}, value);
    const summary = await samplesOf(registry, "karpenter_pods_startup_duration_seconds");
    expect(Object.keys(summary).sort()).toEqual(
      ["0", "0.5", "0.9", "0.99", "1"]
        .map((q) => `{quantile="${q}"}`)
        .concat("_sum{}", "_count{}")
        .sort(),
    );
    expect(summary['{quantile="0.5"}']).toBeCloseTo(50.5, 0);
    expect(summary["_count{}"]).toBe(100);
  });

  it("03 §6.1 forget what is gone, by all labels or by some", async () => {
    const { metrics, registry } = promMetrics();
    for (const nodepool of ["a", "b"]) {
      for (const resource_type of ["cpu", "memory"]) metrics.set("nodepools_limit", { nodepool, resource_type }, 1);
    }
    metrics.forget("nodepools_limit", { nodepool: "a" });
    metrics.forget("nodepools_limit", { nodepool: "b", resource_type: "cpu" });
    metrics.forget("nodepools_limit", { nodepool: "never", resource_type: "cpu" });
    expect(await samplesOf(registry, "karpenter_nodepools_limit")).toEqual({
      '{nodepool="b",resource_type="memory"}': 1,
    });
    metrics.forget("nodepools_limit", {});
    expect(await samplesOf(registry, "karpenter_nodepools_limit")).toEqual({});
  });

  it("compute series when they are read, beside those that were set, until stopped", async () => {
    const { metrics, registry } = promMetrics();
    let price = 1;
    metrics.set("nodepools_cost_total", { nodepool: "set" }, 7);
    const stop = metrics.collect("nodepools_cost_total", () => [{ labels: { nodepool: "live" }, value: price }]);
    price = 2;
    const both = { '{nodepool="set"}': 7, '{nodepool="live"}': 2 };
    expect(await samplesOf(registry, "karpenter_nodepools_cost_total")).toEqual(both);
    expect(await registry.metrics()).toContain('karpenter_nodepools_cost_total{nodepool="live"} 2');
    stop();
    expect(await samplesOf(registry, "karpenter_nodepools_cost_total")).toEqual({ '{nodepool="set"}': 7 });
  });

  it("define a family once, however often it is asked for", async () => {
    const { metrics, registry } = promMetrics();
    const row = { name: "operator_x_total", type: "counter", labels: ["kind"], help: "x" } as const;
    metrics.family(row).record({ kind: "a" }, 1);
    metrics.family(row).record({ kind: "a" }, 1);
    expect(await samplesOf(registry, "operator_x_total")).toEqual({ '{kind="a"}': 2 });
  });
});

describe("metrics of controller-runtime and client-go", () => {
  it("03 §6.1 follow a controller and its queue", async () => {
    const { registry } = promMetrics();
    const { observerFor } = frameworkMetrics(registry);
    const loop = observerFor("provisioner");
    loop.workersStarted?.(10);
    loop.added?.(1);
    loop.added?.(2);
    loop.taken?.(500, 1);
    loop.runStarted?.();
    expect(await samplesOf(registry, "controller_runtime_active_workers")).toEqual({ '{controller="provisioner"}': 1 });
    loop.runFinished?.("success", 20);
    loop.runStarted?.();
    loop.runFinished?.("error", 20);
    loop.retried?.();
    const own = '{controller="provisioner"}';
    const queue = '{controller="provisioner",name="provisioner"}';
    expect(await samplesOf(registry, "controller_runtime_active_workers")).toEqual({ [own]: 0 });
    expect(await samplesOf(registry, "controller_runtime_max_concurrent_reconciles")).toEqual({ [own]: 10 });
    expect(await samplesOf(registry, "controller_runtime_reconcile_total")).toEqual({
      '{controller="provisioner",result="success"}': 1,
      '{controller="provisioner",result="error"}': 1,
    });
    expect(await samplesOf(registry, "controller_runtime_reconcile_errors_total")).toEqual({ [own]: 1 });
    expect(await samplesOf(registry, "workqueue_depth")).toEqual({ [queue]: 1 });
    expect(await samplesOf(registry, "workqueue_adds_total")).toEqual({ [queue]: 2 });
    expect(await samplesOf(registry, "workqueue_retries_total")).toEqual({ [queue]: 1 });
    const waited = await samplesOf(registry, "workqueue_queue_duration_seconds");
    expect(waited['_sum{controller="provisioner",name="provisioner"}']).toBe(0.5);
  });

  it("03 §6.1 count requests by status code and time them by kind", async () => {
    const { registry } = promMetrics();
    const { recordRequest, recordLeadership } = frameworkMetrics(registry);
    const type = { group: "karpenter.sh", version: "v1", kind: "NodePool", plural: "nodepools", namespaced: false };
    const outcome = { type, method: "GET", subresource: undefined, isWatch: false, durationMs: 30 } as const;
    recordRequest({ ...outcome, httpStatus: 200 });
    recordRequest({ ...outcome, httpStatus: undefined });
    expect(await samplesOf(registry, "client_go_request_total")).toEqual({
      '{code="200",method="GET"}': 1,
      '{code="<error>",method="GET"}': 1,
    });
    const labels = 'group="karpenter.sh",kind="NodePool",subresource="",verb="GET",version="v1"';
    const took = await samplesOf(registry, "client_go_request_duration_seconds");
    expect(took[`_count{${labels}}`]).toBe(2);
    recordLeadership("karpenter-leader-election", true);
    expect(await samplesOf(registry, "leader_election_master_status")).toEqual({
      '{name="karpenter-leader-election"}': 1,
    });
  });
});
