import type { InstanceSource } from "../cloud/instance-source.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import { type Loop, type LoopTrouble, type RunningLoops, startLoops } from "../kube/loop.ts";
import { builtIn } from "../kube/resources.ts";
import type { Clock } from "../util/clock.ts";
import type { Random } from "../util/random.ts";
import type { ApiServer } from "./api/server.ts";
import { InProcessClient } from "./in-process-client.ts";
import { type ClusterLoopOptions, clusterLoops } from "./loops/cluster/cluster-loops.ts";
import { LeaseTimes } from "./loops/cluster/kubelet/leases.ts";
import type { LiveNode, LivePod } from "./loops/cluster/live.ts";
import { nodeMetrics, podMetrics } from "./loops/cluster/usage/usage.ts";
import { garbageLoops } from "./loops/garbage/loops.ts";
import { workloadLoops } from "./loops/workloads/loops.ts";

export interface ClusterOptions {
  readonly api: ApiServer;
  readonly clock: Clock;
  readonly random: Random;
  /** The machines its kubelets run on. */
  readonly instances: InstanceSource;
  readonly settings?: Omit<ClusterLoopOptions, "kubelets"> | undefined;
  /** What stands between the loops and the server: faults, a network. Nothing, unless given. */
  readonly through?: ((client: KubeClient) => KubeClient) | undefined;
  readonly recordsEvents?: boolean | undefined;
  readonly onTrouble?: ((trouble: LoopTrouble) => void) | undefined;
}

/** Everything that goes on behind the API server: CP-L1 to CP-L13. (05 §6) */
export function startCluster(options: ClusterOptions): RunningLoops {
  const { api, clock, random, instances, settings = {}, through = (client) => client } = options;
  const leases = api.kinds.get(builtIn.Lease);
  const times = new LeaseTimes(clock);
  api.setOverlay(leases, times.overlay);
  const kubelets = {
    instances,
    leases: { kind: "computed", times, isWatched: () => api.watchersOf(leases) > 0 },
  } as const;
  return startLoops({
    client: through(new InProcessClient(api)),
    clock,
    random,
    loops: [...workloadLoops, ...garbageLoops, ...clusterLoops({ ...settings, kubelets }), usageLoop(api)],
    recordsEvents: options.recordsEvents,
    log: options.onTrouble,
  });
}

/** `kubectl top`. (05:CP-L13) */
function usageLoop(api: ApiServer): Loop {
  const metrics = (plural: string) => api.kinds.get({ group: "metrics.k8s.io", version: "v1beta1", plural });
  return {
    name: "usage",
    kinds: [builtIn.Node, builtIn.Pod],
    run: async ({ view, random, clock }) => {
      const pods = view<LivePod>(builtIn.Pod);
      pods.index("node", ({ spec }) => spec.nodeName);
      const measured = () => ({ now: clock.now(), seed: random.seed });
      api.setReads(metrics("pods"), (namespace) =>
        podMetrics(namespace === undefined ? pods.all() : pods.in(namespace), measured()),
      );
      const podsOn = (node: string) => pods.by("node", node);
      api.setReads(metrics("nodes"), () => nodeMetrics(view<LiveNode>(builtIn.Node).all(), { ...measured(), podsOn }));
    },
  };
}

/**
 * Troubles that no retry will mend. Refusals by the API are the daily bread of loops, and so are plain errors, with
 * which a loop says that it has not seen enough yet.
 */
export function isFaultOfOurs(trouble: LoopTrouble): trouble is Extract<LoopTrouble, { readonly error: unknown }> {
  if (trouble.kind === "watch-trouble" || isKubeError(trouble.error)) return false;
  return trouble.kind === "loop-ended" || !(trouble.error instanceof Error) || trouble.error.name !== "Error";
}
