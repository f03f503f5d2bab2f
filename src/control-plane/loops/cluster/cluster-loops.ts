import type { Loop } from "../../../kube/loop.ts";
import { type KubeletOptions, kubeletLoop } from "./kubelet/kubelets.ts";
import { cloudNodeLoop } from "./nodes/cloud-nodes.ts";
import { nodeLifecycleLoop } from "./nodes/node-lifecycle.ts";
import { type PodGcOptions, podGcLoop } from "./nodes/pod-gc.ts";
import { taintEvictionLoop } from "./nodes/taint-eviction.ts";
import { type SchedulerOptions, schedulerLoop } from "./scheduler/scheduler.ts";
import { type UsageReads, usageLoop } from "./usage/metrics.ts";
import { attacherLoop } from "./volumes/attacher.ts";
import { claimBinderLoop, defaultVolumeDelays, type VolumeDelays } from "./volumes/binder.ts";
import { ephemeralVolumeLoop } from "./volumes/ephemeral.ts";
import { volumeReclaimerLoop } from "./volumes/reclaimer.ts";

export interface ClusterLoopOptions {
  readonly kubelets: KubeletOptions;
  readonly scheduler?: SchedulerOptions | undefined;
  readonly podGc?: PodGcOptions | undefined;
  readonly volumes?: Partial<VolumeDelays> | undefined;
  /** Where `metrics.k8s.io` reads from; given to `ApiServer.setReads`. */
  readonly usage?: UsageReads | undefined;
}

/** What makes pods run: CP-L9 to CP-L13. (05 §6) */
export function clusterLoops({ kubelets, scheduler, podGc, volumes, usage }: ClusterLoopOptions): readonly Loop[] {
  const delays = { ...defaultVolumeDelays, ...volumes };
  return [
    schedulerLoop(scheduler),
    kubeletLoop(kubelets),
    nodeLifecycleLoop(),
    taintEvictionLoop(),
    podGcLoop(podGc),
    cloudNodeLoop(kubelets.instances),
    claimBinderLoop(delays),
    volumeReclaimerLoop(),
    attacherLoop(delays),
    ephemeralVolumeLoop(),
    ...(usage === undefined ? [] : [usageLoop(usage)]),
  ];
}
