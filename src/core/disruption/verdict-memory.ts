import type { Pod } from "../../api/kubernetes/pod.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import type { ExistingNodePlacement } from "../scheduling/decision.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import { leastRequests, NodeRoom } from "./node-room.ts";
import { areSameInputs, type SharedInputs, sharedInputs } from "./shared-inputs.ts";
import type { DisruptionSimulator, SimulationBase } from "./simulator.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import type { DecisionCause } from "./verdict.ts";

/** Changes that are looked at before a simulation is quicker. */
const mostChanges = 2_000;

/** Verdicts that follow from a simulation and from what the pool and the node are, and from nothing else. */
const lastingCodes: ReadonlySet<DecisionCause["code"]> = new Set([
  "pods-unschedulable",
  "needs-more-nodes",
  "no-cheaper-type",
  "min-values",
  "spot-to-spot-disabled",
  "spot-flexibility",
]);

/** A verdict, and what the simulation behind it read. */
interface RememberedVerdict {
  readonly own: string;
  readonly cause: DecisionCause;
  readonly price: number;
  readonly pods: readonly Pod[];
  /** Nodes that took some of its pods. */
  readonly receivingNodes: ReadonlySet<string>;
  /** Of every resource the least that each of its pods requests. */
  readonly leastRequests: ReadonlyMap<string, number>;
  /** Changes up to here do not touch it. */
  changesSeen: number;
}

/** A node that is not what it was: undefined where it was not or is no longer there. */
interface RoomChange {
  readonly node: string;
  readonly before: NodeRoom | undefined;
  readonly after: NodeRoom | undefined;
}

/**
 * Why single nodes could not be consolidated, with what each verdict depends on: the node and its pods, the nodes that took
 * some of them, and what all simulations share, such as pools and prices. A node that took no pod and still takes none
 * changes nothing, so most verdicts outlast most changes. (03 §10.2-10)
 */
export class VerdictMemory {
  readonly #verdicts = new Map<string, RememberedVerdict>();
  #inputs: SharedInputs | undefined;
  #rooms = new Map<string, NodeRoom>();
  /** Since the memory was last emptied; what no verdict needs is dropped. */
  #changes: RoomChange[] = [];
  #dropped = 0;
  /** The last sweep had commands: what it found after them counts the capacity of their nodes otherwise than a cluster without these. */
  #hasRemoved = false;

  /** For one sweep over a snapshot; undefined if this simulator cannot say what its simulations have in common. */
  *open(snapshot: DisruptionSnapshot, simulator: DisruptionSimulator): Steps<SweepMemory | undefined> {
    const base = simulator.base === undefined ? undefined : yield* simulator.base({ isConsolidation: true });
    if (base === undefined) {
      this.#clear();
      return undefined;
    }
    const inputs = sharedInputs(snapshot, base.ownPods);
    yield;
    const rooms = new Map<string, NodeRoom>();
    yield* forEachInSteps(base.nodes, (existing) => {
      rooms.set(existing.name, new NodeRoom(existing, base.placedPods.get(existing.name)));
    });
    const changes = yield* roomChanges(this.#rooms, rooms);
    const isOtherCapacity = inputs.isCapacityShared && (changes.length > 0 || this.#hasRemoved);
    if (this.#inputs === undefined || !areSameInputs(this.#inputs, inputs) || isOtherCapacity) this.#clear();
    else for (const change of changes) this.#changes.push(change);
    this.#inputs = inputs;
    this.#rooms = rooms;
    this.#hasRemoved = false;
    yield* this.#forgetGone(snapshot);
    return {
      recall: (candidate) => this.#recall(candidate, base),
      remember: (candidate, found) => this.#remember(candidate, found, base),
      removed: (node, placements) => this.#removed(node, placements),
    };
  }

  #recall(candidate: DisruptionCandidate, base: SimulationBase): DecisionCause | undefined {
    const known = this.#verdicts.get(candidate.name);
    if (known === undefined) return undefined;
    if (this.#isOutdated(known, candidate, base)) {
      this.#verdicts.delete(candidate.name);
      return undefined;
    }
    known.changesSeen = this.#dropped + this.#changes.length;
    return known.cause;
  }

  #isOutdated(known: RememberedVerdict, { name, price }: DisruptionCandidate, base: SimulationBase): boolean {
    const isSame = known.price === price && areSamePods(known.pods, base.movablePods(name));
    if (!isSame || !base.isUnconstrained(name)) return true;
    const from = known.changesSeen - this.#dropped;
    if (from < 0 || this.#changes.length - from > mostChanges) return true;
    for (let at = from; at < this.#changes.length; at++) {
      if (concerns(this.#changes[at] as RoomChange, known)) return true;
    }
    return false;
  }

  #remember(
    { name, price }: DisruptionCandidate,
    { cause, placements = [] }: SimulatedVerdict,
    base: SimulationBase,
  ): void {
    if (!lastingCodes.has(cause.code) || !base.isUnconstrained(name)) return;
    const pods = base.movablePods(name);
    this.#verdicts.set(name, {
      own: name,
      cause,
      price,
      pods,
      receivingNodes: new Set(placements.map(({ node }) => node)),
      leastRequests: leastRequests(pods),
      changesSeen: this.#dropped + this.#changes.length,
    });
  }

  /** A node goes, and others take its pods: what comes later in the sweep is about the cluster without it. */
  #removed(node: string, placements: readonly ExistingNodePlacement[]): void {
    this.#hasRemoved = true;
    if (this.#inputs?.isCapacityShared) this.#verdicts.clear();
    this.#change(node, undefined);
    for (const { node: name, pods } of placements) {
      const room = this.#rooms.get(name);
      if (room !== undefined) this.#change(name, room.withPods(pods));
    }
  }

  #change(node: string, after: NodeRoom | undefined): void {
    this.#changes.push({ node, before: this.#rooms.get(node), after });
    if (after === undefined) this.#rooms.delete(node);
    else this.#rooms.set(node, after);
  }

