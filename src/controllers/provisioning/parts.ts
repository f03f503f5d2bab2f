import type { OverlaidTypes } from "../../core/overlay.ts";
import type { LoopWorld } from "../../kube/loop.ts";
import type { Recently } from "../../kube/recently.ts";
import type { Parts } from "../parts.ts";
import type { Trigger } from "./trigger.ts";

/** What provisioning is built from. */
export interface ProvisioningParts extends Parts {
  /** Shared with whoever else may ask for a round. (02:P-12) */
  readonly trigger: Trigger;
  /** Types overlays changed; none, unless said. (02:L-3) */
  readonly overlaid?: OverlaidTypes | undefined;
}

/** What one round has to work with. */
export interface Desk {
  readonly parts: ProvisioningParts;
  readonly world: LoopWorld;
  /** Pods that were warned about, by warning and uid. (02:P-40) */
  readonly warned: Recently<true>;
}

/** How logs and metrics know the provisioning controller. */
export const provisioner = "provisioner";
