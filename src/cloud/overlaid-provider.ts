import type { NodePool } from "../api/kinds/node-pool.ts";
import { labels } from "../api/labels.ts";
import { CloudError } from "./cloud-error.ts";
import type { CloudProvider } from "./cloud-provider.ts";
import type { OverlayStore } from "./overlay-store.ts";

/** A provider whose instance types have the prices and capacity of active overlays. Used by all but the overlay controller. (02:O-9) */
export function overlaidProvider(provider: CloudProvider, store: OverlayStore): CloudProvider {
  const { registrationHooks, defaultTerminationGracePeriod, unsupportedVolumes } = provider;
  /** Pools as last planned with: a launch uses the same prices. */
  const pools = new Map<string, NodePool>();
  store.subscribe(() => {
    for (const name of pools.keys()) if (!store.hasEvaluated(name)) pools.delete(name); // it is gone
  });
  return {
    name: provider.name,
    nodeClasses: provider.nodeClasses,
    labelPolicy: provider.labelPolicy,
    create: (claim) => {
      const pool = pools.get(claim.metadata.labels?.[labels.nodePool] ?? "");
      const { labelPolicy: policy } = provider;
      return provider.create(claim, {
        plannedInstanceTypes: (base) => (pool ? store.apply(pool, { base, policy }) : base),
      });
    },
    delete: (claim) => provider.delete(claim),
    get: (providerId) => provider.get(providerId),
    list: () => provider.list(),
    driftReason: (claim) => provider.driftReason(claim),
    repairPolicies: provider.repairPolicies,
    controllers: provider.controllers,
    ...(registrationHooks && { registrationHooks }),
    ...(defaultTerminationGracePeriod !== undefined && { defaultTerminationGracePeriod }),
    ...(unsupportedVolumes && { unsupportedVolumes }),
    onPricesChanged: (listener) => {
      const stops = [store.subscribe(listener), provider.onPricesChanged?.(listener)];
      return () => {
        for (const stop of stops) stop?.();
      };
    },
    instanceTypes: async (pool) => {
      const { name = "" } = pool.metadata;
      pools.set(name, pool);
      // A price not evaluated yet may be wrong by any factor: better no types for a moment. (02:O-8)
      if (!store.hasEvaluated(name)) {
        throw new CloudError("unevaluated", `nodepool ${JSON.stringify(name)} is awaiting evaluation`);
      }
      return store.apply(pool, { base: await provider.instanceTypes(pool), policy: provider.labelPolicy });
    },
  };
}
