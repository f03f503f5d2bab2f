import type { Pod } from "../../api/kubernetes/pod.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import type { DeviceObjects } from "../devices/device-allocator.ts";
import { amountOf } from "../resources.ts";
import { closePass } from "./close-pass.ts";
import { countingGroupsOf } from "./commit.ts";
import type { Decision } from "./decision.ts";
import { openPass } from "./open-pass.ts";
import type { ExistingNodeState, Pass, QueuedPod } from "./pass-state.ts";
import { PlannedNodeOrder } from "./planned-node-order.ts";
import type { PodClass } from "./pod-class.ts";
import type { ExistingNode, SchedulingProblem } from "./problem.ts";
import { type PassControl, placePods, polishPlan, solveInSteps } from "./solve.ts";
import type { TopologyGroup } from "./topology/topology-group.ts";
import { UndoLog } from "./undo-log.ts";
import { variantAt } from "./variants.ts";

/** A problem of which some nodes may go. */
export interface SimulationProblem extends SchedulingProblem {
  /** Pods that need another place when their node goes, by name of the node. They are among the bound pods. */
  readonly movablePods: ReadonlyMap<string, readonly Pod[]>;
}

/** The problem that remains when nodes go. Its decision is what a simulation has to find. */
export function problemWithoutNodes(
  { movablePods, ...problem }: SimulationProblem,
  removedNodes: ReadonlySet<string>,
): SchedulingProblem {
  const moving = [...removedNodes].flatMap((name) => movablePods.get(name) ?? []);
  return {
    ...problem,
    pods: [...problem.pods, ...moving],
    nodes: problem.nodes.filter(({ name }) => !removedNodes.has(name)),
    ...(problem.devices && { devices: withMovingPods(problem.devices, moving) }),
  };
}

/** What the pods that move have of devices is free. (02:D-11, 03:D-39) */
function withMovingPods(devices: DeviceObjects, moving: readonly Pod[]): DeviceObjects {
  return {
    ...devices,
    movingPods: new Set([...devices.movingPods, ...moving.map(({ metadata }) => metadata.uid ?? "")]),
  };
}

export interface SimulationPassOptions {
  /**
   * The problem's own pods are placed once, before any simulation, and not again in each: other pods get the room they
   * leave. The new nodes they need are no simulation's. Without this a simulation decides as `solve` would.
   */
  readonly placesOwnPodsFirst: boolean;
  /** Pods are moved between the new nodes of a simulation to make them cheaper, if the policy asks for that. */
  readonly polishes?: boolean;
}

/** What all simulations of a pass have in common. */
export interface SimulationPassBase {
  readonly nodes: readonly ExistingNode[];
  /** The problem's own pods, which are placed. */
  readonly ownPods: readonly Pod[];
  /** Those of them that existing nodes took, by name of the node. */
  readonly placedPods: ReadonlyMap<string, readonly Pod[]>;
  /** Pods that need another place when this node goes: its own, and those that were placed there first. */
  movablePods(node: string): readonly Pod[];
  /** Nodes that cannot be left out: topology counts pods that were placed there first. */
  readonly destinations: ReadonlySet<string>;
  /** Whether no topology rule, volume, port or device is about the pods of this node. */
  isUnconstrained(node: string): boolean;
}

/** What the constructor of a simulation pass takes over. */
interface OpenedPass {
  readonly pass: Pass;
  readonly undo: UndoLog;
  readonly ownPlaces: readonly number[];
  readonly placesByNode: ReadonlyMap<string, readonly number[]>;
  readonly polishes: boolean;
}

/**
 * A pass that is opened once and then asked many times what happens without certain nodes. Each simulation is rolled
 * back, and costs what it touches, not what the cluster has. (03 §10.2-1)
 */
