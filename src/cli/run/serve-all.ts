import { healthRoutes } from "../../operator/endpoints.ts";
import { errorText } from "../../operator/error-text.ts";
import type { RunningOperator } from "../../operator/operator.ts";
import type { OperatorOptions } from "../../operator/options.ts";
import { type RunningServer, serve } from "../../operator/server.ts";
import type { Logger } from "../../util/logger.ts";

export interface Serving {
  readonly options: OperatorOptions;
  readonly log: Logger;
  readonly routes: Parameters<typeof serve>[0]["routes"];
}

/** Metrics on one port, health on another. */
export async function serveAll(
  operator: RunningOperator,
  { options, log, routes }: Serving,
): Promise<readonly [RunningServer, RunningServer]> {
  const host = options.listen === "" ? undefined : options.listen;
  const onError = (error: unknown): void => log.error("answering failed", { error });
  const health = healthRoutes({ "karpenter-ready": () => operator.ready() });
  try {
    const metrics = await serve({ host, port: options.metricsPort, routes, onError });
    try {
      return [metrics, await serve({ host, port: options.healthPort, routes: health, onError })];
    } catch (error) {
      await metrics.close();
      throw error;
    }
  } catch (error) {
    void operator.stop();
    throw new Error(`cannot serve metrics and health: ${errorText(error)}`, { cause: error });
  }
}

/** The ports that were had, where any would do. */
export function portsOf([metrics, health]: readonly [RunningServer, RunningServer]) {
  return { "metrics-port": metrics.port, "health-probe-port": health.port };
}
