import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { ResourceList } from "../../api/kubernetes/pod.ts";
import { isManagedPool } from "../../api/validation/node-pool.ts";
import type { Controller } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { View } from "../../kube/view.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { nodePoolView } from "../node-pool/managed-pools.ts";
import { listeningController } from "./listening-controller.ts";
import type { MetricLabelsOf, MetricSeries } from "./metrics.ts";
import { metricValueOf, readableQuantities, resourceTypeLabel } from "./resource-values.ts";

/** Limits and usage of pools. (03 §6.1: nodepools_limit, nodepools_usage) */
export function nodePoolMetricsController(dependencies: ControllerDependencies): Controller {
  return listeningController(dependencies, {
    name: "metrics.nodepool",
    kinds: [karpenterTypes.NodePool],
    reads: [{ of: karpenterTypes.NodePool, because: "computed when metrics are read" }],
    listen: (context) => {
      const { metrics, cloud } = context;
      const isManaged = (pool: NodePool): boolean => isManagedPool(pool, cloud.nodeClasses);
      const pools = nodePoolView(context);
      const of = (amounts: (pool: NodePool) => ResourceList | undefined) => () =>
        poolSeries(pools, { isManaged, amounts });
      return [
        metrics.collect(
          "nodepools_limit",
          of(({ spec }) => spec.limits),
        ),
        metrics.collect(
          "nodepools_usage",
          of(({ status }) => status?.resources),
        ),
      ];
    },
  });
}

interface PoolSeriesOptions {
  readonly isManaged: (pool: NodePool) => boolean;
  readonly amounts: (pool: NodePool) => ResourceList | undefined;
}

function* poolSeries(
  pools: View<NodePool>,
  { isManaged, amounts }: PoolSeriesOptions,
): Generator<MetricSeries<MetricLabelsOf<"nodepools_limit">>> {
  for (const pool of pools.all().filter(isManaged)) {
    const nodepool = pool.metadata.name ?? "";
    for (const [name, quantity] of Object.entries(readableQuantities(amounts(pool)))) {
      yield { labels: { nodepool, resource_type: resourceTypeLabel(name) }, value: metricValueOf(name, quantity) };
    }
  }
}
