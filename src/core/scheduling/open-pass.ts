import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels, resources } from "../../api/labels.ts";
import { byPrecedence } from "../../api/validation/precedence.ts";
import { Bitset } from "../../util/bitset.ts";
import { Quantity } from "../../util/quantity.ts";
import { ownerIndex, withDefaultConstraints } from "../default-constraints.ts";
import { checkMinValues } from "../min-values.ts";
import { QuantityReader } from "../pod-requests.ts";
import { Requirements } from "../requirements.ts";
import { amount, type Resources, subtract } from "../resources.ts";
import { Catalogue } from "./catalogue.ts";
import { ClaimOrder } from "./claim-order.ts";
import { type Daemon, daemonGroups, daemonOf, daemonsOnNode } from "./daemons.ts";
import type { EmptyPool } from "./decision.ts";
import { Outlines } from "./outline.ts";
import type { Counting, Entry, NodeSeat, Pass, Shop } from "./pass-state.ts";
import { classify, type PodClass } from "./pod-class.ts";
import type { ExistingNode, Pool, SchedulingProblem } from "./problem.ts";
import { RequirementTable } from "./requirement-table.ts";
import { Reservations } from "./reservations.ts";
import { ResourceSpace } from "./resource-space.ts";
import { templateOf } from "./template.ts";
import { Topology } from "./topology/topology.ts";
import { type VariantTools, variantAt } from "./variants.ts";

/** Lays the problem out for solving: nothing is decided yet. */
export function openPass(problem: SchedulingProblem): Pass {
  const table = new RequirementTable();
  const reader = new QuantityReader();
  const { classOf } = classify(withDefaults(problem), { problem, table, reader });
  const daemons = problem.daemons.map((pod) => daemonOf(pod, problem.labelPolicy));
  const limits = new Map(problem.pools.map((pool) => [pool, limitsOf(pool, reader)]));
  const space = new ResourceSpace(amounts(problem, { classOf, daemons, limits: [...limits.values()] }));

  const nodes = [...problem.nodes].sort(byNodeOrder);
  const hosts = new Map(nodes.map(({ hostname }, index) => [hostname, index]));
  const topology = new Topology(problem, { table, hosts });
  const tools: VariantTools = {
    problem,
    table,
    topology,
    toleratePreferNoSchedule: problem.pools.some(({ nodePool }) => isGentlyTainted(nodePool.spec.template.spec.taints)),
    variants: new Map(),
  };
  const pools = [...problem.pools].sort((a, b) => byPrecedence(a.nodePool, b.nodePool));
  const { shops, emptyPools } = openShops(pools, { problem, table, space, daemons, limits });
  chargeExisting(shops, nodes);

  const queue = problem.pods.map(
    (pod, index): Entry => ({ pod, podClass: classOf[index] as PodClass, failedAtLength: -1 }),
  );
  const requests = new Map([...new Set(classOf)].map((podClass) => [podClass, space.asked(podClass.requests)]));
  queue.sort(byQueueOrder(requests, space));
  const counting = registerAll(queue, tools);

  const nodeOutlines = new Outlines({ table, allowUndefined: new Set(), choiceOf: () => noChoice });
  return {
    problem,
    table,
    space,
    topology,
    tools,
    shops,
    emptyPools,
    nodeOutlines,
    seats: nodes.map((node, index) => seatOf(node, { index, daemons, problem, space, nodeOutlines })),
    claims: [],
    order: new ClaimOrder(),
    reservations: new Reservations(
      problem.policy.reservedCapacity ? pools.flatMap(({ instanceTypes }) => instanceTypes) : [],
    ),
    requests,
    counting,
    failures: new Map(),
    queue,
    queueHead: 0,
    commits: 0,
    attempts: 0,
    timedOut: false,
    refusedByReservation: false,
    scratch: space.zero(),
  };
}

/** Nodes that exist have no types to choose from. */
const noChoice = { columns: Bitset.empty(0) };

