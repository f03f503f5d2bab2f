import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { isCloudError } from "../../cloud/cloud-error.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import { poolCost as costOf, type PriceList, priceKeyOf, priceList } from "../../state/pool-cost.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { claimNameOf, claimsOfPool, indexClaimsAndNodes, poolNameOf } from "../node-claim/claim-lookups.ts";
import { logReference } from "../provisioning/log-text.ts";
import { scaledConcurrency } from "../settings.ts";
import { managedPool, nodePoolView } from "./managed-pools.ts";

const refreshMs = 3_600_000;
/** Many claims change together: the sum is computed once. */
const settleMs = 1_000;
const unevaluatedMs = 5_000;

/** A pool's prices as they were fetched. */
interface PoolPrices {
  readonly prices: PriceList;
  readonly fetchedAt: number;
  readonly priceVersion: number;
  /** Names of claims without a price, each reported once. */
  readonly unpriced: ReadonlySet<string>;
}

/** Prices by pool; those of an older version are fetched again. */
interface PriceCache {
  readonly byPool: Map<string, PoolPrices>;
  priceVersion: number;
}

/** Reports what the nodes of every pool cost. (03:S-7) */
export function poolCostController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "nodepool.cost",
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, dependencies.settings),
    triggers: [
      triggerOn<NodePool>(karpenterTypes.NodePool, poolNameOnCreateOrDelete, { settleMs }),
      triggerOn<NodeClaim>(karpenterTypes.NodeClaim, poolNamesOfClaim, { settleMs }),
    ],
    reads: [{ of: "cloud", withinMs: refreshMs, because: "a provider announces new prices only if it can" }],
    start: (context): PriceCache => {
      indexClaimsAndNodes(context);
      return { byPool: new Map(), priceVersion: 0 };
    },
    subscribe: (enqueue, context, priceCache) =>
      context.cloud.onPricesChanged?.(() => {
        priceCache.priceVersion++;
        for (const { metadata } of nodePoolView(context).all()) enqueue(metadata.name ?? "");
      }) ?? (() => {}),
    reconcile: (name, context, priceCache) => {
      const pool = managedPool(name, context);
      return pool === undefined ? forgetPool(name, priceCache, context) : reportCost(pool, priceCache, context);
    },
  });
}

async function forgetPool(name: string, { byPool }: PriceCache, { metrics }: KarpenterContext): Promise<undefined> {
  byPool.delete(name);
  metrics.forget("nodepools_cost_total", { nodepool: name });
}

async function reportCost(pool: NodePool, priceCache: PriceCache, context: KarpenterContext): Promise<RequeueAfter> {
  const { name = "" } = pool.metadata;
  const now = context.clock.now();
  const claims = claimsOfPool(name, context).filter((claim) => priceKeyOf(claim) !== undefined);
  const before = priceCache.byPool.get(name);
  const poolPrices = isCurrent(before, { claims, now, priceCache })
    ? before
    : await fetchPrices(pool, { claims, now, priceCache }, context);
  if (poolPrices === undefined) return { afterMs: unevaluatedMs };
  const { total, unpriced } = costOf(claims, poolPrices.prices);
  for (const claim of unpriced) if (!before?.unpriced.has(claimNameOf(claim))) reportUnknownPrice(claim, pool, context);
  priceCache.byPool.set(name, { ...poolPrices, unpriced: new Set(unpriced.map(claimNameOf)) });
  context.metrics.set("nodepools_cost_total", { nodepool: name }, total);
  return { afterMs: poolPrices.fetchedAt + refreshMs - now };
}

interface PriceLookup {
  readonly claims: readonly NodeClaim[];
  readonly now: number;
  readonly priceCache: PriceCache;
}

/** A claim without a price may be of a new instance type. */
function isCurrent(known: PoolPrices | undefined, { claims, now, priceCache }: PriceLookup): known is PoolPrices {
  if (known?.priceVersion !== priceCache.priceVersion || now - known.fetchedAt >= refreshMs) return false;
  return costOf(claims, known.prices).unpriced.every((claim) => known.unpriced.has(claimNameOf(claim)));
}

/** Undefined while NodeOverlays are evaluated. (02:O-8) */
async function fetchPrices(
  pool: NodePool,
  { claims, now, priceCache }: PriceLookup,
  { cloud, metrics }: KarpenterContext,
): Promise<PoolPrices | undefined> {
  const withoutPrices = { fetchedAt: now, priceVersion: priceCache.priceVersion, unpriced: new Set<string>() };
  // A pool without nodes needs no prices; its node class may not even exist.
  if (claims.length === 0) return { ...withoutPrices, prices: new Map() };
  try {
    return { ...withoutPrices, prices: priceList(await cloud.instanceTypes(pool)) };
  } catch (error) {
    if (isCloudError(error, "unevaluated")) return undefined;
    metrics.count("nodepools_cost_tracker_errors_total", { nodepool: pool.metadata.name ?? "" });
    throw error;
  }
}

function reportUnknownPrice(claim: NodeClaim, pool: NodePool, { metrics, log }: KarpenterContext): void {
  metrics.count("nodepools_cost_tracker_errors_total", { nodepool: pool.metadata.name ?? "" });
  log.error("unknown price of nodeclaim, counted as zero", {
    NodePool: logReference(pool.metadata),
    NodeClaim: logReference(claim.metadata),
  });
}

/** Only when it is created or deleted: its content does not matter. */
function poolNameOnCreateOrDelete({ object, old }: ObjectChange<NodePool>): readonly string[] {
  return object && old ? [] : [(object ?? old)?.metadata.name ?? ""];
}

/** A claim gets the labels that decide its price once it is launched. */
function poolNamesOfClaim({ object, old }: ObjectChange<NodeClaim>): readonly string[] {
  if (object && old && priceKeyOf(object) === priceKeyOf(old) && poolNameOf(object) === poolNameOf(old)) return [];
  return [object, old].flatMap((claim) => (claim && poolNameOf(claim)) ?? []);
}
