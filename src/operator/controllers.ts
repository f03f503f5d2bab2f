import { measured } from "../cloud/measured-provider.ts";
import type { OverlayStore } from "../cloud/overlay-store.ts";
import type { CloudProvider } from "../cloud/provider.ts";
import { capacityBufferLoops } from "../controllers/capacity-buffer/loops.ts";
import { metricsLoops } from "../controllers/metrics/loops.ts";
import { nodeLoops } from "../controllers/node/loops.ts";
import { nodeClaimLoops } from "../controllers/node-claim/loops.ts";
import { nodeOverlayLoop } from "../controllers/node-overlay/node-overlay.ts";
import { nodePoolLoops } from "../controllers/node-pool/loops.ts";
import type { Parts } from "../controllers/parts.ts";
import { provisioningLoops } from "../controllers/provisioning/loops.ts";
import type { Trigger } from "../controllers/provisioning/trigger.ts";
import { stateLoops } from "../controllers/state/loops.ts";
import { staticLoops } from "../controllers/static/loops.ts";
import type { Loop } from "../kube/loop.ts";
import type { Clock } from "../util/clock.ts";

export interface ControllerOptions {
  readonly parts: Parts;
  /** As it is without overlays. */
  readonly provider: CloudProvider;
  readonly overlays: OverlayStore;
  readonly trigger: Trigger;
  readonly clock: Clock;
}

/** Every controller there is, by what is switched on. (03 Appendix A) */
export function controllersOf({ parts, provider, overlays, trigger, clock }: ControllerOptions): readonly Loop[] {
  const { metrics: meter, settings } = parts;
  /** Each group calls the cloud and writes its log in its own name. */
  const named = (controller: string) => ({
    ...parts,
    trigger,
    cloud: measured(parts.cloud, { meter, clock, controller }),
    log: parts.log.with({ controller }),
  });
  const { NodeOverlay } = settings.gates;
  return [
    ...stateLoops(named("state")),
    ...provisioningLoops({ ...named("provisioner"), overlaid: overlays.overlaid }),
    ...nodeClaimLoops(named("nodeclaim")),
    ...nodeLoops(named("node")),
    ...nodePoolLoops(named("nodepool")),
    ...staticLoops(named("static")),
    ...(NodeOverlay ? [nodeOverlayLoop({ ...named("nodeoverlay"), provider, store: overlays })] : []),
    ...capacityBufferLoops(named("capacitybuffer")),
    ...metricsLoops(named("metrics")),
    ...provider.loops,
  ];
}
