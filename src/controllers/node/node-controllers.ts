import type { Controller } from "../../kube/controller.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { EvictionQueue } from "./eviction-queue.ts";
import { evictionQueueController } from "./eviction-queue-controller.ts";
import { nodeHealthController } from "./health.ts";
import { nodeHydrationController } from "./hydration.ts";
import { nodeTerminationController } from "./termination.ts";

/** The controllers of Nodes: termination, health, and labels older versions did not set. (03 Appendix A) */
export function nodeControllers(dependencies: ControllerDependencies): readonly Controller[] {
  const queue = new EvictionQueue();
  const isRepairEnabled = dependencies.settings.gates.NodeRepair && dependencies.cloud.repairPolicies.length > 0;
  return [
    nodeTerminationController(dependencies, queue),
    evictionQueueController(dependencies, queue),
    nodeHydrationController(dependencies),
    ...(isRepairEnabled ? [nodeHealthController(dependencies)] : []),
  ];
}
