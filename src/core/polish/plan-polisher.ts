import type { Steps } from "../../util/steps.ts";
import type { Pass, PoolTemplate } from "../scheduling/pass-state.ts";
import type { Bin } from "./bin.ts";
import type { PodBatch } from "./move-class.ts";
import { unitPriceOf } from "./move-scopes.ts";
import { PackingState, type ProposedNode } from "./packing-state.ts";

/** Price differences below this are ignored. */
const epsilon = 1e-9;

/** Iterations over all planned nodes; the first two bring most of the gain. */
const maxIterations = 5;

/** How many other nodes are tried: for a batch that fits on no node at its current size, and for all pods of a node. */
const maxTries = { batch: 24, node: 8 };

/** Budget for each pod, in nodes looked at; it keeps polishing well below the time of solving. */
const effortPerPod = 200;

/** Pods that could leave a node, and the node without them. */
interface Removal extends PodBatch {
  readonly remainder: ProposedNode;
  readonly savings: number;
}

interface PodMove {
  readonly removal: Removal;
  readonly to: Bin;
  readonly proposal: ProposedNode;
  readonly gain: number;
}

/**
 * Improves a finished plan by moving pods between planned nodes while that makes it cheaper. A move keeps what the plain
 * plan has decided: pods stay in their pool, keep their variant, and change no topology count. Nodes may become empty,
 * none are added. Work is limited by a budget, not by time, so that the result is deterministic.
 */
export class PlanPolisher {
  readonly #packing: PackingState;
  readonly #noMoveSince = new Map<number, number>();
  /** In this iteration. */
  readonly #byUnitPrice = new Map<PoolTemplate, readonly Bin[]>();
  #budget: number;
  #moves = 0;
  #movesAtIterationStart = 0;
  #iteration = 0;

  private constructor(packing: PackingState, podCount: number) {
    this.#packing = packing;
    this.#budget = effortPerPod * podCount;
  }

