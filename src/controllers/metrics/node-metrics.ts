import { amountOf, mergeResources, type Resources, subtractResources } from "../../core/resources.ts";
import type { StateNode } from "../../core/round/cluster-snapshot.ts";
import type { Controller } from "../../kube/controller.ts";
import type { Cluster } from "../../state/cluster.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { listeningController, secondsSince } from "./listening-controller.ts";
import type { MetricFamilyRow, MetricLabelsOf, MetricSeries } from "./metrics.ts";
import { metricValueOf, readableQuantities, resourceTypeLabel } from "./resource-values.ts";

type JoinedNode = StateNode & { readonly node: NonNullable<StateNode["node"]> };

const baseLabels = ["node_name", "phase", "managed"] as const;

/** The gauges per node and resource. (03 §6.1) */
const resourceGauges: Readonly<Record<string, { readonly help: string; readonly of: (one: JoinedNode) => Resources }>> =
  {
    allocatable: {
      help: "Allocatable resources of nodes.",
      of: ({ node }) => readableQuantities(node.status?.allocatable),
    },
    total_pod_requests: {
      help: "Requests of pods on nodes, DaemonSet pods included.",
      of: ({ usage }) => usage.podRequests,
    },
    total_pod_limits: { help: "Limits of pods on nodes, DaemonSet pods included.", of: ({ usage }) => usage.podLimits },
    total_daemon_requests: { help: "Requests of DaemonSet pods on nodes.", of: ({ usage }) => usage.daemonRequests },
    total_daemon_limits: { help: "Limits of DaemonSet pods on nodes.", of: ({ usage }) => usage.daemonLimits },
    system_overhead: {
      help: "Resources of nodes reserved for the system: capacity without allocatable.",
      of: ({ node: { status } }) =>
        subtractResources(readableQuantities(status?.capacity), readableQuantities(status?.allocatable)),
    },
  };

/** Resources of nodes and their usage. (03 §6.1: nodes_*, cluster_utilization_percent) */
export function nodeMetricsController(dependencies: ControllerDependencies): Controller {
  const wellKnown = [...dependencies.cloud.labelPolicy.wellKnown].filter((key) => key.includes("/")).sort();
  const labels = [...baseLabels, ...new Set(wellKnown.map(metricLabel))];
  const gauge = (name: string, help: string, more: readonly string[] = []): MetricFamilyRow => {
    return { name: `karpenter_nodes_${name}`, type: "gauge", labels: [...labels, ...more], help };
  };
  return listeningController(dependencies, {
    name: "metrics.node",
    kinds: [],
    reads: [{ of: "cluster state", because: "computed when metrics are read" }],
    listen: ({ clock, metrics, cluster }) => [
      ...Object.entries(resourceGauges).map(([name, { help, of }]) =>
        metrics.family(gauge(name, help, ["resource_type"])).collect(() => resourceSeries(cluster, { wellKnown, of })),
      ),
      metrics
        .family(gauge("current_lifetime_seconds", "Age of nodes."))
        .collect(() => lifetimeSeries(cluster, { wellKnown, now: clock.now() })),
      metrics.collect("cluster_utilization_percent", () => utilizationSeries(cluster)),
    ],
  });
}

function joinedNodes(cluster: Cluster): readonly JoinedNode[] {
  return cluster.nodes().filter((one): one is JoinedNode => one.node !== undefined);
}

interface NodeSeriesOptions {
  readonly wellKnown: readonly string[];
  readonly of: (one: JoinedNode) => Resources;
}

function* resourceSeries(cluster: Cluster, { wellKnown, of }: NodeSeriesOptions): Generator<MetricSeries> {
  for (const one of joinedNodes(cluster)) {
    const labels = nodeLabels(one, wellKnown);
    for (const [name, quantity] of Object.entries(of(one))) {
      yield { labels: { ...labels, resource_type: resourceTypeLabel(name) }, value: metricValueOf(name, quantity) };
    }
  }
}

function* lifetimeSeries(
  cluster: Cluster,
  { wellKnown, now }: Pick<NodeSeriesOptions, "wellKnown"> & { readonly now: number },
): Generator<MetricSeries> {
  for (const one of joinedNodes(cluster)) {
    const { creationTimestamp } = one.node.metadata;
    yield { labels: nodeLabels(one, wellKnown), value: secondsSince(creationTimestamp, now) };
  }
}

/** `topology.kubernetes.io/zone` becomes `zone`. Labels of two providers may get the same name: a node has only one of them. */
function metricLabel(key: string): string {
  return key
    .slice(key.indexOf("/") + 1)
    .toLowerCase()
    .replaceAll("-", "_");
}

function nodeLabels({ node, isManaged }: JoinedNode, wellKnown: readonly string[]): Record<string, string> {
  const { metadata, status } = node;
  const metricLabels: Record<string, string> = {
    node_name: metadata.name ?? "",
    phase: status?.phase ?? "",
    managed: String(isManaged),
  };
  for (const key of wellKnown)
    metricLabels[metricLabel(key)] = metadata.labels?.[key] || (metricLabels[metricLabel(key)] ?? "");
  return metricLabels;
}

function* utilizationSeries(cluster: Cluster): Generator<MetricSeries<MetricLabelsOf<"cluster_utilization_percent">>> {
  const nodes = joinedNodes(cluster);
  const total = mergeResources(...nodes.map(({ usage }) => usage.allocatable));
  const used = mergeResources(...nodes.map(({ usage }) => usage.podRequests));
  for (const [name, quantity] of Object.entries(total)) {
    if (quantity.isZero()) continue;
    const share = amountOf(used, name).toNumber() / quantity.toNumber();
    yield { labels: { resource_type: resourceTypeLabel(name) }, value: 100 * share };
  }
}
