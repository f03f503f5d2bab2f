import { namespacedName } from "../../api/object.ts";
import type { Steps } from "../../util/steps.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import { type CommandAndMoves, chooseCommand } from "./choose-command.ts";
import type { DisruptionCommand } from "./command.ts";
import { type ConsolidationResult, consolidate } from "./consolidate.ts";
import type { MethodInput } from "./method.ts";
import type { SearchBudget } from "./simulator.ts";
import type { DecisionCause } from "./verdict.ts";

/** A search for sets other than prefixes takes at most as many simulations, and that around the dearest nodes as many more. */
const maxSimulations = 64;
/** A set is not larger than a prefix can be. (03:D-51) */
const maxNodes = 101;
/** A set that cannot grow by as many nodes, one after the other, is not grown further. */
const maxRefusals = 6;
/** Of the sets that share a new node, as many are tried: those that promise to save the most. */
const maxSharing = 3;
/** Of the nodes by price, as many are tried as the beginning of a set. */
const maxDearest = 6;
/** Of the nodes of the best set, as many are tried by themselves. */
const maxAlone = 8;

interface SubsetOutcome {
  readonly best: CommandAndMoves | undefined;
  /** The search budget ended it. */
  readonly isStopped: boolean;
}

/**
 * Looks for nodes that can go together though no prefix of the order can, or a short one only, because a node in between
 * stands in the way. All nodes together usually need several new ones: those whose pods share one of these are a set of
 * their own. A set that works is grown by others in the order, without those that stand in the way. The nodes of a pool,
 * and those of one type, are searched by themselves too. The order prefers small nodes, whose pods may take the room that
 * a dear one needs to go: so sets that begin with one of the dearest are tried as well. Of all that works, and of the prefixes
 * that do, one is chosen, unless one of its nodes saves more by itself. (03 §10.2-6)
 */
export function* searchSubsets(
  ordered: readonly DisruptionCandidate[],
  prefixes: readonly CommandAndMoves[],
  input: MethodInput,
): Steps<SubsetOutcome> {
  const search = new SubsetSearch(ordered, input, prefixes);
  const prefix = prefixes.at(-1);
  if (prefix !== undefined) yield* search.grow(prefix.command);
  for (const list of [ordered, ...groupsOf(ordered)]) yield* search.searchIn(list.slice(0, maxNodes));
  yield* search.growFromDearest();
  const best = yield* chooseCommand(search.found, ordered, input.snapshot);
  const alone = best && (yield* search.tryAlone(best.command));
  return { best: alone ?? best, isStopped: search.isStopped };
}

/** The nodes of each pool, then those of each pool and type; what costs the most first. */
function groupsOf(ordered: readonly DisruptionCandidate[]): readonly (readonly DisruptionCandidate[])[] {
  const groups = [
    ...groupedBy(ordered, ({ pool }) => pool.name),
    ...groupedBy(ordered, ({ pool, instanceType }) => `${pool.name} ${instanceType?.name}`),
  ];
  return groups.filter(({ length }) => length > 1 && length < ordered.length);
}

function groupedBy(
  ordered: readonly DisruptionCandidate[],
  keyOf: (candidate: DisruptionCandidate) => string,
): readonly (readonly DisruptionCandidate[])[] {
  const groups = new Map<string, DisruptionCandidate[]>();
  for (const candidate of ordered) {
    const known = groups.get(keyOf(candidate));
    if (known === undefined) groups.set(keyOf(candidate), [candidate]);
    else known.push(candidate);
  }
  const priced = [...groups.values()].map((group) => ({
    group,
    price: group.reduce((sum, { price }) => sum + price, 0),
  }));
  return priced.sort((a, b) => b.price - a.price).map(({ group }) => group);
}

class SubsetSearch {
  readonly #ordered: readonly DisruptionCandidate[];
  readonly #input: MethodInput;
  readonly #searchBudget: SearchBudget;
  readonly #found: CommandAndMoves[];
  #isStopped = false;
  #simulationsLeft = maxSimulations;

  constructor(ordered: readonly DisruptionCandidate[], input: MethodInput, found: readonly CommandAndMoves[]) {
    const mayContinue = (): boolean => {
      this.#isStopped ||= !input.searchBudget.mayContinue();
      return !this.#isStopped && this.#simulationsLeft-- > 0;
    };
    this.#ordered = ordered;
    this.#searchBudget = { mayContinue };
    this.#input = { ...input, searchBudget: this.#searchBudget, resume: undefined };
    this.#found = [...found];
  }

