import type { InstanceSource } from "../../src/cloud/instance-source.ts";
import { kubeletLoop } from "../../src/control-plane/loops/cluster/kubelet/kubelets.ts";
import { cloudNodeLoop } from "../../src/control-plane/loops/cluster/nodes/cloud-nodes.ts";
import { attacherLoop } from "../../src/control-plane/loops/cluster/volumes/attacher.ts";
import { claimBinderLoop, type VolumeDelays } from "../../src/control-plane/loops/cluster/volumes/binder.ts";
import { volumeReclaimerLoop } from "../../src/control-plane/loops/cluster/volumes/reclaimer.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { type LoopTrouble, type RunningLoops, startLoops } from "../../src/kube/loop.ts";
import type { SimulationSettings } from "../../src/providers/sim/settings.ts";
import { systemClock } from "../../src/util/clock.ts";
import type { Random } from "../../src/util/random.ts";
import type { LogLine } from "../controllers/recording-log.ts";

/** Real time is dear. */
export const quickMachines: Partial<SimulationSettings> = {
  bootMs: [800, 1_200],
  readyMs: [100, 300],
  terminateMs: [400, 600],
  latencyMs: [5, 20],
};
const quickContainers = { startMs: [200, 500], stopMs: [100, 300], jobMs: 5_000 } as const;
const quickVolumes = { provisionMs: 200, attachMs: 500, detachMs: 500 };

export interface MachinesOptions {
  readonly client: KubeClient;
  readonly instances: InstanceSource;
  readonly random: Random;
  readonly volumes?: Partial<VolumeDelays> | undefined;
  /** Where trouble is told. */
  readonly lines: LogLine[];
}

/**
 * What machines and their cloud do as clients of a real cluster: kubelets, the cloud's node controller, a storage
 * driver. Everything else is the real thing.
 */
export function startMachines({ client, instances, random, volumes, lines }: MachinesOptions): RunningLoops {
  const delays = { ...quickVolumes, ...volumes };
  return startLoops({
    client,
    clock: systemClock(),
    random: random.fork("machines"),
    loops: [
      kubeletLoop({ instances, leases: { kind: "written" }, delays: quickContainers }),
      cloudNodeLoop(instances),
      claimBinderLoop(delays),
      volumeReclaimerLoop(),
      attacherLoop(delays),
    ],
    log: (trouble) => void lines.push(lineOf(trouble)),
  });
}

function lineOf({ kind, ...told }: LoopTrouble): LogLine {
  return { level: "error", message: `machines: ${kind}`, ...told };
}
