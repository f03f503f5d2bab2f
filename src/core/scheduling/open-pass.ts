import type { Pod } from "../../api/kubernetes/pod.ts";
import { resources } from "../../api/labels.ts";
import { byPrecedence } from "../../api/validation/precedence.ts";
import { Bitset } from "../../util/bitset.ts";
import { Quantity } from "../../util/quantity.ts";
import { forEachInSteps, mapInSteps, type Steps, sortInSteps } from "../../util/steps.ts";
import { selectorOwnerIndex, withDefaultConstraints } from "../default-constraints.ts";
import type { OpenSearchBudget } from "../devices/device-allocator.ts";
import { QuantityReader } from "../pod-requests.ts";
import type { Resources } from "../resources.ts";
import { type DaemonPod, daemonPodOf } from "./daemon-overhead.ts";
import { buildExistingNodeStates, compareExistingNodes } from "./existing-node-states.ts";
import { LabelReader } from "./label-reader.ts";
import { PassDevices } from "./pass-devices.ts";
import type { CountingGroups, Pass, QueuedPod } from "./pass-state.ts";
import { PlannedNodeOrder } from "./planned-node-order.ts";
import { classifyPods, type PodClass } from "./pod-class.ts";
import { buildPoolTemplates, poolLimits } from "./pool-templates.ts";
import type { SchedulingProblem } from "./problem.ts";
import { buildQueue } from "./queue.ts";
import { RequirementStates } from "./requirement-state.ts";
import { RequirementTable } from "./requirement-table.ts";
import { Reservations } from "./reservations.ts";
import { ResourceSpace } from "./resource-space.ts";
import { DomainCountCache } from "./topology/domain-counts.ts";
import { Topology } from "./topology/topology.ts";
import type { UndoLog } from "./undo-log.ts";
import { type VariantContext, variantAt } from "./variants.ts";

/** What a pass that simulates needs besides the problem. */
interface SimulationInput {
  /** Bound pods that a simulation may place anew. They follow the problem's own pods in the queue's positions. */
  readonly movablePods: readonly Pod[];
  readonly undo: UndoLog;
}

export interface OpenPassOptions {
  readonly simulation?: SimulationInput | undefined;
  /** A pass before: what it knows of requirements and instance types is used again, if these are the same. */
  readonly earlier?: Pass | undefined;
  readonly openSearchBudget?: OpenSearchBudget | undefined;
}

/** Prepares a pass; nothing is placed yet. */
export function* openPass(
  problem: SchedulingProblem,
  { simulation, earlier: given, openSearchBudget }: OpenPassOptions = {},
): Steps<Pass> {
  const { policy, labelPolicy } = problem;
  const earlier = given !== undefined && hasSameTypes(given, problem) ? given : undefined;
  const table = earlier?.table ?? new RequirementTable();
  const reader = new QuantityReader();
  const labelReader = new LabelReader(labelPolicy);
  const pods = simulation === undefined ? problem.pods : [...problem.pods, ...simulation.movablePods];
  const constrainedPods = yield* withDefaultSpreadConstraints(pods, problem);
  const classifiedBoundPods = simulation && new Set(simulation.movablePods);
  const classes = yield* classifyPods(constrainedPods, { problem, table, reader, classifiedBoundPods });
  const daemons = yield* mapInSteps(problem.daemons, (pod) => daemonPodOf(pod, labelPolicy));
  const schedulableDaemons = policy.ignoreDra ? daemons.filter(({ usesDra }) => !usesDra) : daemons;
  const limits = new Map(problem.pools.map((pool) => [pool, poolLimits(pool, reader)]));
  const amounts = { classes: classes.all, daemons, limits: [...limits.values()] };
  const isExact = earlier?.space.isExactFor(problemAmounts(problem, amounts)) ?? false;
  const space = isExact && earlier ? earlier.space : yield* ResourceSpace.create(allAmounts(problem, amounts));

  const nodes = yield* sortInSteps(problem.nodes, compareExistingNodes);
  const hosts = new Map(nodes.map(({ hostname }, index) => [hostname, index]));
  const { selectedKeys } = classes;
  const topology = yield* Topology.create(problem, { table, labelReader, hosts, selectedKeys });
  const toleratePreferNoSchedule = problem.pools.some(({ nodePool }) =>
    hasPreferNoScheduleTaint(nodePool.spec.template.spec.taints),
  );
  const variantContext: VariantContext = { problem, table, topology, toleratePreferNoSchedule, variants: new Map() };
  const pools = problem.pools.toSorted((a, b) => byPrecedence(a.nodePool, b.nodePool));
  const poolTemplates = yield* buildPoolTemplates({
    problem,
    table,
    space,
    daemons: schedulableDaemons,
    limits,
    nodes,
    pools,
    knownTables: isExact && earlier ? earlier.poolTemplates.map(({ typeTable }) => typeTable) : [],
  });

  yield* forEachInSteps(classes.all, (podClass) => {
    podClass.requestRow = space.requestRow(podClass.requests);
  });
  const queue = yield* buildQueue({ ...problem, pods }, classes, space);
  const countingGroups = yield* registerTopology(queue, variantContext);

  const nominatedNodeNames = new Set(problem.nominatedNodes?.values());
  const nodeRequirementStates = new RequirementStates({
    table,
    allowUndefined: new Set(),
    optionsFor: () => noInstanceTypeOptions,
  });
  const existingNodes = yield* buildExistingNodeStates(nodes, {
    daemons: schedulableDaemons,
    space,
    nodeRequirementStates,
    labelReader,
  });
  return {
    problem,
    table,
    space,
    topology,
    variantContext,
    ...poolTemplates,
    nodeRequirementStates,
    existingNodes,
    nominatedExistingNodes: new Map(
      existingNodes
        .filter(({ node }) => nominatedNodeNames.has(node.name))
        .map((existingNode) => [existingNode.node.name, existingNode]),
    ),
    plannedNodes: [],
    plannedNodeOrder: new PlannedNodeOrder(),
    reservations: new Reservations(policy.reservedCapacity ? pools.flatMap(({ instanceTypes }) => instanceTypes) : []),
    podClasses: classes.all,
    countedGroups: topology.groups.length,
    countingGroups,
    placementCountAtFailure: new Map(),
    queue,
    queueHead: 0,
    phase: "placing",
    placementCount: 0,
    candidatesTried: 0,
    timedOut: false,
    refusedByReservation: false,
    scratch: space.zeroRow(),
    undo: simulation?.undo,
    touchedNodes: new Set(),
    domainCounts: new DomainCountCache(),
    devices:
      !policy.ignoreDra && classes.all.some(({ usesDra }) => usesDra)
        ? new PassDevices(problem, openSearchBudget)
        : undefined,
  };
}

