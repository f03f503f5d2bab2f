import type { Controller } from "../../kube/controller.ts";
import { type KubeletOptions, kubeletController } from "./kubelet/kubelet-controller.ts";
import { cloudNodeLifecycleController } from "./nodes/cloud-node-lifecycle-controller.ts";
import { nodeLifecycleController } from "./nodes/node-lifecycle-controller.ts";
import { type PodGcOptions, podGcController } from "./nodes/pod-gc-controller.ts";
import { taintEvictionController } from "./nodes/taint-eviction-controller.ts";
import { type SchedulerOptions, schedulerController } from "./scheduler/scheduler-controller.ts";
import { attachDetachController } from "./volumes/attach-detach-controller.ts";
import { ephemeralVolumeController } from "./volumes/ephemeral-volume-controller.ts";
import {
  defaultVolumeDelays,
  persistentVolumeController,
  type VolumeDelays,
} from "./volumes/persistent-volume-controller.ts";
import { volumeReclaimController } from "./volumes/volume-reclaim-controller.ts";

export interface ClusterControllerOptions {
  readonly kubelets: KubeletOptions;
  readonly scheduler?: SchedulerOptions | undefined;
  readonly podGc?: PodGcOptions | undefined;
  readonly volumes?: Partial<VolumeDelays> | undefined;
}

/** Scheduler, kubelets, node and volume controllers. (05:CP-L9 to CP-L13) */
export function clusterControllers({
  kubelets,
  scheduler,
  podGc,
  volumes,
}: ClusterControllerOptions): readonly Controller[] {
  const delays = { ...defaultVolumeDelays, ...volumes };
  return [
    schedulerController(scheduler),
    kubeletController(kubelets),
    nodeLifecycleController(),
    taintEvictionController(),
    podGcController(podGc),
    cloudNodeLifecycleController(kubelets.instances),
    persistentVolumeController(delays),
    volumeReclaimController(),
    attachDetachController(delays),
    ephemeralVolumeController(),
  ];
}
