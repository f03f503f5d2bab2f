import type { NodeOverlay } from "../../../api/kinds/node-overlay.ts";
import { labels } from "../../../api/labels.ts";
import type { KubeObject } from "../../../api/object.ts";
import { type Controller, reconcileController, triggerOn } from "../../../kube/controller.ts";
import { karpenterTypes } from "../../../kube/resources.ts";
import type { Prices } from "../prices.ts";

type NodeOverlayObject = KubeObject & NodeOverlay;

/** Prices of types AWS names none for, as overlays say that name the type and nothing else. (04 §2.5) */
export class OverlayPrices {
  #prices: ReadonlyMap<string, number> = new Map();
  #revision = 0;

  /** Keeps what the cluster's overlays say. */
  readonly controller: Controller = reconcileController({
    name: "providers.overlayprices",
    triggers: [triggerOn<NodeOverlayObject>(karpenterTypes.NodeOverlay, () => ["all"])],
    reconcile: async (_, { view }) => {
      this.#set(pricesIn(view<NodeOverlayObject>(karpenterTypes.NodeOverlay).all()));
      return undefined;
    },
  });

  /** Changes with any price. */
  get revision(): number {
    return this.#revision;
  }

  /** The prices with those that are missing. */
  over(known: Prices): Prices {
    return {
      onDemand: (typeInfo) => known.onDemand(typeInfo) ?? this.#prices.get(typeInfo.name),
      spot: (typeInfo, zone) => known.spot(typeInfo, zone) ?? this.#prices.get(typeInfo.name),
      ...(known.sourceOf && { sourceOf: known.sourceOf.bind(known) }),
    };
  }

  #set(prices: ReadonlyMap<string, number>): void {
    const isSame =
      prices.size === this.#prices.size && [...prices].every(([name, price]) => this.#prices.get(name) === price);
    if (isSame) return;
    this.#prices = prices;
    this.#revision++;
  }
}

/** Of several overlays for one type the one that counts is that of the highest weight, then of the last name. */
function pricesIn(overlays: readonly NodeOverlayObject[]): ReadonlyMap<string, number> {
  const ordered = [...overlays].sort(
    (a, b) =>
      (a.spec.weight ?? 0) - (b.spec.weight ?? 0) || ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1),
  );
  return new Map(
    ordered.flatMap(({ spec: { requirements, price } }) => {
      const [only, ...others] = requirements;
      const isOfOneType = only?.key === labels.instanceType && only.operator === "In" && only.values?.length === 1;
      const amount = Number(price);
      const isPrice = price !== undefined && Number.isFinite(amount);
      return isOfOneType && others.length === 0 && isPrice ? [[only?.values?.[0] ?? "", amount] as const] : [];
    }),
  );
}
