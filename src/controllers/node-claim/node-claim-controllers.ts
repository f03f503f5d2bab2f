import type { Controller } from "../../kube/controller.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { consistencyController } from "./consistency.ts";
import { disruptionConditionsController } from "./disruption-conditions.ts";
import { expirationController } from "./expiration.ts";
import { nodeClaimGarbageCollectionController } from "./garbage-collection.ts";
import { nodeClaimHydrationController } from "./hydration.ts";
import { lifecycleController } from "./lifecycle.ts";
import { podEventsController } from "./pod-events.ts";

/** The controllers of NodeClaims. (03 §1.1–§1.11, Appendix A) */
export function nodeClaimControllers(dependencies: ControllerDependencies): readonly Controller[] {
  return [
    lifecycleController(dependencies),
    disruptionConditionsController(dependencies),
    podEventsController(dependencies),
    expirationController(dependencies),
    consistencyController(dependencies),
    nodeClaimGarbageCollectionController(dependencies),
    nodeClaimHydrationController(dependencies),
  ];
}
