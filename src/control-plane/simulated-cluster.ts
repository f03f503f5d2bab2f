import type { InstanceSource } from "../cloud/instance-source.ts";
import type { KubeClient } from "../kube/client.ts";
import {
  type Controller,
  type ControllerFailure,
  type RunningControllers,
  startControllers,
} from "../kube/controller.ts";
import { isKubeError } from "../kube/kube-error.ts";
import { builtInTypes } from "../kube/resources.ts";
import type { Clock } from "../util/clock.ts";
import type { Random } from "../util/random.ts";
import type { ApiServer } from "./api/server.ts";
import type { ApiNode, ApiPod } from "./controllers/api-pod-and-node.ts";
import { type ClusterControllerOptions, clusterControllers } from "./controllers/cluster-controllers.ts";
import { garbageCollectionControllers } from "./controllers/garbage-collection/garbage-collection-controllers.ts";
import { LeaseTimes } from "./controllers/kubelet/lease-times.ts";
import { cpuLoadReader } from "./controllers/metrics-server/cpu-load.ts";
import { simulatedNodeMetrics, simulatedPodMetrics } from "./controllers/metrics-server/simulated-usage.ts";
import { scalableTypes } from "./controllers/workloads/scalable-workloads.ts";
import { workloadControllers } from "./controllers/workloads/workload-controllers.ts";
import { InProcessClient } from "./in-process-client.ts";

export interface SimulatedClusterOptions {
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly random: Random;
  /** The instances its kubelets run on. */
  readonly instances: InstanceSource;
  readonly settings?: Omit<ClusterControllerOptions, "kubelets"> | undefined;
  /** Wraps the controllers' client: faults, latency. */
  readonly wrapClient?: ((client: KubeClient) => KubeClient) | undefined;
  readonly recordsEvents?: boolean | undefined;
  readonly onFailure?: ((failure: ControllerFailure) => void) | undefined;
}

/**
 * Starts everything behind the API server: workload and garbage collection controllers, scheduler, kubelets. (05:CP-L1
 * to CP-L13)
 */
export function startSimulatedCluster(options: SimulatedClusterOptions): RunningControllers {
  const { api, clock, random, instances, settings = {}, wrapClient = (client) => client } = options;
  const leases = api.kinds.get(builtInTypes.Lease);
  const times = new LeaseTimes(clock);
  api.setReadTransform(leases, times.overlay);
  const kubelets = {
    instances,
    leases: { kind: "computed", times, isWatched: () => api.watcherCount(leases) > 0 },
  } as const;
  return startControllers({
    client: wrapClient(new InProcessClient(api)),
    clock,
    random,
    controllers: [
      ...workloadControllers,
      ...garbageCollectionControllers,
      ...clusterControllers({ ...settings, kubelets }),
      usageController(api),
    ],
    recordsEvents: options.recordsEvents,
    onFailure: options.onFailure,
  });
}

/** Metrics for kubectl top. (05:CP-L13) */
function usageController(api: ApiServer): Controller {
  const metrics = (plural: string) => api.kinds.get({ group: "metrics.k8s.io", version: "v1beta1", plural });
  return {
    name: "usage",
    kinds: [builtInTypes.Node, builtInTypes.Pod, ...scalableTypes],
    run: async (context) => {
      const { view, random, clock } = context;
      const pods = view<ApiPod>(builtInTypes.Pod);
      pods.addIndex("node", ({ spec }) => spec.nodeName);
      const cpuLoadOf = cpuLoadReader(context);
      const measurement = () => ({ now: clock.now(), seed: random.seed, cpuLoadOf });
      api.setComputedObjects(metrics("pods"), (namespace) =>
        simulatedPodMetrics(namespace === undefined ? pods.all() : pods.inNamespace(namespace), measurement()),
      );
      const podsOn = (node: string) => pods.byIndex("node", node);
      api.setComputedObjects(metrics("nodes"), () =>
        simulatedNodeMetrics(view<ApiNode>(builtInTypes.Node).all(), { ...measurement(), podsOn }),
      );
    },
  };
}

/**
 * Failures no retry will fix. API errors are expected in controllers, and plain Errors are how a reconcile asks for a
 * retry.
 */
export function isInternalFailure(
  failure: ControllerFailure,
): failure is Extract<ControllerFailure, { readonly error: unknown }> {
  if (failure.kind === "informer-failed" || isKubeError(failure.error)) return false;
  return failure.kind === "controller-ended" || !(failure.error instanceof Error) || failure.error.name !== "Error";
}
