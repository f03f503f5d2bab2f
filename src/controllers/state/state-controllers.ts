import type { Controller } from "../../kube/controller.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { unlaunchedClaimGcController } from "./node-claim-gc.ts";
import { stateSyncController } from "./state-sync.ts";

/** The controllers that watch over cluster state. */
export function stateControllers(dependencies: ControllerDependencies): readonly Controller[] {
  return [unlaunchedClaimGcController(dependencies), stateSyncController(dependencies)];
}
