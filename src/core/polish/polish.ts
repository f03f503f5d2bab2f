import type { Steps } from "../../util/steps.ts";
import type { Pass, Shop } from "../scheduling/pass-state.ts";
import type { Bin } from "./bin.ts";
import { rateOf } from "./cells.ts";
import { type Batch, type Offer, Workbench } from "./workbench.ts";

/** Prices closer than this are the same. */
const epsilon = 1e-9;

/** Laps over all planned nodes; most of what there is to gain is gained in the first two. */
const mostLaps = 5;

/** Other nodes looked at closely: for a batch that no node has room for as it is, and for a whole node. */
const mostTries = { batch: 24, node: 8 };

/** Work a pod, in looks at a node: it keeps polishing well below the time of solving. */
const effort = 200;

/** Pods that may leave a node, and what is left of it then. */
interface Departure extends Batch {
  readonly left: Offer;
  readonly saved: number;
}

interface Move {
  readonly departure: Departure;
  readonly to: Bin;
  readonly at: Offer;
  readonly gain: number;
}

/**
 * Goes over a finished plan and moves pods between planned nodes as long as that makes it cheaper. Every move keeps what
 * the plain plan has settled: pods stay in their pool, keep what was left of their wishes, and no topology sees a
 * difference; nodes may become empty, and are never more. Work is limited, and counted, not timed: the same plan is
 * always polished alike.
 */
export class Polish {
  readonly #bench: Workbench;
  readonly #dead = new Map<number, number>();
  /** Of this lap. */
  readonly #byRate = new Map<Shop, readonly Bin[]>();
  #budget: number;
  #moves = 0;
  #movesBefore = 0;
  #lap = 0;

  private constructor(pass: Pass, bench: Workbench) {
    this.#bench = bench;
    this.#budget = effort * pass.problem.pods.length;
  }

