import type { RunningOperator } from "../../operator/operator.ts";
import { healthRoutes } from "../../operator/operator-routes.ts";
import type { OperatorOptions } from "../../operator/options.ts";
import { type RunningServer, serveRoutes } from "../../operator/serve-routes.ts";
import { errorText } from "../../util/error-text.ts";
import type { Logger } from "../../util/logger.ts";

export interface ServeAllOptions {
  readonly options: OperatorOptions;
  readonly log: Logger;
  readonly routes: Parameters<typeof serveRoutes>[0]["routes"];
}

/** Serves metrics on one port and health on another. */
export async function serveAll(
  operator: RunningOperator,
  { options, log, routes }: ServeAllOptions,
): Promise<readonly [RunningServer, RunningServer]> {
  const host = options.listen === "" ? undefined : options.listen;
  const onError = (error: unknown): void => log.error("request failed", { error });
  const health = healthRoutes({ "karpenter-ready": () => operator.isReady() });
  try {
    const metrics = await serveRoutes({ host, port: options.metricsPort, routes, onError });
    try {
      return [metrics, await serveRoutes({ host, port: options.healthPort, routes: health, onError })];
    } catch (error) {
      await metrics.close();
      throw error;
    }
  } catch (error) {
    void operator.stop();
    throw new Error(`cannot serve metrics and health: ${errorText(error)}`, { cause: error });
  }
}

/** The ports actually bound (0 means any free port). */
export function portsOf([metrics, health]: readonly [RunningServer, RunningServer]) {
  return { "metrics-port": metrics.port, "health-probe-port": health.port };
}
