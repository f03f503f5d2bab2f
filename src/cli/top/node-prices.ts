import { kwokLabels } from "../../api/labels.ts";
import { type InstanceType, offeringCapacityType, offeringZone } from "../../core/instance-type.ts";
import type { PriceSource } from "../../core/price-source.ts";
import type { NodeLabels } from "./node-labels.ts";

/** Instance types by name. */
export type TypesByName = ReadonlyMap<string, InstanceType>;

export interface NodePriceSources {
  /** Types of NodePools, with the prices that overlays give them. */
  readonly pools: ReadonlyMap<string, TypesByName>;
  /** For nodes of no NodePool, or whose pool does not offer their type: looked up in this order. */
  readonly others: readonly TypesByName[];
}

/** A node as far as its price depends on it. */
interface PricedNode extends NodeLabels {
  readonly labels: Readonly<Record<string, string>>;
}

/** Dollars an hour, and where the price comes from, if it is of a catalogue. */
interface NodePrice {
  readonly perHour: number;
  readonly source?: PriceSource | undefined;
}

/** Undefined if the price is not known. */
export type NodePriceOf = (node: PricedNode) => NodePrice | undefined;

export function nodePrices({ pools, others }: NodePriceSources): NodePriceOf {
  return (node) => {
    const { pool = "", instanceType = "" } = node;
    const offered = [pools.get(pool), ...others].flatMap((types) => types?.get(instanceType) ?? []);
    for (const type of offered) {
      const price = priceAs(type, node);
      if (price !== undefined) return price;
    }
    return labelledPrice(node);
  };
}

/** On-demand prices are the same in all zones of a region, so that one will do where the node's zone is not known. */
function priceAs({ offerings }: InstanceType, { zone, capacityType = "on-demand" }: PricedNode): NodePrice | undefined {
  const alike = offerings.filter((one) => offeringCapacityType(one) === capacityType && !Number.isNaN(one.price));
  const exact = alike.find((one) => offeringZone(one) === zone);
  const found = exact ?? (capacityType === "on-demand" ? alike[0] : undefined);
  return found && { perHour: found.price, source: found.priceSource };
}

/** Simulated nodes carry their price, as eks-node-viewer reads it. */
function labelledPrice({ labels: written }: PricedNode): NodePrice | undefined {
  const text = written[kwokLabels.instancePrice] ?? "";
  const perHour = Number(text);
  return text === "" || !Number.isFinite(perHour) || perHour < 0 ? undefined : { perHour };
}

export function typesByName(types: readonly InstanceType[]): TypesByName {
  return new Map(types.map((type) => [type.name, type]));
}
