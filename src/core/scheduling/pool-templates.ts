import { Quantity } from "../../util/quantity.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import type { InstanceType } from "../instance-type.ts";
import { checkMinValues } from "../min-values.ts";
import type { QuantityReader } from "../pod-requests.ts";
import { amountOf, type Resources } from "../resources.ts";
import { type DaemonPod, groupDaemons } from "./daemon-overhead.ts";
import type { EmptyPool } from "./decision.ts";
import { InstanceTypeTable } from "./instance-type-table.ts";
import { nodeClaimTemplateOf } from "./node-claim-template.ts";
import type { PoolTemplate } from "./pass-state.ts";
import type { ExistingNode, Pool, SchedulingProblem } from "./problem.ts";
import { RequirementStates } from "./requirement-state.ts";
import type { RequirementTable } from "./requirement-table.ts";
import type { ResourceSpace } from "./resource-space.ts";

interface PoolTemplateInput {
  readonly problem: SchedulingProblem;
  readonly table: RequirementTable;
  readonly space: ResourceSpace;
  /** DaemonSet pods to reserve resources for. */
  readonly daemons: readonly DaemonPod[];
  readonly limits: ReadonlyMap<Pool, Resources>;
  readonly nodes: readonly ExistingNode[];
  /** In the order they are tried. (02:T-1) */
  readonly pools: readonly Pool[];
  /** Tables of an earlier pass, of the same requirement table and resource space. */
  readonly knownTables: readonly InstanceTypeTable[];
}

interface PoolTemplates {
  readonly poolTemplates: readonly PoolTemplate[];
  readonly emptyPools: readonly EmptyPool[];
}

/** Pools whose own requirements leave no instance type are returned as empty pools. (02:T-6) */
export function* buildPoolTemplates(input: PoolTemplateInput): Steps<PoolTemplates> {
  const poolTemplates: PoolTemplate[] = [];
  const emptyPools: EmptyPool[] = [];
  const typeTables = [...input.knownTables];
  for (const pool of input.pools) {
    const typeTable = yield* typeTableFor(pool.instanceTypes, typeTables, input);
    const poolTemplate = yield* buildPoolTemplate(pool, { ...input, index: poolTemplates.length, typeTable });
    if ("becauseOfMinValues" in poolTemplate) emptyPools.push(poolTemplate);
    else poolTemplates.push(poolTemplate);
    yield;
  }
  yield* chargeExistingNodes(poolTemplates, input.nodes);
  return { poolTemplates, emptyPools };
}

/** Pools with the same instance types share one table. */
function* typeTableFor(
  types: readonly InstanceType[],
  made: InstanceTypeTable[],
  input: PoolTemplateInput,
): Steps<InstanceTypeTable> {
  const { table, space, problem } = input;
  const known = made.find((one) => one.types === types || isSameList(one.types, types));
  if (known !== undefined) return known;
  const { wellKnown } = problem.labelPolicy;
  const typeTable = yield* InstanceTypeTable.create({ types, table, space, wellKnown });
  made.push(typeTable);
  return typeTable;
}

function isSameList<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

interface SinglePoolInput extends PoolTemplateInput {
  readonly index: number;
  readonly typeTable: InstanceTypeTable;
}

function* buildPoolTemplate(pool: Pool, input: SinglePoolInput): Steps<PoolTemplate | EmptyPool> {
  const { problem, table, space, daemons, limits, index, typeTable } = input;
  const nodeClaimTemplate = nodeClaimTemplateOf(pool.nodePool, problem.labelPolicy);
  const { wellKnown } = problem.labelPolicy;
  const requirementStates = new RequirementStates({
    table,
    allowUndefined: wellKnown,
    optionsFor: (byKey) => typeTable.optionsFor(byKey),
  });
  const initialState = requirementStates.of(nodeClaimTemplate.requirements);
  const columns = typeTable.keepFitting(initialState.instanceTypeOptions.columns.clone(), space.zeroRow());
  const types = typeTable.typesIn(columns);
  const isFlexible = checkMinValues(types, nodeClaimTemplate.requirements).kind === "satisfied";
  const mayRelax = problem.policy.minValues === "BestEffort";
  if (types.length === 0 || !(isFlexible || mayRelax))
    return { pool: nodeClaimTemplate.pool, becauseOfMinValues: types.length > 0 };
  return {
    index,
    nodeClaimTemplate,
    typeTable,
    requirementStates,
    initialState,
    columns,
    daemonGroups: yield* groupDaemons({
      daemons,
      typeTable,
      columns: typeTable.allColumnsOfTypes(columns),
      space,
      template: nodeClaimTemplate,
      wellKnown,
    }),
    remainingLimits: new Map(
      Object.entries(limits.get(pool) ?? {}).map(([name, limit]) => [name, typeTable.amountOf(name, limit)]),
    ),
  };
}

export function poolLimits({ nodePool }: Pool, reader: QuantityReader): Resources {
  const limits: Record<string, Quantity> = {};
  for (const [name, text] of Object.entries(nodePool.spec.limits ?? {}))
    limits[name] = reader.read(text) ?? Quantity.zero;
  return limits;
}

/** Charges existing nodes against the limits of their pools. (02:H-1) */
function* chargeExistingNodes(poolTemplates: readonly PoolTemplate[], nodes: readonly ExistingNode[]): Steps<void> {
  const byPool = new Map(
    poolTemplates
      .filter(({ remainingLimits }) => remainingLimits.size > 0)
      .map((poolTemplate) => [poolTemplate.nodeClaimTemplate.pool, poolTemplate]),
  );
  if (byPool.size === 0) return;
  yield* forEachInSteps(nodes, ({ nodePool, capacity }) => {
    const poolTemplate = nodePool === undefined ? undefined : byPool.get(nodePool);
    if (poolTemplate === undefined) return;
    const { remainingLimits: remaining, typeTable } = poolTemplate;
    for (const [name, left] of remaining) {
      remaining.set(name, left - typeTable.amountOf(name, amountOf(capacity, name)));
    }
  });
}
