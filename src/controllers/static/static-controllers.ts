import type { Controller } from "../../kube/controller.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { staticDeprovisioningController } from "./deprovisioning.ts";
import { staticProvisioningController } from "./provisioning.ts";

/** Pools that keep a number of nodes. (03 §1.13) */
export function staticControllers(dependencies: ControllerDependencies): readonly Controller[] {
  return dependencies.settings.gates.StaticCapacity
    ? [staticProvisioningController(dependencies), staticDeprovisioningController(dependencies)]
    : [];
}
