import { labels } from "../../api/labels.ts";
import type { DisruptionSnapshot } from "../../core/disruption/snapshot.ts";
import { offeringAt } from "../../core/instance-type.ts";
import type { Priced } from "./price-sources.ts";

/** The prices of nodes with a NodeClaim, as far as they are known, and where they come from. */
export function claimedNodePrices({
  cluster,
  pools,
}: Pick<DisruptionSnapshot, "cluster" | "pools">): readonly Priced[] {
  return cluster.nodes.flatMap(({ claim, nodePool = "", existing }): readonly Priced[] => {
    const {
      [labels.instanceType]: name = "",
      [labels.zone]: zone,
      [labels.capacityType]: capacityType,
    } = existing.labels;
    const type = claim && pools.get(nodePool)?.instanceTypes.get(name);
    const offering = type && offeringAt(type, { zone, capacityType });
    return offering === undefined ? [] : [offering];
  });
}