/** The instance type of an existing node is settled. */
const noInstanceTypeOptions = { columns: Bitset.empty(0) };

/** Adds the cluster's default spread constraints to pods that have none of their own. (02:T-4) */
function* withDefaultSpreadConstraints(
  pods: readonly Pod[],
  { policy, selectorOwners = [] }: SchedulingProblem,
): Steps<readonly Pod[]> {
  const { defaultConstraints: constraints = [] } = policy;
  if (constraints.length === 0) return pods;
  const owners = selectorOwnerIndex(selectorOwners);
  return yield* mapInSteps(pods, (pod) => withDefaultConstraints(pod, { constraints, owners }));
}

interface AmountSources {
  readonly classes: readonly PodClass[];
  readonly daemons: readonly DaemonPod[];
  readonly limits: readonly Resources[];
}

const oneNode: Resources = { [resources.nodes]: Quantity.parse("1") };

/** Whether every list of instance types was part of the earlier pass. */
function hasSameTypes({ problem: before }: Pass, { labelPolicy, pools }: SchedulingProblem): boolean {
  if (before.labelPolicy !== labelPolicy) return false;
  const known = new Set(before.pools.map(({ instanceTypes }) => instanceTypes));
  return pools.every(({ instanceTypes }) => known.has(instanceTypes));
}

/** Every amount of the problem but those of instance types. */
function* problemAmounts(
  { nodes }: SchedulingProblem,
  { classes, daemons, limits }: AmountSources,
): Iterable<Resources> {
  for (const podClass of classes) yield podClass.requests;
  for (const { requests } of daemons) yield requests;
  yield* limits;
  for (const { capacity, available, daemonRequests } of nodes) yield* [capacity, available, daemonRequests];
}

/** Every amount the pass compares. */
function* allAmounts(problem: SchedulingProblem, sources: AmountSources): Iterable<Resources> {
  yield* problemAmounts(problem, sources);
  yield oneNode; // nodes have it as their capacity, and a later pass may have more nodes
  for (const type of new Set(problem.pools.flatMap(({ instanceTypes }) => instanceTypes))) {
    const { capacity, overhead } = type;
    yield* [capacity, overhead.kubeReserved, overhead.systemReserved, overhead.evictionThreshold];
    for (const { capacityOverride, overheadOverride } of type.offerings) {
      if (capacityOverride !== undefined) yield capacityOverride;
      yield* Object.values(overheadOverride ?? {}).filter((part) => part !== undefined);
    }
  }
}

/** Creates the topology groups of all pods, in queue order, before any is placed. (02:T-5, X-41, W-4) */
function* registerTopology(
  queue: readonly QueuedPod[],
  variantContext: VariantContext,
): Steps<Map<PodClass, CountingGroups>> {
  const countingGroups = new Map<PodClass, CountingGroups>();
  yield* forEachInSteps(queue, ({ podClass }) => {
    if (countingGroups.has(podClass)) return;
    const isKnown = podClass.volumeError === undefined;
    countingGroups.set(podClass, {
      groupsSeen: 0,
      groups: [],
      inverseGroups: isKnown ? variantContext.topology.inverseGroupsOf(podClass) : [],
    });
  });
  for (const podClass of countingGroups.keys()) {
    if (podClass.volumeError === undefined) variantAt(podClass, 0, variantContext);
    yield; // creating a group reads every node
  }
  return countingGroups;
}

function hasPreferNoScheduleTaint(taints: readonly { readonly effect: string }[] | undefined): boolean {
  return taints?.some(({ effect }) => effect === "PreferNoSchedule") ?? false;
}
