import type { LabelPolicy } from "../../api/label-policy.ts";
import { checkMinValues } from "../min-values.ts";
import type { PlannedNode } from "../scheduling/decision.ts";
import { worstLaunchPrice } from "./price-filters.ts";

/** What several new nodes may cost, so that together they cost less than the nodes they replace. */
export type PriceLimits =
  | { readonly kind: "within"; readonly limits: readonly number[] }
  /** Even the cheapest types are not cheaper together; what each node costs at least. */
  | { readonly kind: "too-dear"; readonly least: readonly number[] };

/**
 * Divides the price of the candidates among their replacements. Each gets what its cheapest types cost at worst, as many
 * as its minValues need, and the rest in proportion, so that all have about the same choice of types. (03:D-46b)
 */
export function dividedPrice(nodes: readonly PlannedNode[], price: number, policy: LabelPolicy): PriceLimits {
  const least = nodes.map((node) => leastLaunchPrice(node, policy));
  const sum = total(least);
  if (!isLess(sum, price)) return { kind: "too-dear", least };
  const share = (one: number): number => (sum > 0 ? one / sum : 1 / nodes.length);
  return { kind: "within", limits: least.map((one) => one + (price - sum) * share(one)) };
}

/** Whether the nodes cost less than this together, however their launches go. Rounding must not let an equal price pass. */
export function areCheaperTogether(nodes: readonly PlannedNode[], price: number, policy: LabelPolicy): boolean {
  const worst = nodes.map(({ instanceTypes, requirements }) =>
    Math.max(...instanceTypes.map((type) => worstLaunchPrice(type, requirements, policy))),
  );
  return isLess(total(worst), price);
}

/** The lowest price at which enough types for its minValues can be launched; minValues that cannot be met are judged elsewhere. */
function leastLaunchPrice({ instanceTypes, requirements }: PlannedNode, policy: LabelPolicy): number {
  const byPrice = instanceTypes
    .map((type) => ({ type, price: worstLaunchPrice(type, requirements, policy) }))
    .sort((a, b) => a.price - b.price);
  const flexible = checkMinValues(
    byPrice.map(({ type }) => type),
    requirements,
  );
  const needed = flexible.kind === "satisfied" ? Math.max(1, flexible.needed) : 1;
  return byPrice[needed - 1]?.price ?? Number.POSITIVE_INFINITY;
}

/** The same prices add up to other numbers in another order: a difference in the last digits is none. */
function isLess(sum: number, price: number): boolean {
  return sum < price * (1 - 1e-9);
}

function total(prices: readonly number[]): number {
  return prices.reduce((sum, one) => sum + one, 0);
}