  /** One move a step. The pass, which was asked to place so many pods, keeps the plain plan until the last step. */
  static *polishInSteps(pass: Pass, podCount: number): Steps<void> {
    const packing = yield* PackingState.create(pass);
    const polisher = new PlanPolisher(packing, podCount);
    do yield* polisher.#improveAllBins();
    while (polisher.#startsIteration());
    yield* packing.writeBack();
  }

  *#improveAllBins(): Steps<void> {
    for (const bin of this.#packing.bins) {
      while (!bin.isEmpty && this.#budget > 0) {
        const move = this.#bestMove(bin);
        yield;
        if (move === undefined) break;
        this.#moves++;
        const { to, proposal, removal } = move;
        this.#packing.move(removal, { from: bin, remainder: removal.remainder, to, proposal });
      }
      if (this.#iteration > 0 && !bin.isEmpty) this.#moveToCheaperBins(bin);
      if (this.#budget <= 0) return;
      yield;
    }
  }

  /** Moves pods from a node with a high unit price to nodes with a lower one. */
  #moveToCheaperBins(bin: Bin): void {
    const { poolTemplate } = bin.plannedNode;
    const byUnitPrice = this.#byUnitPrice.get(poolTemplate) ?? this.#packing.scopes.binsByUnitPrice(poolTemplate);
    this.#byUnitPrice.set(poolTemplate, byUnitPrice);
    const unitPrice = unitPriceOf(bin) * (1 - epsilon);
    for (const to of byUnitPrice.slice(0, maxTries.node)) {
      if (unitPriceOf(to) >= unitPrice || bin.isEmpty) break;
      if (to === bin || to.isEmpty) continue;
      this.#budget -= 5 * bin.pods.size;
      if (this.#packing.moveAllPods(bin, to) !== undefined) this.#moves++;
    }
  }

  /** The first iteration uses free resources only; later ones may choose larger nodes. */
  #startsIteration(): boolean {
    if (this.#budget <= 0) return false;
    if (this.#iteration > 0 && this.#moves === this.#movesAtIterationStart) return false;
    this.#movesAtIterationStart = this.#moves;
    this.#byUnitPrice.clear();
    return ++this.#iteration < maxIterations && this.#packing.bins.length > 1;
  }

  #bestMove(bin: Bin): PodMove | undefined {
    const removals = this.#removals(bin);
    const free = bestOf(removals.map((removal) => this.#intoFreeSpace(bin, removal)));
    if (free !== undefined || this.#iteration === 0) return free;
    if (this.#noMoveSince.get(bin.contentKey) === this.#moves) return undefined;
    const paid = bestOf(removals.map((removal) => this.#intoLargerNode(bin, removal)));
    if (paid === undefined) this.#noMoveSince.set(bin.contentKey, this.#moves);
    return paid;
  }

  /** For each move class, the pod counts whose removal makes the node cheaper. */
  #removals(bin: Bin): readonly Removal[] {
    const found: Removal[] = [];
    for (const [moveClass, queuedPods] of bin.pods) {
      if (!moveClass.isMovable) continue;
      let price = bin.price;
      for (let count = 1; count <= queuedPods.length; count++) {
        this.#budget -= 5;
        const remainder = this.#packing.proposeWithout(bin, { moveClass, count });
        if (remainder === undefined || remainder.price > price - epsilon) continue;
        price = remainder.price;
        found.push({ moveClass, count, remainder, savings: bin.price - price });
      }
    }
    return found;
  }

  /** The first node with enough free resources. */
  #intoFreeSpace(bin: Bin, removal: Removal): PodMove | undefined {
    const { scopes } = this.#packing;
    const { moveClass, count, savings } = removal;
    const { roomLog, searchedUpTo } = scopes.scopeFor(bin, moveClass);
    const searchedByCount = searchedUpTo.get(moveClass) ?? [];
    searchedUpTo.set(moveClass, searchedByCount);
    const start = searchedByCount[count] ?? 0;
    let ownPosition = -1;
    let found: PodMove | undefined;
    let position = start;
    for (; position < roomLog.length; position++) {
      const to = roomLog[position] as Bin;
      if (!scopes.hasRoom(to, removal)) continue;
      if (to === bin) {
        if (ownPosition < 0) ownPosition = position; // not for these pods, but for pods of another node
      } else if (this.#packing.takesAsIs(to, moveClass) && to.allowsOnHost(moveClass, count)) {
        found = {
          removal,
          to,
          proposal: { requirementState: to.requirementState, sizeIndex: to.sizeIndex, price: to.price },
          gain: savings,
        };
        break;
      }
    }
    this.#budget -= 1 + (position - start) / 8;
    searchedByCount[count] = ownPosition < 0 ? position : ownPosition;
    return found;
  }

  /** The node whose price rises least, or an empty one. */
  #intoLargerNode(bin: Bin, removal: Removal): PodMove | undefined {
    const { scopes } = this.#packing;
    const { moveClass, count, savings } = removal;
    let tries = maxTries.batch;
    let found: PodMove | undefined;
    const { binsByContent, minPriceStep } = scopes.scopeFor(bin, moveClass);
    for (const alike of minPriceStep < savings - epsilon ? binsByContent.values() : []) {
      this.#budget -= 0.25;
      const to = otherBin(bin, alike);
      if (to === undefined) continue;
      if ((scopes.priceStep[to.index] as number) >= savings - epsilon && !scopes.hasRoom(to, removal)) continue;
      if (--tries < 0) break;
      this.#budget -= 5;
      const proposal = this.#packing.proposeWith(to, removal);
      if (proposal === undefined || !to.allowsOnHost(moveClass, count)) continue;
      const gain = savings - (proposal.price - to.price);
      if (gain > (found?.gain ?? epsilon)) found = { removal, to, proposal, gain };
    }
    return bestOf([found, this.#intoEmptyNode(bin, removal)]);
  }

  #intoEmptyNode(bin: Bin, removal: Removal): PodMove | undefined {
    const to = this.#packing.scopes.anyEmptyBin(bin.plannedNode.poolTemplate);
    if (to === undefined || !to.allowsOnHost(removal.moveClass, removal.count)) return undefined;
    const proposal = this.#packing.proposeAlone(to, removal, bin);
    const gain = proposal === undefined ? 0 : removal.savings - proposal.price;
    return proposal === undefined || gain <= epsilon ? undefined : { removal, to, proposal, gain };
  }
}

function otherBin(bin: Bin, alike: ReadonlySet<Bin>): Bin | undefined {
  for (const other of alike) if (other !== bin) return other;
  return undefined;
}

function bestOf(moves: readonly (PodMove | undefined)[]): PodMove | undefined {
  let found: PodMove | undefined;
  for (const move of moves) if (move !== undefined && move.gain > (found?.gain ?? 0)) found = move;
  return found;
}
