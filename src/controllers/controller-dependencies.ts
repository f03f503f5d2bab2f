import type { CloudProvider } from "../cloud/cloud-provider.ts";
import type { OverlaidTypes } from "../core/overlay.ts";
import type { BufferPods } from "../state/buffer-pods.ts";
import type { Cluster } from "../state/cluster.ts";
import type { RegistrationHealth } from "../state/registration-health.ts";
import type { OpenSearch } from "./disruption/search-budget.ts";
import type { Explanations } from "./explanations.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { ProvisioningTrigger } from "./provisioning/provisioning-trigger.ts";
import type { Settings } from "./settings.ts";
import type { OpenWorkBudget } from "./work-budget.ts";

/** What all controllers of an operator share. It is built once; reconciles see it as part of their KarpenterContext. */
export interface ControllerDependencies {
  readonly cluster: Cluster;
  readonly cloud: CloudProvider;
  /** Outcomes of the last registrations of each pool. */
  readonly registrationHealth: RegistrationHealth;
  /** The pods of capacity buffers. */
  readonly bufferPods: BufferPods;
  /** Starts a round of provisioning. (02:P-12) */
  readonly trigger: ProvisioningTrigger;
  /** Instance types that overlays changed; none by default. (02:L-3) */
  readonly overlaidTypes?: OverlaidTypes | undefined;
  readonly settings: Settings;
  /** Whether pods are nominated to the nodes they are planned on: it is set, and the API server is new enough. (02:L-40) */
  readonly nominatesPods: () => boolean;
  readonly openBudget: OpenWorkBudget;
  /** Stops searches for nodes to disrupt; by default the clock does. (03:D-52, D-55) */
  readonly openSearch?: OpenSearch | undefined;
  readonly metrics: Metrics;
  /** Where controllers say how their decisions are explained; nobody asks unless given. */
  readonly explanations?: Explanations | undefined;
}