/** Pods as scheduling sees them, with the spread constraints the cluster adds to those that have none. (02:T-4) */
function withDefaults({ pods, policy, selectorOwners = [] }: SchedulingProblem): readonly Pod[] {
  const { defaultConstraints: constraints = [] } = policy;
  if (constraints.length === 0) return pods;
  const owners = ownerIndex(selectorOwners);
  return pods.map((pod) => withDefaultConstraints(pod, { constraints, owners }));
}

/** Every amount the pass will compare. */
function* amounts(
  problem: SchedulingProblem,
  {
    classOf,
    daemons,
    limits,
  }: { classOf: readonly PodClass[]; daemons: readonly Daemon[]; limits: readonly Resources[] },
): Iterable<Resources> {
  for (const podClass of new Set(classOf)) yield podClass.requests;
  for (const { requests } of daemons) yield requests;
  yield* limits;
  for (const { capacity, available, daemonRequests } of problem.nodes) yield* [capacity, available, daemonRequests];
  for (const type of new Set(problem.pools.flatMap(({ instanceTypes }) => instanceTypes))) {
    const { capacity, overhead } = type;
    yield* [capacity, overhead.kubeReserved, overhead.systemReserved, overhead.evictionThreshold];
    for (const { capacityOverride, overheadOverride } of type.offerings) {
      if (capacityOverride !== undefined) yield capacityOverride;
      yield* Object.values(overheadOverride ?? {}).filter((part) => part !== undefined);
    }
  }
}

interface ShopTools {
  readonly problem: SchedulingProblem;
  readonly table: RequirementTable;
  readonly space: ResourceSpace;
  readonly daemons: readonly Daemon[];
  readonly limits: ReadonlyMap<Pool, Resources>;
}

/** Pools whose own requirements leave nothing to buy are set aside. (02:T-6) */
function openShops(
  pools: readonly Pool[],
  tools: ShopTools,
): { shops: readonly Shop[]; emptyPools: readonly EmptyPool[] } {
  const shops: Shop[] = [];
  const emptyPools: EmptyPool[] = [];
  for (const pool of pools) {
    const shop = openShop(pool, shops.length, tools);
    if ("becauseOfMinValues" in shop) emptyPools.push(shop);
    else shops.push(shop);
  }
  return { shops, emptyPools };
}

