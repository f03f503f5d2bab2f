import { amount, merge, type Resources, subtract } from "../../core/resources.ts";
import type { Loop } from "../../kube/loop.ts";
import type { Cluster, StateNode } from "../../state/cluster.ts";
import type { Parts } from "../parts.ts";
import { figure, readAmounts, resourceType } from "./amounts.ts";
import { listeningLoop, secondsSince } from "./listening.ts";
import type { FamilyRow, LabelsOf, Series } from "./metrics.ts";

type Joined = StateNode & { readonly node: NonNullable<StateNode["node"]> };

const own = ["node_name", "phase", "managed"] as const;

/** Per node: what is asked of it and what it has. (03 §6.1) */
const resourceGauges: Readonly<Record<string, { readonly help: string; readonly of: (one: Joined) => Resources }>> = {
  allocatable: { help: "What pods can have of nodes.", of: ({ node }) => readAmounts(node.status?.allocatable) },
  total_pod_requests: { help: "What pods ask of nodes, daemons included.", of: ({ usage }) => usage.podRequests },
  total_pod_limits: { help: "What pods may use at most, daemons included.", of: ({ usage }) => usage.podLimits },
  total_daemon_requests: { help: "What daemons ask of nodes.", of: ({ usage }) => usage.daemonRequests },
  total_daemon_limits: { help: "What daemons may use at most.", of: ({ usage }) => usage.daemonLimits },
  system_overhead: {
    help: "What nodes keep for themselves.",
    of: ({ node: { status } }) => subtract(readAmounts(status?.capacity), readAmounts(status?.allocatable)),
  },
};

/** What nodes have and what is asked of them. (03 §6.1: nodes_*, cluster_utilization_percent) */
export function nodeMetrics({ metrics, cluster, cloud }: Parts): Loop {
  const wellKnown = [...cloud.labelPolicy.wellKnown].filter((key) => key.includes("/")).sort();
  const labels = [...own, ...new Set(wellKnown.map(metricLabel))];
  const gauge = (name: string, help: string, more: readonly string[] = []): FamilyRow => {
    return { name: `karpenter_nodes_${name}`, type: "gauge", labels: [...labels, ...more], help };
  };
  return listeningLoop({
    name: "metrics.node",
    kinds: [],
    listen: ({ clock }) => [
      ...Object.entries(resourceGauges).map(([name, { help, of }]) =>
        metrics.family(gauge(name, help, ["resource_type"])).collect(() => resourceSeries(cluster, { wellKnown, of })),
      ),
      metrics
        .family(gauge("current_lifetime_seconds", "Age of nodes."))
        .collect(() => lifetimeSeries(cluster, { wellKnown, now: clock.now() })),
      metrics.collect("cluster_utilization_percent", () => utilization(cluster)),
    ],
  });
}

function joined(cluster: Cluster): readonly Joined[] {
  return cluster.nodes().filter((one): one is Joined => one.node !== undefined);
}

interface Showing {
  readonly wellKnown: readonly string[];
  readonly of: (one: Joined) => Resources;
}

function* resourceSeries(cluster: Cluster, { wellKnown, of }: Showing): Generator<Series> {
  for (const one of joined(cluster)) {
    const labels = nodeLabels(one, wellKnown);
    for (const [name, quantity] of Object.entries(of(one))) {
      yield { labels: { ...labels, resource_type: resourceType(name) }, value: figure(name, quantity) };
    }
  }
}

function* lifetimeSeries(
  cluster: Cluster,
  { wellKnown, now }: Pick<Showing, "wellKnown"> & { readonly now: number },
): Generator<Series> {
  for (const one of joined(cluster)) {
    const { creationTimestamp } = one.node.metadata;
    yield { labels: nodeLabels(one, wellKnown), value: secondsSince(creationTimestamp, now) };
  }
}

/** `topology.kubernetes.io/zone` becomes `zone`. Labels of two providers may meet in one name: a node has one of them. */
function metricLabel(key: string): string {
  return key
    .slice(key.indexOf("/") + 1)
    .toLowerCase()
    .replaceAll("-", "_");
}

function nodeLabels({ node, isManaged }: Joined, wellKnown: readonly string[]): Record<string, string> {
  const { metadata, status } = node;
  const shown: Record<string, string> = {
    node_name: metadata.name ?? "",
    phase: status?.phase ?? "",
    managed: String(isManaged),
  };
  for (const key of wellKnown) shown[metricLabel(key)] = metadata.labels?.[key] || (shown[metricLabel(key)] ?? "");
  return shown;
}

function* utilization(cluster: Cluster): Generator<Series<LabelsOf<"cluster_utilization_percent">>> {
  const nodes = joined(cluster);
  const total = merge(...nodes.map(({ usage }) => usage.allocatable));
  const used = merge(...nodes.map(({ usage }) => usage.podRequests));
  for (const [name, quantity] of Object.entries(total)) {
    if (quantity.isZero()) continue;
    const share = amount(used, name).toNumber() / quantity.toNumber();
    yield { labels: { resource_type: resourceType(name) }, value: 100 * share };
  }
}
