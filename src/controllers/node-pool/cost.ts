import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { isCloudError } from "../../cloud/error.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import type { LookAgain } from "../../kube/reconciler.ts";
import { custom } from "../../kube/resources.ts";
import type { Change } from "../../kube/view.ts";
import { poolCost as costOf, offeringOf, type PriceList, priceList } from "../../state/pool-cost.ts";
import { claimsOfPool, indexMachines, poolNameOf } from "../node-claim/lookups.ts";
import type { Parts } from "../parts.ts";
import { referred } from "../provisioning/words.ts";
import { workers } from "../settings.ts";
import { managedPool, poolsIn } from "./pools.ts";

const refreshMs = 3_600_000;
/** Many claims change together: the sum is wanted once. */
const settleMs = 1_000;
const unevaluatedMs = 5_000;

/** A pool's prices as they were read. */
interface Page {
  readonly prices: PriceList;
  readonly readAt: number;
  readonly edition: number;
  /** Names of claims it has no price for, each reported once. */
  readonly unpriced: ReadonlySet<string>;
}

/** All pages; those of an older edition are not good any more. */
interface PriceBook {
  readonly pages: Map<string, Page>;
  edition: number;
}

/** Says of every pool what its nodes cost. (03:S-7) */
export function poolCost(parts: Parts): Loop {
  const { cloud, settings } = parts;
  const book: PriceBook = { pages: new Map(), edition: 0 };
  return reconcileLoop({
    name: "nodepool.cost",
    concurrency: workers({ min: 10, max: 1_000 }, settings),
    triggers: [
      on<NodePool>(custom.NodePool, poolItself, { settleMs }),
      on<NodeClaim>(custom.NodeClaim, poolsOfClaim, { settleMs }),
    ],
    prepare: indexMachines,
    wake: (enqueue, world) =>
      cloud.onPrices?.(() => {
        book.edition++;
        for (const { metadata } of poolsIn(world).all()) enqueue(metadata.name ?? "");
      }) ?? (() => {}),
    reconcile: (name, world) => {
      const pool = managedPool(name, world, cloud);
      return pool === undefined ? forget(name, parts, book) : price(pool, world, { parts, book });
    },
  });
}

async function forget(name: string, { metrics }: Parts, { pages }: PriceBook): Promise<undefined> {
  pages.delete(name);
  metrics.forget("nodepools_cost_total", { nodepool: name });
}

async function price(
  pool: NodePool,
  world: LoopWorld,
  { parts, book }: { readonly parts: Parts; readonly book: PriceBook },
): Promise<LookAgain> {
  const { name = "" } = pool.metadata;
  const now = world.clock.now();
  const claims = claimsOfPool(name, world).filter((claim) => offeringOf(claim) !== undefined);
  const before = book.pages.get(name);
  const page = isGood(before, { claims, now, book }) ? before : await readPage(pool, { claims, now, book, parts });
  if (page === undefined) return { afterMs: unevaluatedMs };
  const { total, unpriced } = costOf(claims, page.prices);
  for (const claim of unpriced) if (!before?.unpriced.has(nameOf(claim))) complain(claim, pool, parts);
  book.pages.set(name, { ...page, unpriced: new Set(unpriced.map(nameOf)) });
  parts.metrics.set("nodepools_cost_total", { nodepool: name }, total);
  return { afterMs: page.readAt + refreshMs - now };
}

interface Look {
  readonly claims: readonly NodeClaim[];
  readonly now: number;
  readonly book: PriceBook;
}

/** A claim it cannot price may be of a type that is new. */
function isGood(page: Page | undefined, { claims, now, book }: Look): page is Page {
  if (page === undefined || page.edition !== book.edition || now - page.readAt >= refreshMs) return false;
  return costOf(claims, page.prices).unpriced.every((claim) => page.unpriced.has(nameOf(claim)));
}

/** Undefined while the prices are being worked out. (02:O-8) */
async function readPage(pool: NodePool, look: Look & { readonly parts: Parts }): Promise<Page | undefined> {
  const { cloud, metrics } = look.parts;
  const blank = { readAt: look.now, edition: look.book.edition, unpriced: new Set<string>() };
  // Of a pool without nodes nobody needs prices; its node class may not even be there.
  if (look.claims.length === 0) return { ...blank, prices: new Map() };
  try {
    return { ...blank, prices: priceList(await cloud.instanceTypes(pool)) };
  } catch (error) {
    if (isCloudError(error, "unevaluated")) return undefined;
    metrics.count("nodepools_cost_tracker_errors_total", { nodepool: pool.metadata.name ?? "" });
    throw error;
  }
}

function complain(claim: NodeClaim, pool: NodePool, { metrics, log }: Parts): void {
  metrics.count("nodepools_cost_tracker_errors_total", { nodepool: pool.metadata.name ?? "" });
  log.error("price of nodeclaim is unknown, counting nothing for it", {
    NodePool: referred(pool.metadata),
    NodeClaim: referred(claim.metadata),
  });
}

/** Came or went: what it says is no matter. */
function poolItself({ object, old }: Change<NodePool>): readonly string[] {
  return object && old ? [] : [(object ?? old)?.metadata.name ?? ""];
}

/** A claim's labels come after it, and stay. */
function poolsOfClaim({ object, old }: Change<NodeClaim>): readonly string[] {
  if (object && old && offeringOf(object) === offeringOf(old) && poolNameOf(object) === poolNameOf(old)) return [];
  return [object, old].flatMap((claim) => (claim && poolNameOf(claim)) ?? []);
}

function nameOf({ metadata }: NodeClaim): string {
  return metadata.name ?? "";
}