function openShop(pool: Pool, index: number, { problem, table, space, daemons, limits }: ShopTools): Shop | EmptyPool {
  const template = templateOf(pool.nodePool, problem.labelPolicy);
  const { wellKnown } = problem.labelPolicy;
  const catalogue = new Catalogue({ types: pool.instanceTypes, table, space, wellKnown });
  const outlines = new Outlines({ table, allowUndefined: wellKnown, choiceOf: (byKey) => catalogue.choiceOf(byKey) });
  const start = outlines.of(template.requirements);
  const columns = catalogue.keepFitting(start.choice.columns.clone(), space.zero());
  const types = catalogue.typesIn(columns);
  const isFlexible = checkMinValues(types, template.requirements).kind === "satisfied";
  const mayRelax = problem.policy.minValues === "BestEffort";
  if (types.length === 0 || !(isFlexible || mayRelax))
    return { pool: template.pool, becauseOfMinValues: types.length > 0 };
  const taints = pool.nodePool.spec.template.spec.taints ?? [];
  const welcome = problem.policy.ignoreDra ? daemons.filter(({ usesDra }) => !usesDra) : daemons;
  const { requirements } = template;
  return {
    index,
    template,
    catalogue,
    outlines,
    start,
    columns,
    daemons: daemonGroups({
      daemons: welcome,
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

function limitsOf({ nodePool }: Pool, reader: QuantityReader): Resources {
  const limits: Record<string, Quantity> = {};
  for (const [name, text] of Object.entries(nodePool.spec.limits ?? {}))
    limits[name] = reader.read(text) ?? Quantity.zero;
  return limits;
}

/** Machines that stay have used some of what their pool may hold. (02:H-1) */
function chargeExisting(shops: readonly Shop[], nodes: readonly ExistingNode[]): void {
  for (const { template, remaining, catalogue } of shops) {
    for (const { nodePool, capacity } of nodes) {
      if (nodePool !== template.pool) continue;
      for (const [name, left] of remaining) {
        remaining.set(name, left - catalogue.amountOf(name, amount(capacity, name)));
      }
    }
  }
}

interface SeatTools {
  readonly index: number;
  readonly daemons: readonly Daemon[];
  readonly problem: SchedulingProblem;
  readonly space: ResourceSpace;
  readonly nodeOutlines: Outlines;
}

/** What a node has left once the daemons it still lacks have arrived. (02 §5.4) */
function seatOf(node: ExistingNode, { index, daemons, problem, space, nodeOutlines }: SeatTools): NodeSeat {
  const withHost = Requirements.fromLabels({ ...node.labels, [labels.hostname]: node.hostname }, problem.labelPolicy);
  const welcome = problem.policy.ignoreDra ? daemons.filter(({ usesDra }) => !usesDra) : daemons;
  const coming = daemonsOnNode(welcome, { requirements: withHost, taints: node.taints });
  const missing = Object.fromEntries(
    Object.entries(subtract(coming, node.daemonRequests)).filter(([, quantity]) => quantity.sign() > 0),
  );
  const remaining = space.offered(node.available);
  for (const [dimension, amount] of space.asked(missing).entries()) (remaining[dimension] as number) -= amount;
  return {
    index,
    node,
    outline: nodeOutlines.of(withHost.without(labels.hostname)),
    remaining,
    hostPorts: node.hostPorts,
    volumes: node.volumes,
    pods: [],
  };
}

/** Initialized nodes first, then by name. (02:T-8, 02 §12.1-6) */
function byNodeOrder(a: ExistingNode, b: ExistingNode): number {
  if (a.isInitialized !== b.isInitialized) return a.isInitialized ? -1 : 1;
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.providerId < b.providerId ? -1 : 1;
}

/** Large pods first, then old ones. (02:Q-1) */
function byQueueOrder(
  requests: ReadonlyMap<PodClass, Float64Array>,
  space: ResourceSpace,
): (a: Entry, b: Entry) => number {
  const cpu = space.indexOf(resources.cpu);
  const memory = space.indexOf(resources.memory);
  const of = (entry: Entry, dimension: number): number => requests.get(entry.podClass)?.[dimension] ?? 0;
  const ages = new Map<Pod, number>();
  const age = (pod: Pod): number => {
    const known = ages.get(pod);
    if (known !== undefined) return known;
    const time = Date.parse(pod.metadata.creationTimestamp ?? "") || 0;
    ages.set(pod, time);
    return time;
  };
  return (a, b) =>
    of(b, cpu) - of(a, cpu) ||
    of(b, memory) - of(a, memory) ||
    age(a.pod) - age(b.pod) ||
    ((a.pod.metadata.uid ?? "") < (b.pod.metadata.uid ?? "") ? -1 : 1);
}

/** Makes the groups of all pods of the round, in queue order, before any is placed. (02:T-5, X-41, W-4) */
function registerAll(queue: readonly Entry[], tools: VariantTools): Map<PodClass, Counting> {
  const counting = new Map<PodClass, Counting>();
  for (const { podClass } of queue) {
    if (counting.has(podClass)) continue;
    const isKnown = podClass.volumeProblem === undefined;
    counting.set(podClass, { seen: 0, groups: [], inverse: isKnown ? tools.topology.inverseOwned(podClass) : [] });
  }
  for (const podClass of counting.keys()) if (podClass.volumeProblem === undefined) variantAt(podClass, 0, tools);
  return counting;
}

function isGentlyTainted(taints: readonly { readonly effect: string }[] | undefined): boolean {
  return taints?.some(({ effect }) => effect === "PreferNoSchedule") ?? false;
}