export class SimulationPass {
  readonly #problem: SimulationProblem;
  readonly #pass: Pass;
  readonly #undo: UndoLog;
  /** Every pod of the problem and every movable pod in the order of the queue. */
  readonly #queue: readonly QueuedPod[];
  /** Places in that order of the problem's own pods that every simulation places. */
  #ownPlaces: readonly number[];
  readonly #placesByNode: ReadonlyMap<string, readonly number[]>;
  readonly #nodesByName: ReadonlyMap<string, ExistingNodeState>;
  /** Two nodes of one hostname share its pod counts, which a simulation cannot take apart. */
  readonly #hasSharedHostnames: boolean;
  readonly #keptRemovals = new Set<string>();
  #keptPlannedNodes = 0;
  readonly #polishes: boolean;
  /** Where the problem's own pods were placed first, by node: they are placed anew when that node goes. */
  #ownPlacesByNode: ReadonlyMap<string, readonly number[]> = new Map();

  private constructor(problem: SimulationProblem, { pass, undo, ownPlaces, placesByNode, polishes }: OpenedPass) {
    this.#problem = problem;
    this.#polishes = polishes;
    this.#pass = pass;
    this.#undo = undo;
    this.#queue = [...pass.queue];
    this.#ownPlaces = ownPlaces;
    this.#placesByNode = placesByNode;
    this.#nodesByName = new Map(pass.existingNodes.map((existingNode) => [existingNode.node.name, existingNode]));
    this.#hasSharedHostnames = new Set(problem.nodes.map(({ hostname }) => hostname)).size < problem.nodes.length;
  }

  static *open(
    problem: SimulationProblem,
    { placesOwnPodsFirst, polishes = false }: SimulationPassOptions = { placesOwnPodsFirst: false },
  ): Steps<SimulationPass> {
    const undo = new UndoLog();
    const pass = yield* openPass(problem, {
      simulation: { movablePods: [...problem.movablePods.values()].flat(), undo },
    });
    // Topology groups count bound pods when they are created; later, pods of a simulation would be in the way.
    yield* forEachInSteps(pass.podClasses, (podClass) => {
      if (podClass.volumeError !== undefined) return;
      for (let level = 0; variantAt(podClass, level, pass.variantContext) !== undefined; level++);
    });
    pass.countedGroups = pass.topology.groups.length;
    const ownClasses = new Set<PodClass>();
    const placeOf = new Int32Array(pass.queue.length);
    yield* forEachInSteps(pass.queue, ({ position, podClass }, place) => {
      placeOf[position] = place;
      if (position < problem.pods.length) ownClasses.add(podClass);
    });
    pass.topology.setDormant(
      new Set([...ownClasses].flatMap((podClass) => countingGroupsOf(pass, podClass).inverseGroups)),
    );
    const ownPlaces = problem.pods.map((_, position) => placeOf[position] as number);
    const placesByNode = new Map<string, readonly number[]>();
    let position = problem.pods.length;
    yield* forEachInSteps(problem.movablePods, ([name, pods]) => {
      placesByNode.set(
        name,
        pods.map(() => placeOf[position++] as number),
      );
    });
    const opened = { pass, undo, ownPlaces, placesByNode };
    const isPolished = polishes && problem.policy.packing === "polished";
    const simulationPass = new SimulationPass(problem, { ...opened, polishes: isPolished });
    yield;
    if (placesOwnPodsFirst && problem.pods.length > 0 && !simulationPass.#usesDevices([]))
      yield* simulationPass.#placeOwnPods();
    return simulationPass;
  }

  *#placeOwnPods(): Steps<void> {
    this.#begin(new Set());
    yield* placePods(this.#pass, {});
    this.#ownPlacesByNode = new Map(
      [...this.#pass.touchedNodes].map(({ node, pods }) => [
        node.name,
        pods.map(({ position }) => this.#ownPlaces[position] as number),
      ]),
    );
    this.#keep();
    this.#ownPlaces = [];
  }

