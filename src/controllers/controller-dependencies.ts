import type { CloudProvider } from "../cloud/cloud-provider.ts";
import type { BufferPods } from "../state/buffer-pods.ts";
import type { Cluster } from "../state/cluster.ts";
import type { RegistrationHealth } from "../state/registration-health.ts";
import type { Logger } from "../util/logger.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { Settings } from "./settings.ts";
import type { OpenWorkBudget } from "./work-budget.ts";

/** What controllers are built from, beside the world their loop runs in. */
export interface ControllerDependencies {
  readonly cluster: Cluster;
  readonly cloud: CloudProvider;
  /** How the last nodes of each pool fared. */
  readonly registrationHealth: RegistrationHealth;
  /** The pods of capacity buffers. */
  readonly bufferPods: BufferPods;
  readonly settings: Settings;
  readonly openBudget: OpenWorkBudget;
  readonly metrics: Metrics;
  readonly log: Logger;
}
