import type { Controller } from "../../kube/controller.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { staticDeprovisioningController } from "./deprovisioning.ts";
import { staticProvisioningController } from "./provisioning.ts";

/** The controllers of static pools. (03 §1.13) */
export function staticControllers(dependencies: ControllerDependencies): readonly Controller[] {
  return dependencies.settings.gates.StaticCapacity
    ? [staticProvisioningController(dependencies), staticDeprovisioningController(dependencies)]
    : [];
}
