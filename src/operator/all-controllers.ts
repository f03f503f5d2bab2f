import type { CloudProvider } from "../cloud/cloud-provider.ts";
import { measuredProvider } from "../cloud/measured-provider.ts";
import type { OverlayStore } from "../cloud/overlay-store.ts";
import { capacityBufferControllers } from "../controllers/capacity-buffer/capacity-buffer-controller.ts";
import type { ControllerDependencies } from "../controllers/controller-dependencies.ts";
import { metricsControllers } from "../controllers/metrics/metrics-controllers.ts";
import { nodeControllers } from "../controllers/node/node-controllers.ts";
import { nodeClaimControllers } from "../controllers/node-claim/node-claim-controllers.ts";
import { nodeOverlayController } from "../controllers/node-overlay/node-overlay-controller.ts";
import { nodePoolControllers } from "../controllers/node-pool/node-pool-controllers.ts";
import { provisioningControllers } from "../controllers/provisioning/provisioning-controllers.ts";
import type { ProvisioningTrigger } from "../controllers/provisioning/provisioning-trigger.ts";
import { stateControllers } from "../controllers/state/state-controllers.ts";
import { staticControllers } from "../controllers/static/static-controllers.ts";
import type { Controller } from "../kube/controller.ts";
import type { Clock } from "../util/clock.ts";

export interface AllControllersOptions {
  readonly dependencies: ControllerDependencies;
  /** As it is without overlays. */
  readonly provider: CloudProvider;
  readonly overlays: OverlayStore;
  readonly trigger: ProvisioningTrigger;
  readonly clock: Clock;
}

/** Every controller there is, by what is switched on. (03 Appendix A) */
export function allControllers({
  dependencies,
  provider,
  overlays,
  trigger,
  clock,
}: AllControllersOptions): readonly Controller[] {
  const { metrics: meter, settings } = dependencies;
  /** Each group calls the cloud and writes its log in its own name. */
  const dependenciesFor = (controller: string) => ({
    ...dependencies,
    trigger,
    cloud: measuredProvider(dependencies.cloud, { meter, clock, controller }),
    log: dependencies.log.with({ controller }),
  });
  const { NodeOverlay } = settings.gates;
  return [
    ...stateControllers(dependenciesFor("state")),
    ...provisioningControllers({ ...dependenciesFor("provisioner"), overlaidTypes: overlays.overlaid }),
    ...nodeClaimControllers(dependenciesFor("nodeclaim")),
    ...nodeControllers(dependenciesFor("node")),
    ...nodePoolControllers(dependenciesFor("nodepool")),
    ...staticControllers(dependenciesFor("static")),
    ...(NodeOverlay ? [nodeOverlayController({ ...dependenciesFor("nodeoverlay"), provider, store: overlays })] : []),
    ...capacityBufferControllers(dependenciesFor("capacitybuffer")),
    ...metricsControllers(dependenciesFor("metrics")),
    ...provider.controllers,
  ];
}
