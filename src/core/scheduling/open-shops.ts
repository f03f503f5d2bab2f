import { Quantity } from "../../util/quantity.ts";
import { each, type Steps } from "../../util/steps.ts";
import type { InstanceType } from "../instance-type.ts";
import { checkMinValues } from "../min-values.ts";
import type { QuantityReader } from "../pod-requests.ts";
import { amount, type Resources } from "../resources.ts";
import { Catalogue } from "./catalogue.ts";
import { type Daemon, groupingDaemons } from "./daemons.ts";
import type { EmptyPool } from "./decision.ts";
import { Outlines } from "./outline.ts";
import type { Shop } from "./pass-state.ts";
import type { ExistingNode, Pool, SchedulingProblem } from "./problem.ts";
import type { RequirementTable } from "./requirement-table.ts";
import type { ResourceSpace } from "./resource-space.ts";
import { templateOf } from "./template.ts";

export interface ShopTools {
  readonly problem: SchedulingProblem;
  readonly table: RequirementTable;
  readonly space: ResourceSpace;
  /** Those that count. */
  readonly daemons: readonly Daemon[];
  readonly limits: ReadonlyMap<Pool, Resources>;
  readonly nodes: readonly ExistingNode[];
  /** In the order they are tried. (02:T-1) */
  readonly pools: readonly Pool[];
}

export interface Shops {
  readonly shops: readonly Shop[];
  readonly emptyPools: readonly EmptyPool[];
}

/** Pools whose own requirements leave nothing to buy are set aside. (02:T-6) */
export function* openingShops(tools: ShopTools): Steps<Shops> {
  const shops: Shop[] = [];
  const emptyPools: EmptyPool[] = [];
  const catalogues: Catalogue[] = [];
  for (const pool of tools.pools) {
    const catalogue = yield* catalogueOf(pool.instanceTypes, catalogues, tools);
    const shop = yield* openingShop(pool, { ...tools, index: shops.length, catalogue });
    if ("becauseOfMinValues" in shop) emptyPools.push(shop);
    else shops.push(shop);
    yield;
  }
  yield* chargingExisting(shops, tools.nodes);
  return { shops, emptyPools };
}

/** Pools that sell the same share one catalogue. */
function* catalogueOf(types: readonly InstanceType[], made: Catalogue[], tools: ShopTools): Steps<Catalogue> {
  const { table, space, problem } = tools;
  const known = made.find((one) => one.types === types || isSameList(one.types, types));
  if (known !== undefined) return known;
  const { wellKnown } = problem.labelPolicy;
  const catalogue = yield* Catalogue.opening({ types, table, space, wellKnown });
  made.push(catalogue);
  return catalogue;
}

function isSameList<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

interface OneShopTools extends ShopTools {
  readonly index: number;
  readonly catalogue: Catalogue;
}

function* openingShop(pool: Pool, tools: OneShopTools): Steps<Shop | EmptyPool> {
  const { problem, table, space, daemons, limits, index, catalogue } = tools;
  const template = templateOf(pool.nodePool, problem.labelPolicy);
  const { wellKnown } = problem.labelPolicy;
  const outlines = new Outlines({ table, allowUndefined: wellKnown, choiceOf: (byKey) => catalogue.choiceOf(byKey) });
  const start = outlines.of(template.requirements);
  const columns = catalogue.keepFitting(start.choice.columns.clone(), space.zero());
  const types = catalogue.typesIn(columns);
  const isFlexible = checkMinValues(types, template.requirements).kind === "satisfied";
  const mayRelax = problem.policy.minValues === "BestEffort";
  if (types.length === 0 || !(isFlexible || mayRelax))
    return { pool: template.pool, becauseOfMinValues: types.length > 0 };
  const taints = pool.nodePool.spec.template.spec.taints ?? [];
  const { requirements } = template;
  return {
    index,
    template,
    catalogue,
    outlines,
    start,
    columns,
    daemons: yield* groupingDaemons({
      daemons,
      catalogue,
      columns: catalogue.allSizes(columns),
      space,
      template: { requirements, taints },
      wellKnown,
    }),
    remaining: new Map(
      Object.entries(limits.get(pool) ?? {}).map(([name, limit]) => [name, catalogue.amountOf(name, limit)]),
    ),
  };
}

export function limitsOf({ nodePool }: Pool, reader: QuantityReader): Resources {
  const limits: Record<string, Quantity> = {};
  for (const [name, text] of Object.entries(nodePool.spec.limits ?? {}))
    limits[name] = reader.read(text) ?? Quantity.zero;
  return limits;
}

/** Machines that stay have used some of what their pool may hold. (02:H-1) */
function* chargingExisting(shops: readonly Shop[], nodes: readonly ExistingNode[]): Steps<void> {
  const byPool = new Map(shops.filter(({ remaining }) => remaining.size > 0).map((shop) => [shop.template.pool, shop]));
  if (byPool.size === 0) return;
  yield* each(nodes, ({ nodePool, capacity }) => {
    const shop = nodePool === undefined ? undefined : byPool.get(nodePool);
    if (shop === undefined) return;
    const { remaining, catalogue } = shop;
    for (const [name, left] of remaining) {
      remaining.set(name, left - catalogue.amountOf(name, amount(capacity, name)));
    }
  });
}
