import type { CloudProvider } from "../cloud/provider.ts";
import type { Buffers } from "../state/buffers.ts";
import type { Cluster } from "../state/cluster.ts";
import type { RegistrationHealth } from "../state/registration-health.ts";
import type { Logger } from "../util/logger.ts";
import type { Budgets } from "./budget.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { Settings } from "./settings.ts";

/** What controllers are built from, beside the world their loop runs in. */
export interface Parts {
  readonly cluster: Cluster;
  readonly cloud: CloudProvider;
  /** How the last nodes of each pool fared. */
  readonly health: RegistrationHealth;
  /** The pods of capacity buffers. */
  readonly buffers: Buffers;
  readonly settings: Settings;
  readonly budgets: Budgets;
  readonly metrics: Metrics;
  readonly log: Logger;
}
