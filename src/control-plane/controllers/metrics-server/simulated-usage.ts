import type { Pod } from "../../../api/kubernetes/pod.ts";
import { resources } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { podRequests, QuantityReader } from "../../../core/pod-requests.ts";
import { Quantity } from "../../../util/quantity.ts";
import { Random } from "../../../util/random.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import type { ApiNode, ApiPod } from "../api-pod-and-node.ts";

/** Usage of cpu, in nanocores, and memory. */
export interface SimulatedUsage {
  readonly cpuNano: number;
  readonly memoryBytes: number;
}

export interface SimulatedUsageOptions {
  readonly now: number;
  readonly seed: string;
  /** What a pod uses of cpu, in millicores, where that is not by chance. */
  readonly cpuLoadOf?: ((pod: Pod) => number | undefined) | undefined;
}

/** Usage of a pod without requests. */
const usageWithoutRequests = { cpuMilli: 5, memoryBytes: 16 * 1024 * 1024 };
/** Usage of a node without pods. */
const nodeSystemUsage = { cpuMilli: 80, memoryBytes: 400 * 1024 * 1024 };
const dayMs = 24 * 3_600_000;
/** The interval of metrics-server. */
const windowMs = 15_000;

/** Requests times a per-pod factor that varies over the day. (05:CP-L13) */
export function simulatedPodUsage(pod: Pod, { now, seed, cpuLoadOf }: SimulatedUsageOptions): SimulatedUsage {
  const requests = podRequests(pod, new QuantityReader());
  const own = new Random(`${seed}/usage/${pod.metadata.uid ?? pod.metadata.name}`);
  const cpuShare = 0.1 + own.next() * 0.7;
  const memoryShare = 0.4 + own.next() * 0.5;
  const phase = own.next();
  const at = Math.floor(now / windowMs) * windowMs;
  const wave = 1 + 0.25 * Math.sin(2 * Math.PI * (at / dayMs + phase));
  const noise = 0.95 + 0.1 * own.fork(String(at)).next();
  const cpuMilli = Number((requests[resources.cpu] ?? Quantity.zero).milliValue()) || usageWithoutRequests.cpuMilli;
  const memory = Number((requests[resources.memory] ?? Quantity.zero).value()) || usageWithoutRequests.memoryBytes;
  return {
    cpuNano: Math.round(1e6 * (cpuLoadOf?.(pod) ?? cpuMilli * cpuShare * wave * noise)),
    memoryBytes: Math.round((memory * memoryShare * (0.97 + 0.03 * wave)) / 4096) * 4096,
  };
}

/** The sum over the node's running pods, and the node's own usage. */
export function simulatedNodeUsage(pods: Iterable<Pod>, options: SimulatedUsageOptions): SimulatedUsage {
  let { cpuNano, memoryBytes } = { cpuNano: nodeSystemUsage.cpuMilli * 1e6, memoryBytes: nodeSystemUsage.memoryBytes };
  for (const pod of pods) {
    if (pod.status?.phase !== "Running") continue;
    const usage = simulatedPodUsage(pod, options);
    cpuNano += usage.cpuNano;
    memoryBytes += usage.memoryBytes;
  }
  return { cpuNano, memoryBytes };
}

/** `metrics.k8s.io` PodMetrics of every running pod, split evenly over its containers. */
export function simulatedPodMetrics(pods: Iterable<ApiPod>, options: SimulatedUsageOptions): readonly KubeObject[] {
  return [...pods]
    .filter(({ status }) => status?.phase === "Running")
    .map((pod) => {
      const { name, namespace, labels = {} } = pod.metadata;
      const containers = pod.spec.containers ?? [];
      const { cpuNano, memoryBytes } = simulatedPodUsage(pod, options);
      const share = usageQuantities({
        cpuNano: Math.round(cpuNano / Math.max(1, containers.length)),
        memoryBytes: Math.round(memoryBytes / Math.max(1, containers.length)),
      });
      return {
        apiVersion: "metrics.k8s.io/v1beta1",
        kind: "PodMetrics",
        metadata: { name, namespace, labels, creationTimestamp: rfc3339(options.now) },
        ...metricsWindow(options),
        containers: containers.map((container) => ({ name: container.name ?? "", usage: share })),
      };
    });
}

/** `metrics.k8s.io` NodeMetrics of every node. */
export function simulatedNodeMetrics(
  nodes: Iterable<ApiNode>,
  { podsOn, ...options }: SimulatedUsageOptions & { readonly podsOn: (node: string) => Iterable<Pod> },
): readonly KubeObject[] {
  return [...nodes].map(({ metadata }) => ({
    apiVersion: "metrics.k8s.io/v1beta1",
    kind: "NodeMetrics",
    metadata: { name: metadata.name, labels: metadata.labels ?? {}, creationTimestamp: rfc3339(options.now) },
    ...metricsWindow(options),
    usage: usageQuantities(simulatedNodeUsage(podsOn(metadata.name ?? ""), options)),
  }));
}

function metricsWindow({ now }: SimulatedUsageOptions): { readonly timestamp: string; readonly window: string } {
  return { timestamp: rfc3339(Math.floor(now / windowMs) * windowMs), window: `${windowMs / 1000}s` };
}

function usageQuantities({ cpuNano, memoryBytes }: SimulatedUsage): { readonly cpu: string; readonly memory: string } {
  return { cpu: `${cpuNano}n`, memory: `${Math.round(memoryBytes / 1024)}Ki` };
}
