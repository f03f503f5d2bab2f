import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { isCloudError } from "../../cloud/cloud-error.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import { poolCost as costOf, type PriceList, priceKeyOf, priceList } from "../../state/pool-cost.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { claimsOfPool, indexClaimsAndNodes, poolNameOf } from "../node-claim/claim-lookups.ts";
import { logReference } from "../provisioning/log-text.ts";
import { scaledConcurrency } from "../settings.ts";
import { managedPool, nodePoolView } from "./managed-pools.ts";

const refreshMs = 3_600_000;
/** Many claims change together: the sum is wanted once. */
const settleMs = 1_000;
const unevaluatedMs = 5_000;

/** A pool's prices as they were read. */
interface PoolPrices {
  readonly prices: PriceList;
  readonly readAt: number;
  readonly edition: number;
  /** Names of claims it has no price for, each reported once. */
  readonly unpriced: ReadonlySet<string>;
}

/** All pages; those of an older edition are not good any more. */
interface PriceCache {
  readonly byPool: Map<string, PoolPrices>;
  edition: number;
}

/** Says of every pool what its nodes cost. (03:S-7) */
export function poolCostController(dependencies: ControllerDependencies): Controller {
  const { cloud, settings } = dependencies;
  const priceCache: PriceCache = { byPool: new Map(), edition: 0 };
  return reconcileController({
    name: "nodepool.cost",
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, settings),
    triggers: [
      triggerOn<NodePool>(karpenterTypes.NodePool, poolNameOnCreateOrDelete, { settleMs }),
      triggerOn<NodeClaim>(karpenterTypes.NodeClaim, poolNamesOfClaim, { settleMs }),
    ],
    prepare: indexClaimsAndNodes,
    subscribe: (enqueue, context) =>
      cloud.onPricesChanged?.(() => {
        priceCache.edition++;
        for (const { metadata } of nodePoolView(context).all()) enqueue(metadata.name ?? "");
      }) ?? (() => {}),
    reconcile: (name, context) => {
      const pool = managedPool(name, context, cloud);
      return pool === undefined
        ? forgetPool(name, dependencies, priceCache)
        : reportPoolCost(pool, context, { dependencies, priceCache });
    },
  });
}

async function forgetPool(
  name: string,
  { metrics }: ControllerDependencies,
  { byPool }: PriceCache,
): Promise<undefined> {
  byPool.delete(name);
  metrics.forget("nodepools_cost_total", { nodepool: name });
}

async function reportPoolCost(
  pool: NodePool,
  context: ControllerContext,
  { dependencies, priceCache }: { readonly dependencies: ControllerDependencies; readonly priceCache: PriceCache },
): Promise<RequeueAfter> {
  const { name = "" } = pool.metadata;
  const now = context.clock.now();
  const claims = claimsOfPool(name, context).filter((claim) => priceKeyOf(claim) !== undefined);
  const before = priceCache.byPool.get(name);
  const poolPrices = isCurrent(before, { claims, now, priceCache })
    ? before
    : await fetchPrices(pool, { claims, now, priceCache, dependencies });
  if (poolPrices === undefined) return { afterMs: unevaluatedMs };
  const { total, unpriced } = costOf(claims, poolPrices.prices);
  for (const claim of unpriced) if (!before?.unpriced.has(nameOf(claim))) reportUnknownPrice(claim, pool, dependencies);
  priceCache.byPool.set(name, { ...poolPrices, unpriced: new Set(unpriced.map(nameOf)) });
  dependencies.metrics.set("nodepools_cost_total", { nodepool: name }, total);
  return { afterMs: poolPrices.readAt + refreshMs - now };
}

interface PriceLookup {
  readonly claims: readonly NodeClaim[];
  readonly now: number;
  readonly priceCache: PriceCache;
}

/** A claim it cannot price may be of a type that is new. */
function isCurrent(
  poolPrices: PoolPrices | undefined,
  { claims, now, priceCache }: PriceLookup,
): poolPrices is PoolPrices {
  if (poolPrices === undefined || poolPrices.edition !== priceCache.edition || now - poolPrices.readAt >= refreshMs)
    return false;
  return costOf(claims, poolPrices.prices).unpriced.every((claim) => poolPrices.unpriced.has(nameOf(claim)));
}

/** Undefined while the prices are being worked out. (02:O-8) */
async function fetchPrices(
  pool: NodePool,
  lookup: PriceLookup & { readonly dependencies: ControllerDependencies },
): Promise<PoolPrices | undefined> {
  const { cloud, metrics } = lookup.dependencies;
  const withoutPrices = { readAt: lookup.now, edition: lookup.priceCache.edition, unpriced: new Set<string>() };
  // Of a pool without nodes nobody needs prices; its node class may not even be there.
  if (lookup.claims.length === 0) return { ...withoutPrices, prices: new Map() };
  try {
    return { ...withoutPrices, prices: priceList(await cloud.instanceTypes(pool)) };
  } catch (error) {
    if (isCloudError(error, "unevaluated")) return undefined;
    metrics.count("nodepools_cost_tracker_errors_total", { nodepool: pool.metadata.name ?? "" });
    throw error;
  }
}

function reportUnknownPrice(claim: NodeClaim, pool: NodePool, { metrics, log }: ControllerDependencies): void {
  metrics.count("nodepools_cost_tracker_errors_total", { nodepool: pool.metadata.name ?? "" });
  log.error("price of nodeclaim is unknown, counting nothing for it", {
    NodePool: logReference(pool.metadata),
    NodeClaim: logReference(claim.metadata),
  });
}

/** Came or went: what it says is no matter. */
function poolNameOnCreateOrDelete({ object, old }: ObjectChange<NodePool>): readonly string[] {
  return object && old ? [] : [(object ?? old)?.metadata.name ?? ""];
}

/** A claim's labels come after it, and stay. */
function poolNamesOfClaim({ object, old }: ObjectChange<NodeClaim>): readonly string[] {
  if (object && old && priceKeyOf(object) === priceKeyOf(old) && poolNameOf(object) === poolNameOf(old)) return [];
  return [object, old].flatMap((claim) => (claim && poolNameOf(claim)) ?? []);
}

function nameOf({ metadata }: NodeClaim): string {
  return metadata.name ?? "";
}
