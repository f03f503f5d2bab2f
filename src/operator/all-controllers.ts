import type { CloudProvider } from "../cloud/cloud-provider.ts";
import { measuredProvider } from "../cloud/measured-provider.ts";
import type { OverlayStore } from "../cloud/overlay-store.ts";
import { capacityBufferControllers } from "../controllers/capacity-buffer/capacity-buffer-controller.ts";
import type { ControllerDependencies } from "../controllers/controller-dependencies.ts";
import { disruptionControllers } from "../controllers/disruption/disruption-controller.ts";
import { metricsControllers } from "../controllers/metrics/metrics-controllers.ts";
import { nodeControllers } from "../controllers/node/node-controllers.ts";
import { nodeClaimControllers } from "../controllers/node-claim/node-claim-controllers.ts";
import { nodeOverlayController } from "../controllers/node-overlay/node-overlay-controller.ts";
import { nodePoolControllers } from "../controllers/node-pool/node-pool-controllers.ts";
import { provisioningControllers } from "../controllers/provisioning/provisioning-controllers.ts";
import { stateControllers } from "../controllers/state/state-controllers.ts";
import { staticControllers } from "../controllers/static/static-controllers.ts";
import type { Controller } from "../kube/controller.ts";
import type { Clock } from "../util/clock.ts";

export interface AllControllersOptions {
  readonly dependencies: ControllerDependencies;
  /** The provider without overlays. */
  readonly provider: CloudProvider;
  readonly overlays: OverlayStore;
  readonly clock: Clock;
}

/** All controllers but that of cluster state, as far as their features are on. (03 Appendix A) */
export function allControllers(options: AllControllersOptions): readonly Controller[] {
  const { dependencies, provider, overlays, clock } = options;
  const { metrics: meter, settings } = dependencies;
  /** Each group has its own name in the metrics of cloud calls. */
  const dependenciesFor = (controller: string): ControllerDependencies => ({
    ...dependencies,
    cloud: measuredProvider(dependencies.cloud, { meter, clock, controller }),
  });
  const { NodeOverlay } = settings.gates;
  return [
    ...stateControllers(dependenciesFor("state")),
    ...provisioningControllers(dependenciesFor("provisioner")),
    ...disruptionControllers(dependenciesFor("disruption")),
    ...nodeClaimControllers(dependenciesFor("nodeclaim")),
    ...nodeControllers(dependenciesFor("node")),
    ...nodePoolControllers(dependenciesFor("nodepool")),
    ...staticControllers(dependenciesFor("static")),
    ...(NodeOverlay ? [nodeOverlayController(dependenciesFor("nodeoverlay"), { provider, store: overlays })] : []),
    ...capacityBufferControllers(dependenciesFor("capacitybuffer")),
    ...metricsControllers(dependenciesFor("metrics")),
    ...provider.controllers,
  ];
}
