import { request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../util/clock.ts";
import { promMetrics } from "./metrics/prom-metrics.ts";
import { healthRoutes, metricsRoutes } from "./operator-routes.ts";
import { profilingRoutes } from "./profiling-routes.ts";
import { type Routes, type RunningServer, serveRoutes } from "./serve-routes.ts";

const running: RunningServer[] = [];
const errors: unknown[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

async function serving(routes: Routes): Promise<(path: string, options?: RequestInit) => Promise<Response>> {
  const server = await serveRoutes({ host: "127.0.0.1", port: 0, routes, onError: (error) => errors.push(error) });
  running.push(server);
  return (path, options) => fetch(`http://127.0.0.1:${server.port}${path}`, options);
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe("the server", () => {
  it("03 §6.5 answers /healthz as long as the process runs", async () => {
    const ask = await serving(healthRoutes({ informers: () => false }));
    const answer = await ask("/healthz");
    expect([answer.status, await answer.text()]).toEqual([200, "ok"]);
  });

  it("03 §6.5 is ready when all checks pass", async () => {
    let isReady = false;
    const ask = await serving(healthRoutes({ informers: () => isReady }));
    const early = await ask("/readyz");
    expect([early.status, await early.text()]).toEqual([503, "[+]ping ok\n[-]informers failed\n"]);
    isReady = true;
    expect((await ask("/readyz")).status).toBe(200);
    expect(await (await ask("/readyz?verbose")).text()).toBe("[+]ping ok\n[+]informers ok\n");
    expect((await ask("/readyz/informers")).status).toBe(200);
  });

  it("03 §6.5 exposes metrics in the Prometheus format", async () => {
    const { metrics, registry } = promMetrics();
    metrics.count("nodes_drained_total", { nodepool: 'od"d\nname' });
    const ask = await serving(metricsRoutes(registry, turn));
    const answer = await ask("/metrics");
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await answer.text()).toContain('karpenter_nodes_drained_total{nodepool="od\\"d\\nname"} 1\n');
  });

  it("yields while it writes very many series", async () => {
    const { metrics, registry } = promMetrics();
    const count = 20_000;
    metrics.collect("nodepools_cost_total", () =>
      Array.from({ length: count }, (_, at) => ({ labels: { nodepool: `pool-${at}` }, value: at })),
    );
    let turns = 0;
    const counted = (): Promise<void> => {
      turns += 1;
      return turn();
    };
    const ask = await serving(metricsRoutes(registry, counted));
    const lines = (await (await ask("/metrics")).text()).split("\n");
    expect(lines.filter((line) => line.startsWith("karpenter_nodepools_cost_total{"))).toHaveLength(count);
    expect(turns).toBe(count / 500);
  });

  it("survives a client that disconnects", async () => {
    const { metrics, registry } = promMetrics();
    const label = "x".repeat(1_000);
    metrics.collect("nodepools_cost_total", () =>
      Array.from({ length: 20_000 }, (_, at) => ({ labels: { nodepool: `${label}${at}` }, value: at })),
    );
    const ask = await serving({ ...metricsRoutes(registry, turn), ...healthRoutes({}) });
    const [server] = running;
    await new Promise<void>((resolve) => {
      const reading = request({ host: "127.0.0.1", port: server?.port, path: "/metrics" }, (response) => {
        response.once("data", () => response.destroy());
        response.once("close", resolve);
      });
      reading.on("error", () => {}).end();
    });
    expect((await ask("/healthz")).status).toBe(200);
    expect(errors).toEqual([]);
  });

  it("refuses other paths and methods", async () => {
    const ask = await serving(healthRoutes({}));
    expect((await ask("/metrics")).status).toBe(404);
    expect((await ask("/healthz", { method: "POST" })).status).toBe(405);
    expect(await (await ask("/healthz", { method: "HEAD" })).text()).toBe("");
  });

  it("reports what failed", async () => {
    const fail = (): never => {
      throw new Error("no disk");
    };
    const answer = await (await serving({ "/broken": fail }))("/broken");
    expect([answer.status, await answer.text()]).toEqual([500, "no disk\n"]);
  });

  it("03 §6.5 serves profiles", async () => {
    const ask = await serving(profilingRoutes(systemClock()));
    const cpu = (await (await ask("/debug/pprof/profile?seconds=0.01")).json()) as Record<string, unknown>;
    expect(Object.keys(cpu)).toEqual(expect.arrayContaining(["nodes", "startTime", "endTime"]));
    const heap = (await (await ask("/debug/pprof/heap?seconds=0")).json()) as Record<string, unknown>;
    expect(Object.keys(heap)).toEqual(expect.arrayContaining(["head", "samples"]));
    expect(await (await ask("/debug/pprof/")).text()).toContain("profile");
  });
});