  get found(): readonly CommandAndMoves[] {
    return this.#found;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** All of these nodes, or the part of them that a simulation of all says would share one new node. */
  *searchIn(list: readonly DisruptionCandidate[], partsOfParts = 2): Steps<void> {
    if (list.length < 2) return;
    const all = yield* this.#try(list);
    if (all?.kind === "command") yield* this.grow(all.command);
    if (all?.kind !== "none" || partsOfParts === 0) return;
    for (const part of partsOf(list, all.cause)) yield* this.searchIn(part, partsOfParts - 1);
  }

  /** Sets that begin with one of the dearest nodes, and grow by the dearest of the others. */
  *growFromDearest(): Steps<void> {
    this.#simulationsLeft = maxSimulations;
    const dearest = byPrice(this.#ordered);
    for (const dear of dearest.slice(0, maxDearest)) {
      const alone = yield* this.#try([dear]);
      if (alone?.kind === "command") yield* this.grow(alone.command, dearest);
    }
  }

  /**
   * What one of the nodes saves by itself, if that is more than all of them save together. A small pod on a node that is too
   * large and a pod that fits its node may be a little cheaper on one new node, but much cheaper where they are.
   */
  *tryAlone({ candidates, replacements, savings }: DisruptionCommand): Steps<CommandAndMoves | undefined> {
    if (candidates.length === 1 || replacements.length === 0) return undefined;
    this.#simulationsLeft = maxAlone;
    let best: CommandAndMoves | undefined;
    for (const candidate of byPrice(candidates)) {
      const result = yield* this.#try([candidate]);
      if (result === undefined) break;
      if (result.kind === "command" && result.command.savings > (best?.command.savings ?? savings)) best = result;
    }
    return best;
  }

  /** Undefined if the search is over. */
  *#try(set: readonly DisruptionCandidate[]): Steps<ConsolidationResult | undefined> {
    if (!this.#searchBudget.mayContinue()) return undefined;
    const method = set.length === 1 ? "single-node-consolidation" : "multi-node-consolidation";
    const result = yield* consolidate(method, set, this.#input);
    if (result.kind === "command" && result.command.savings > 0) this.#found.push(result);
    return result;
  }

  /** Adds as many of the other nodes as make it save more: one, then two, then four at a time, as long as that works. */
  *grow({ candidates, savings: saved }: DisruptionCommand, order = this.#ordered): Steps<void> {
    const known = new Set(candidates);
    const others = order.filter((one) => !known.has(one));
    let set = candidates;
    let savings = saved;
    let step = 1;
    let refusals = 0;
    for (let at = 0; at < others.length && set.length < maxNodes && refusals < maxRefusals; ) {
      const larger = [...set, ...others.slice(at, at + Math.min(step, maxNodes - set.length))];
      const result = yield* this.#try(larger);
      if (result === undefined) return;
      const isBetter = result.kind === "command" && result.command.savings > savings;
      const added = larger.length - set.length;
      if (isBetter) {
        set = larger;
        savings = result.command.savings;
      }
      refusals = isBetter ? 0 : refusals + (added === 1 ? 1 : 0);
      if (isBetter || added === 1) at += added;
      step = isBetter ? 2 * added : Math.max(1, Math.floor(added / 2));
    }
  }
}

/** The dearest first. */
function byPrice(candidates: readonly DisruptionCandidate[]): readonly DisruptionCandidate[] {
  return candidates.toSorted((a, b) => b.price - a.price);
}

/** Parts of a set that may go though the whole cannot. */
function partsOf(
  set: readonly DisruptionCandidate[],
  cause: DecisionCause,
): readonly (readonly DisruptionCandidate[])[] {
  if (cause.code === "pods-unschedulable") {
    const stuck = new Set(cause.pods.map(({ pod }) => pod));
    return [set.filter((one) => !podNames(one).some((pod) => stuck.has(pod)))];
  }
  if (cause.code === "undoes-recent-move") return [set.filter(({ name }) => !cause.nodes.includes(name))];
  if (cause.code !== "needs-more-nodes") return [];
  const newNodeOf = new Map(cause.newNodes.flatMap((node) => node.pods.map((pod) => [pod, node])));
  const parts = cause.newNodes.map((node) => {
    const sharing = set.filter((one) => podNames(one).every((pod) => (newNodeOf.get(pod) ?? node) === node));
    return { sharing, saves: sharing.reduce((sum, { price }) => sum + price, -node.price) };
  });
  const promising = parts.filter(({ saves }) => saves > 0).sort((a, b) => b.saves - a.saves);
  return promising.slice(0, maxSharing).map(({ sharing }) => sharing);
}

function podNames({ reschedulablePods }: DisruptionCandidate): readonly string[] {
  return reschedulablePods.map(({ metadata }) => namespacedName(metadata));
}
