import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { ResourceList } from "../../api/kubernetes/pod.ts";
import { isManagedPool } from "../../api/validation/node-pool.ts";
import type { Loop } from "../../kube/loop.ts";
import { custom } from "../../kube/resources.ts";
import type { View } from "../../kube/view.ts";
import { poolsIn } from "../node-pool/pools.ts";
import type { Parts } from "../parts.ts";
import { figure, readAmounts, resourceType } from "./amounts.ts";
import { listeningLoop } from "./listening.ts";
import type { LabelsOf, Series } from "./metrics.ts";

/** What pools may use, and do. (03 §6.1: nodepools_limit, nodepools_usage) */
export function nodePoolMetrics({ metrics, cloud }: Parts): Loop {
  const isManaged = (pool: NodePool): boolean => isManagedPool(pool, cloud.nodeClasses);
  return listeningLoop({
    name: "metrics.nodepool",
    kinds: [custom.NodePool],
    listen: (world) => {
      const pools = poolsIn(world);
      const of = (amounts: (pool: NodePool) => ResourceList | undefined) => () => series(pools, { isManaged, amounts });
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

interface Showing {
  readonly isManaged: (pool: NodePool) => boolean;
  readonly amounts: (pool: NodePool) => ResourceList | undefined;
}

function* series(
  pools: View<NodePool>,
  { isManaged, amounts }: Showing,
): Generator<Series<LabelsOf<"nodepools_limit">>> {
  for (const pool of pools.all().filter(isManaged)) {
    const nodepool = pool.metadata.name ?? "";
    for (const [name, quantity] of Object.entries(readAmounts(amounts(pool)))) {
      yield { labels: { nodepool, resource_type: resourceType(name) }, value: figure(name, quantity) };
    }
  }
}
