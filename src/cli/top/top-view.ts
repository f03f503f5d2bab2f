import type { KubeObject } from "../../api/object.ts";
import { ObjectsByKind } from "../../state/objects-by-kind.ts";
import { type NodePriceOf, nodePrices } from "./node-prices.ts";
import type { PodUse } from "./pod-use.ts";
import { ec2TypesOfRegions } from "./region-types.ts";
import { sortedRows, type TopSortKey } from "./sort-rows.ts";
import type { TopFindings } from "./top-findings.ts";
import { type TopView, topTotals } from "./top-report.ts";
import { type TopCluster, topRows } from "./top-rows.ts";

export interface TopViewOptions {
  readonly priceOf: NodePriceOf;
  readonly reasons: TopFindings["reasons"];
  readonly use: PodUse;
  readonly nowMs: number;
  readonly sort: TopSortKey;
  readonly notes: readonly string[];
}

/** The objects of a cluster as a view of its nodes. */
export function topViewOf(cluster: TopCluster, { sort, nowMs, notes, ...options }: TopViewOptions): TopView {
  const rows = topRows(cluster, options);
  return { rows: sortedRows(rows, sort), totals: topTotals(rows, cluster), nowMs, notes };
}

export function topClusterOf(objects: readonly KubeObject[]): TopCluster {
  const byKind = new ObjectsByKind(objects);
  return { nodes: byKind.ofKind("Node"), claims: byKind.ofKind("NodeClaim"), pods: byKind.ofKind("Pod") };
}

/** Prices of NodePools, then the list prices of the regions of nodes; and what to know about them. */
export async function topPrices(
  { nodes }: TopCluster,
  { prices }: TopFindings,
): Promise<{ readonly priceOf: NodePriceOf; readonly notes: readonly string[] }> {
  const { types, unknownRegions } = await ec2TypesOfRegions(nodes);
  return {
    priceOf: nodePrices({ ...prices, others: [...prices.others, ...types] }),
    notes: unknownRegions.map(
      (region) => `prices of region ${region} are not known offline; --region uses those of another region`,
    ),
  };
}