  *#forgetGone({ cluster }: DisruptionSnapshot): Steps<void> {
    const names = new Set(cluster.nodes.map(({ name }) => name));
    let oldest = this.#dropped + this.#changes.length;
    yield* forEachInSteps([...this.#verdicts], ([name, { changesSeen }]) => {
      if (!names.has(name)) this.#verdicts.delete(name);
      else oldest = Math.min(oldest, changesSeen);
    });
    oldest = Math.max(oldest, this.#dropped + this.#changes.length - mostChanges);
    this.#changes = this.#changes.slice(oldest - this.#dropped);
    this.#dropped = oldest;
  }

  #clear(): void {
    this.#verdicts.clear();
    this.#changes = [];
    this.#dropped = 0;
    this.#inputs = undefined;
    this.#rooms = new Map();
  }
}

/** What a simulation found out about a node. */
export interface SimulatedVerdict {
  readonly cause: DecisionCause;
  readonly placements?: readonly ExistingNodePlacement[] | undefined;
}

/** The memory during one sweep. */
export interface SweepMemory {
  /** The verdict a simulation would come to; undefined: only a simulation can tell. */
  recall(candidate: DisruptionCandidate): DecisionCause | undefined;
  remember(candidate: DisruptionCandidate, found: SimulatedVerdict): void;
  /** A command takes this node, and these pods go to other nodes. */
  removed(node: string, placements: readonly ExistingNodePlacement[]): void;
}

/** Whether a simulation of the node could come out otherwise because of this change. */
function concerns(
  { node, before, after }: RoomChange,
  { own, receivingNodes, leastRequests: least }: RememberedVerdict,
): boolean {
  if (node === own || receivingNodes.has(node)) return true;
  // It took none of the pods. That stays so if it is gone, has no more room than before, or has too little for any of them.
  if (after === undefined || after.refusesAll(least)) return false;
  return before === undefined || !after.isNoRoomierThan(before);
}

function* roomChanges(
  before: ReadonlyMap<string, NodeRoom>,
  after: ReadonlyMap<string, NodeRoom>,
): Steps<readonly RoomChange[]> {
  const changes: RoomChange[] = [];
  yield* forEachInSteps(after, ([node, room]) => {
    const old = before.get(node);
    if (old === undefined || !room.isSameAs(old)) changes.push({ node, before: old, after: room });
  });
  yield* forEachInSteps(before, ([node, room]) => {
    if (!after.has(node)) changes.push({ node, before: room, after: undefined });
  });
  return changes;
}

function areSamePods(some: readonly Pod[], others: readonly Pod[]): boolean {
  return some.length === others.length && some.every((pod, at) => pod === others[at]);
}
