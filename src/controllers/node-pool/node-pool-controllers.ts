import type { Controller } from "../../kube/controller.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { poolCounterController } from "./counter.ts";
import { poolHashController } from "./hash.ts";
import { poolCostController } from "./pool-cost-controller.ts";
import { poolReadinessController } from "./readiness.ts";
import { poolRegistrationHealthController } from "./registration-health.ts";
import { poolValidationController } from "./validation.ts";

/** The controllers of NodePools. (03 §1.12) */
export function nodePoolControllers(dependencies: ControllerDependencies): readonly Controller[] {
  return [
    poolCounterController(dependencies),
    poolHashController(dependencies),
    poolReadinessController(dependencies),
    poolValidationController(dependencies),
    poolRegistrationHealthController(dependencies),
    poolCostController(dependencies),
  ];
}
