import type { Registry } from "prom-client";
import { metricsExposition } from "./metrics/metrics-exposition.ts";
import type { Routes } from "./serve-routes.ts";

/** `/metrics`: Prometheus text. */
export function metricsRoutes(registry: Registry, yieldToEventLoop: () => Promise<void>): Routes {
  return {
    "/metrics": () => ({
      status: 200,
      contentType: registry.contentType,
      body: metricsExposition(registry, yieldToEventLoop),
    }),
  };
}

/** Readiness checks by name. */
export type HealthChecks = Readonly<Record<string, () => boolean>>;

/** `/healthz` and `/readyz`, in the format of Kubernetes' own servers: `?verbose` lists the checks. (03 §6.5) */
export function healthRoutes(checks: HealthChecks): Routes {
  return {
    "/healthz": healthHandler({}),
    "/healthz/": healthHandler({}),
    "/readyz": healthHandler(checks),
    "/readyz/": healthHandler(checks),
  };
}

function healthHandler(checks: HealthChecks): Routes[string] {
  return (url) => {
    const found = Object.entries({ ping: () => true, ...checks }).map(([name, holds]) => ({ name, holds: holds() }));
    const isHealthy = found.every(({ holds }) => holds);
    const lines = found.map(({ name, holds }) => `[${holds ? "+" : "-"}]${name} ${holds ? "ok" : "failed"}\n`).join("");
    if (isHealthy) return { status: 200, body: url.searchParams.has("verbose") ? lines : "ok" };
    return { status: 503, body: lines };
  };
}
