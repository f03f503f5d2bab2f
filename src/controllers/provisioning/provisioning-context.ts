import type { OverlaidTypes } from "../../core/overlay.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import type { ExpiringMap } from "../../kube/expiring-map.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import type { ProvisioningTrigger } from "./provisioning-trigger.ts";

/** What provisioning is built from. */
export interface ProvisioningDependencies extends ControllerDependencies {
  /** Shared with whoever else may ask for a round. (02:P-12) */
  readonly trigger: ProvisioningTrigger;
  /** Types overlays changed; none, unless said. (02:L-3) */
  readonly overlaidTypes?: OverlaidTypes | undefined;
}

/** What one round has to work with. */
export interface ProvisioningContext {
  readonly dependencies: ProvisioningDependencies;
  readonly context: ControllerContext;
  /** Pods that were warned about, by warning and uid. (02:P-40) */
  readonly warnedPods: ExpiringMap<true>;
}

/** How logs and metrics know the provisioning controller. */
export const provisionerName = "provisioner";