  /** All of it, a move a step. The pass has the plain plan until the last step gives it the better one. */
  static *polishing(pass: Pass): Steps<void> {
    const bench = yield* Workbench.opening(pass);
    const polish = new Polish(pass, bench);
    do yield* polish.#improveAll();
    while (polish.#beginsLap());
    yield* bench.finishing();
  }

  /** One lap over the planned nodes. */
  *#improveAll(): Steps<void> {
    for (const bin of this.#bench.bins) {
      while (!bin.isEmpty && this.#budget > 0) {
        const move = this.#bestMove(bin);
        yield;
        if (move === undefined) break;
        this.#moves++;
        const { to, at, departure } = move;
        this.#bench.move(departure, { from: bin, left: departure.left, to, at });
      }
      if (this.#lap > 0 && !bin.isEmpty) this.#pourOut(bin);
      if (this.#budget <= 0) return;
      yield;
    }
  }

  /** Off a kind of node that is dear by the room, onto one that is cheap. */
  #pourOut(bin: Bin): void {
    const { shop } = bin.claim;
    const byRate = this.#byRate.get(shop) ?? this.#bench.cells.byRate(shop);
    this.#byRate.set(shop, byRate);
    const rate = rateOf(bin) * (1 - epsilon);
    for (const to of byRate.slice(0, mostTries.node)) {
      if (rateOf(to) >= rate || bin.isEmpty) break;
      if (to === bin || to.isEmpty) continue;
      this.#budget -= 5 * bin.pods.size;
      if (this.#bench.pour(bin, to) !== undefined) this.#moves++;
    }
  }

  /** Nodes as they are first, larger ones from the second lap on. */
  #beginsLap(): boolean {
    if (this.#budget <= 0) return false;
    if (this.#lap > 0 && this.#moves === this.#movesBefore) return false;
    this.#movesBefore = this.#moves;
    this.#byRate.clear();
    return ++this.#lap < mostLaps && this.#bench.bins.length > 1;
  }

  #bestMove(bin: Bin): Move | undefined {
    const departures = this.#departures(bin);
    const free = best(departures.map((departure) => this.#intoRoom(bin, departure)));
    if (free !== undefined || this.#lap === 0) return free;
    if (this.#dead.get(bin.kind) === this.#moves) return undefined;
    const paid = best(departures.map((departure) => this.#intoLarger(bin, departure)));
    if (paid === undefined) this.#dead.set(bin.kind, this.#moves);
    return paid;
  }

  /** For each mover the fewest pods whose leaving makes the node cheaper, and cheaper still. */
  #departures(bin: Bin): readonly Departure[] {
    const found: Departure[] = [];
    for (const [mover, entries] of bin.pods) {
      if (!mover.isMovable) continue;
      let price = bin.price;
      for (let count = 1; count <= entries.length; count++) {
        this.#budget -= 5;
        const left = this.#bench.offerWithout(bin, { mover, count });
        if (left === undefined || left.price > price - epsilon) continue;
        price = left.price;
        found.push({ mover, count, left, saved: bin.price - price });
      }
    }
    return found;
  }

  /** The first node with room to spare. */
  #intoRoom(bin: Bin, departure: Departure): Move | undefined {
    const { cells } = this.#bench;
    const { mover, count, saved } = departure;
    const { log, looked } = cells.around(bin, mover);
    const places = looked.get(mover) ?? [];
    looked.set(mover, places);
    const start = places[count] ?? 0;
    let own = -1;
    let found: Move | undefined;
    let place = start;
    for (; place < log.length; place++) {
      const to = log[place] as Bin;
      if (!cells.hasRoom(to, departure)) continue;
      if (to === bin) {
        if (own < 0) own = place; // no place for these pods, but for others like them
      } else if (this.#bench.takesAsIs(to, mover) && to.welcomes(mover, count)) {
        found = { departure, to, at: { outline: to.outline, choice: to.choice, price: to.price }, gain: saved };
        break;
      }
    }
    this.#budget -= 1 + (place - start) / 8;
    places[count] = own < 0 ? place : own;
    return found;
  }

  /** The node that becomes dearer by the least, or one that stands empty. */
  #intoLarger(bin: Bin, departure: Departure): Move | undefined {
    const { cells } = this.#bench;
    const { mover, count, saved } = departure;
    let tries = mostTries.batch;
    let found: Move | undefined;
    const { kinds, leastStep } = cells.around(bin, mover);
    for (const alike of leastStep < saved - epsilon ? kinds.values() : []) {
      this.#budget -= 0.25;
      const to = otherThan(bin, alike);
      if (to === undefined) continue;
      if ((cells.step[to.index] as number) >= saved - epsilon && !cells.hasRoom(to, departure)) continue;
      if (--tries < 0) break;
      this.#budget -= 5;
      const at = this.#bench.offerWith(to, departure);
      if (at === undefined || !to.welcomes(mover, count)) continue;
      const gain = saved - (at.price - to.price);
      if (gain > (found?.gain ?? epsilon)) found = { departure, to, at, gain };
    }
    return best([found, this.#intoEmpty(bin, departure)]);
  }

  #intoEmpty(bin: Bin, departure: Departure): Move | undefined {
    const to = this.#bench.cells.emptyOne(bin.claim.shop);
    if (to === undefined || !to.welcomes(departure.mover, departure.count)) return undefined;
    const at = this.#bench.offerAlone(to, departure, bin);
    const gain = at === undefined ? 0 : departure.saved - at.price;
    return at === undefined || gain <= epsilon ? undefined : { departure, to, at, gain };
  }
}

function otherThan(bin: Bin, alike: ReadonlySet<Bin>): Bin | undefined {
  for (const other of alike) if (other !== bin) return other;
  return undefined;
}

function best(moves: readonly (Move | undefined)[]): Move | undefined {
  let found: Move | undefined;
  for (const move of moves) if (move !== undefined && move.gain > (found?.gain ?? 0)) found = move;
  return found;
}
