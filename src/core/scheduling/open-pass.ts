import type { Pod } from "../../api/kubernetes/pod.ts";
import { byPrecedence } from "../../api/validation/precedence.ts";
import { Bitset } from "../../util/bitset.ts";
import { each, finish, mapping, type Steps, sorting } from "../../util/steps.ts";
import { ownerIndex, withDefaultConstraints } from "../default-constraints.ts";
import { QuantityReader } from "../pod-requests.ts";
import type { Resources } from "../resources.ts";
import { ClaimOrder } from "./claim-order.ts";
import { type Daemon, daemonOf } from "./daemons.ts";
import { LabelReader } from "./label-reader.ts";
import { byNodeOrder, openingSeats } from "./open-seats.ts";
import { limitsOf, openingShops } from "./open-shops.ts";
import { Outlines } from "./outline.ts";
import type { Counting, Entry, Pass } from "./pass-state.ts";
import { classifying, type PodClass } from "./pod-class.ts";
import type { SchedulingProblem } from "./problem.ts";
import { queueing } from "./queue.ts";
import { RequirementTable } from "./requirement-table.ts";
import { Reservations } from "./reservations.ts";
import { ResourceSpace } from "./resource-space.ts";
import { ToldCounts } from "./topology/told-counts.ts";
import { Topology } from "./topology/topology.ts";
import { type VariantTools, variantAt } from "./variants.ts";

/** Lays the problem out for solving: nothing is decided yet. */
export function openPass(problem: SchedulingProblem): Pass {
  return finish(opening(problem));
}

/** The same in steps: twenty thousand pods take a while to look at. */
export function* opening(problem: SchedulingProblem): Steps<Pass> {
  const { policy, labelPolicy } = problem;
  const table = new RequirementTable();
  const reader = new QuantityReader();
  const labelReader = new LabelReader(labelPolicy);
  const classes = yield* classifying(yield* withDefaults(problem), { problem, table, reader });
  const daemons = yield* mapping(problem.daemons, (pod) => daemonOf(pod, labelPolicy));
  const welcome = policy.ignoreDra ? daemons.filter(({ usesDra }) => !usesDra) : daemons;
  const limits = new Map(problem.pools.map((pool) => [pool, limitsOf(pool, reader)]));
  const space = yield* ResourceSpace.opening(
    amounts(problem, { classes: classes.all, daemons, limits: [...limits.values()] }),
  );

  const nodes = yield* sorting(problem.nodes, byNodeOrder);
  const hosts = new Map(nodes.map(({ hostname }, index) => [hostname, index]));
  const { selectedKeys } = classes;
  const topology = yield* Topology.opening(problem, { table, labelReader, hosts, selectedKeys });
  const toleratePreferNoSchedule = problem.pools.some(({ nodePool }) =>
    isGentlyTainted(nodePool.spec.template.spec.taints),
  );
  const tools: VariantTools = { problem, table, topology, toleratePreferNoSchedule, variants: new Map() };
  const pools = problem.pools.toSorted((a, b) => byPrecedence(a.nodePool, b.nodePool));
  const shops = yield* openingShops({ problem, table, space, daemons: welcome, limits, nodes, pools });

  const requests = new Map(
    yield* mapping(classes.all, (podClass): [PodClass, Float64Array] => [podClass, space.asked(podClass.requests)]),
  );
  const queue = yield* queueing(problem, { classOf: classes.classOf, requests, space });
  const counting = yield* registering(queue, tools);

  const wanted = new Set(problem.promised?.values());
  const nodeOutlines = new Outlines({ table, allowUndefined: new Set(), choiceOf: () => noChoice });
  const seats = yield* openingSeats(nodes, { daemons: welcome, space, nodeOutlines, labelReader });
  return {
    problem,
    table,
    space,
    topology,
    tools,
    ...shops,
    nodeOutlines,
    seats,
    promisedSeats: new Map(seats.filter(({ node }) => wanted.has(node.name)).map((seat) => [seat.node.name, seat])),
    claims: [],
    order: new ClaimOrder(),
    reservations: new Reservations(policy.reservedCapacity ? pools.flatMap(({ instanceTypes }) => instanceTypes) : []),
    requests,
    counting,
    failures: new Map(),
    queue,
    queueHead: 0,
    attempt: undefined,
    commits: 0,
    attempts: 0,
    timedOut: false,
    refusedByReservation: false,
    scratch: space.zero(),
    told: new ToldCounts(),
  };
}

/** Nodes that exist have no types to choose from. */
const noChoice = { columns: Bitset.empty(0) };

/** Pods as scheduling sees them, with the spread constraints the cluster adds to those that have none. (02:T-4) */
function* withDefaults({ pods, policy, selectorOwners = [] }: SchedulingProblem): Steps<readonly Pod[]> {
  const { defaultConstraints: constraints = [] } = policy;
  if (constraints.length === 0) return pods;
  const owners = ownerIndex(selectorOwners);
  return yield* mapping(pods, (pod) => withDefaultConstraints(pod, { constraints, owners }));
}

interface Asking {
  readonly classes: readonly PodClass[];
  readonly daemons: readonly Daemon[];
  readonly limits: readonly Resources[];
}

/** Every amount the pass will compare. */
function* amounts(problem: SchedulingProblem, { classes, daemons, limits }: Asking): Iterable<Resources> {
  for (const podClass of classes) yield podClass.requests;
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

/** Makes the groups of all pods of the round, in queue order, before any is placed. (02:T-5, X-41, W-4) */
function* registering(queue: readonly Entry[], tools: VariantTools): Steps<Map<PodClass, Counting>> {
  const counting = new Map<PodClass, Counting>();
  yield* each(queue, ({ podClass }) => {
    if (counting.has(podClass)) return;
    const isKnown = podClass.volumeProblem === undefined;
    counting.set(podClass, { seen: 0, groups: [], inverse: isKnown ? tools.topology.inverseOwned(podClass) : [] });
  });
  for (const podClass of counting.keys()) {
    if (podClass.volumeProblem === undefined) variantAt(podClass, 0, tools);
    yield; // a new group looks at every node
  }
  return counting;
}

function isGentlyTainted(taints: readonly { readonly effect: string }[] | undefined): boolean {
  return taints?.some(({ effect }) => effect === "PreferNoSchedule") ?? false;
}
