import type { Registry } from "prom-client";
import { exposition } from "./metrics/exposition.ts";
import type { Routes } from "./server.ts";

/** `/metrics`: Prometheus text. */
export function metricsRoutes(registry: Registry, turn: () => Promise<void>): Routes {
  return {
    "/metrics": () => ({ status: 200, contentType: registry.contentType, body: exposition(registry, turn) }),
  };
}

/** What the process needs before it is of use, by name. */
export type Checks = Readonly<Record<string, () => boolean>>;

/** `/healthz` and `/readyz`, in the words of Kubernetes' own servers: `?verbose` lists what was looked at. (03 §6.5) */
export function healthRoutes(checks: Checks): Routes {
  return { "/healthz": checked({}), "/healthz/": checked({}), "/readyz": checked(checks), "/readyz/": checked(checks) };
}

function checked(checks: Checks): Routes[string] {
  return (url) => {
    const found = Object.entries({ ping: () => true, ...checks }).map(([name, holds]) => ({ name, holds: holds() }));
    const isWell = found.every(({ holds }) => holds);
    const lines = found.map(({ name, holds }) => `[${holds ? "+" : "-"}]${name} ${holds ? "ok" : "failed"}\n`).join("");
    if (isWell) return { status: 200, body: url.searchParams.has("verbose") ? lines : "ok" };
    return { status: 503, body: lines };
  };
}