  /** What all simulations start from; undefined if each places the problem's own pods, or runs a pass of its own. */
  base(): SimulationPassBase | undefined {
    if (this.#ownPlaces.length > 0 || this.#hasSharedHostnames || this.#usesDevices([])) return undefined;
    // A pass of its own places the problem's own pods again.
    if (this.#problem.pods.length > 0 && this.#pass.topology.hasDomainsOnlyOnNodes) return undefined;
    return {
      nodes: this.#problem.nodes,
      ownPods: this.#problem.pods,
      placedPods: new Map([...this.#ownPlacesByNode].map(([node, places]) => [node, this.#podsAt(places)])),
      movablePods: (node) => [
        ...(this.#problem.movablePods.get(node) ?? []),
        ...this.#podsAt(this.#ownPlacesByNode.get(node) ?? []),
      ],
      destinations: new Set([...this.#ownPlacesByNode.keys()].filter((node) => this.#hasCountedOwnPods(node))),
      isUnconstrained: (node) => this.#isUnconstrained(node),
    };
  }

  #podsAt(places: readonly number[]): readonly Pod[] {
    return places.map((place) => (this.#queue[place] as QueuedPod).pod);
  }

  /** Topology has counted pods that were placed there first, and cannot forget them. */
  #hasCountedOwnPods(node: string): boolean {
    return (this.#ownPlacesByNode.get(node) ?? []).some((place) => {
      const { groups, inverseGroups } = countingGroupsOf(this.#pass, (this.#queue[place] as QueuedPod).podClass);
      return groups.length > 0 || inverseGroups.length > 0;
    });
  }

  #isUnconstrained(node: string): boolean {
    const places = [...(this.#placesByNode.get(node) ?? []), ...(this.#ownPlacesByNode.get(node) ?? [])];
    return places.every((place) => {
      const { podClass } = this.#queue[place] as QueuedPod;
      if (podClass.volumeError !== undefined || podClass.hasHostPorts || podClass.usesDra) return false;
      const hasVolumes = podClass.volumes.size > 0 || podClass.volumeAlternatives.length > 0;
      return !hasVolumes && variantAt(podClass, 0, this.#pass.variantContext)?.rules.length === 0;
    });
  }

  /** What would be decided without these nodes. A stop leaves out the pods that were not tried, as in `solveInSteps`. */
  *simulate(removedNodes: ReadonlySet<string>, control: PassControl = {}): Steps<Decision> {
    const plain = () =>
      solveInSteps(problemWithoutNodes(this.#problem, new Set([...this.#keptRemovals, ...removedNodes])), control);
    if (this.#needsOwnPass(removedNodes)) return yield* plain();
    try {
      if (!this.#begin(removedNodes)) return yield* plain();
      const podCount = this.#pass.queue.length;
      yield* placePods(this.#pass, control);
      const newNodes = this.#pass.plannedNodes.length - this.#keptPlannedNodes;
      if (this.#polishes && newNodes > 1 && !this.#pass.timedOut) yield* polishPlan(this.#pass, podCount, control);
      const receivingNodes = [...this.#pass.touchedNodes].sort((a, b) => a.index - b.index);
      return yield* closePass(this.#pass, receivingNodes);
    } finally {
      this.#rollBack();
    }
  }

  /**
   * The nodes go for good: later simulations find them gone and the room their pods took occupied. Returns the nodes that
   * took pods, which must stay from now on; undefined if this pass cannot tell, and then nothing has changed.
   */
  *keep(removedNodes: ReadonlySet<string>): Steps<readonly string[] | undefined> {
    if (this.#needsOwnPass(removedNodes)) return undefined;
    if (!this.#begin(removedNodes)) {
      this.#rollBack();
      return undefined;
    }
    yield* placePods(this.#pass, {});
    for (const name of removedNodes) this.#keptRemovals.add(name);
    return this.#keep();
  }

  /** What this pass cannot tell: it does not take back devices, for one. */
  #needsOwnPass(removedNodes: ReadonlySet<string>): boolean {
    return this.#hasSharedHostnames || this.#pass.topology.losesDomain(removedNodes) || this.#usesDevices(removedNodes);
  }

  /** Whether some pod that is placed without these nodes has resource claims that are not ignored. */
  #usesDevices(removedNodes: Iterable<string>): boolean {
    if (this.#pass.devices === undefined) return false;
    const places = [...removedNodes].flatMap((name) => this.#placesByNode.get(name) ?? []);
    return [...this.#ownPlaces, ...places].some((place) => this.#queue[place]?.podClass.usesDra);
  }

  /** What was placed stays placed. */
  #keep(): readonly string[] {
    const pass = this.#pass;
    const receivingNodes = [...pass.touchedNodes].map(({ node }) => node.name);
    for (const existingNode of pass.touchedNodes) existingNode.pods.length = 0;
    pass.touchedNodes.clear();
    for (const plannedNode of pass.plannedNodes) plannedNode.pods = []; // they are no new nodes of later simulations
    this.#keptPlannedNodes = pass.plannedNodes.length;
    pass.plannedNodeOrder = new PlannedNodeOrder();
    pass.placementCountAtFailure.clear();
    this.#undo.forget();
    return receivingNodes;
  }

  /** Returns false if topology would know fewer domains without the pods that move: a pass of its own has to tell. */
  #begin(removedNodes: ReadonlySet<string>): boolean {
    const pass = this.#pass;
    const places = [...this.#ownPlaces];
    let keepsDomains = true;
    for (const name of removedNodes) {
      const existingNode = this.#nodesByName.get(name);
      if (existingNode === undefined) throw new Error(`node ${name} is not part of this simulation`);
      places.push(...(this.#placesByNode.get(name) ?? []), ...(this.#ownPlacesByNode.get(name) ?? []));
      keepsDomains = this.#remove(existingNode) && keepsDomains;
    }
    pass.queue.length = 0;
    for (const place of places.sort((a, b) => a - b)) {
      const queuedPod = this.#queue[place] as QueuedPod;
      queuedPod.queueLengthAtFailure = -1;
      queuedPod.placedVariant = undefined;
      pass.queue.push(queuedPod);
    }
    pass.queueHead = 0;
    pass.placementCount++; // what was computed at an earlier count is of another simulation
    pass.candidatesTried = 0;
    pass.timedOut = false;
    return keepsDomains;
  }

  #remove(existingNode: ExistingNodeState): boolean {
    existingNode.isRemoved = true;
    this.#undo.add(() => {
      existingNode.isRemoved = false;
    });
    this.#creditLimits(existingNode);
    const { topology } = this.#pass;
    let keepsDomains = true;
    for (const place of this.#placesByNode.get(existingNode.node.name) ?? []) {
      const { pod, podClass } = this.#queue[place] as QueuedPod;
      const { groups } = countingGroupsOf(this.#pass, podClass);
      const inverseGroups = topology.inverseGroupsOf(podClass);
      keepsDomains = topology.uncount(pod, { groups, inverseGroups }, this.#undo) && keepsDomains;
      if (podClass.volumeError === undefined) this.#wake(inverseGroups);
    }
    return keepsDomains;
  }

  /** Constraints that only a pod of this simulation has. */
  #wake(inverseGroups: readonly TopologyGroup[]): void {
    for (const group of inverseGroups) {
      if (!group.isDormant) continue;
      group.isDormant = false;
      this.#undo.add(() => {
        group.isDormant = true;
      });
    }
  }

  /** A node that goes no longer counts against its pool's limits. (02:H-1) */
  #creditLimits({ node: { nodePool, capacity } }: ExistingNodeState): void {
    const poolTemplate = this.#pass.poolTemplates.find(({ nodeClaimTemplate }) => nodeClaimTemplate.pool === nodePool);
    if (poolTemplate === undefined) return;
    const { remainingLimits, typeTable } = poolTemplate;
    for (const [name, left] of remainingLimits) {
      remainingLimits.set(name, left + typeTable.amountOf(name, amountOf(capacity, name)));
      this.#undo.add(() => remainingLimits.set(name, left));
    }
  }

  #rollBack(): void {
    const pass = this.#pass;
    const plannedNodes = pass.plannedNodes.splice(this.#keptPlannedNodes);
    for (const { hostIndex } of plannedNodes) pass.reservations.release(hostIndex);
    pass.plannedNodeOrder = new PlannedNodeOrder();
    pass.placementCountAtFailure.clear();
    this.#undo.rollBack();
  }
}
