import type { InstanceSource } from "../../src/cloud/instance-source.ts";
import { kubeletController } from "../../src/control-plane/controllers/kubelet/kubelet-controller.ts";
import { cloudNodeLifecycleController } from "../../src/control-plane/controllers/nodes/cloud-node-lifecycle-controller.ts";
import { attachDetachController } from "../../src/control-plane/controllers/volumes/attach-detach-controller.ts";
import {
  persistentVolumeController,
  type VolumeDelays,
} from "../../src/control-plane/controllers/volumes/persistent-volume-controller.ts";
import { volumeReclaimController } from "../../src/control-plane/controllers/volumes/volume-reclaim-controller.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { type ControllerFailure, type RunningControllers, startControllers } from "../../src/kube/controller.ts";
import type { SimulationSettings } from "../../src/providers/sim/simulation-settings.ts";
import { systemClock } from "../../src/util/clock.ts";
import type { Random } from "../../src/util/random.ts";
import type { LogLine } from "../world/recording-log.ts";

/** Short delays, because these tests wait in real time. */
export const quickInstances: Partial<SimulationSettings> = {
  bootMs: [800, 1_200],
  readyMs: [100, 300],
  terminateMs: [400, 600],
  latencyMs: [5, 20],
};
const quickContainers = { startMs: [200, 500], stopMs: [100, 300], jobMs: 5_000 } as const;
const quickVolumes = { provisionMs: 200, attachMs: 500, detachMs: 500 };

export interface SimulatedNodesOptions {
  readonly client: KubeClient;
  readonly instances: InstanceSource;
  readonly random: Random;
  readonly volumes?: Partial<VolumeDelays> | undefined;
  /** Failures are logged here. */
  readonly lines: LogLine[];
}

/**
 * Kubelets, the cloud's node controller and a storage driver, as clients of a real cluster. Everything else is the real
 * thing.
 */
export function startSimulatedNodes({
  client,
  instances,
  random,
  volumes,
  lines,
}: SimulatedNodesOptions): RunningControllers {
  const delays = { ...quickVolumes, ...volumes };
  return startControllers({
    client,
    clock: systemClock(),
    random: random.fork("machines"),
    controllers: [
      kubeletController({ instances, leases: { kind: "written" }, delays: quickContainers }),
      cloudNodeLifecycleController(instances),
      persistentVolumeController(delays),
      volumeReclaimController(),
      attachDetachController(delays),
    ],
    onFailure: (trouble) => void lines.push(lineOf(trouble)),
  });
}

function lineOf({ kind, ...told }: ControllerFailure): LogLine {
  return { level: "error", message: `machines: ${kind}`, ...told };
}
