import { versionInfo } from "../../src/control-plane/http/version.ts";
import { noMetrics } from "../../src/controllers/metrics/metrics.ts";
import { defaultSettings } from "../../src/controllers/settings.ts";
import { parseServerVersion } from "../../src/kube/server-version.ts";
import { silentLogger } from "../../src/util/logger.ts";
import { stepBudget } from "./step-budget.ts";

/** What an operator needs beside its cluster, cloud and clock. */
export function operatorDefaults() {
  return {
    settings: defaultSettings,
    log: silentLogger,
    metrics: noMetrics,
    openBudget: stepBudget(),
    serverVersion: async () => parseServerVersion(versionInfo),
  };
}
