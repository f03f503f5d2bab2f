import type { Controller } from "../../kube/controller.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { unlaunchedClaimGcController } from "./node-claim-gc.ts";
import { stateSyncController } from "./state-sync.ts";

/** What keeps cluster state honest. */
export function stateControllers(dependencies: ControllerDependencies): readonly Controller[] {
  return [unlaunchedClaimGcController(dependencies), stateSyncController(dependencies)];
}
