import { namespacedName } from "../../api/object.ts";
import { podProblems } from "../pod-validation.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import { candidatesFor, inOrder } from "./candidates.ts";
import type { Change } from "./changes/change.ts";
import { applyEdits, type Edit } from "./edit.ts";
import { essentials } from "./essentials.ts";
import type { Suggestion } from "./explanation.ts";
import { playRound, type Round, unplacedKeys } from "./round.ts";
import { situationOf } from "./situation.ts";

export interface SearchOptions {
  readonly podKey: string;
  /** How many suggestions are wanted. */
  readonly most: number;
  /** How often at most the problem is planned again. */
  readonly trials: number;
  /** Problems of validation the pod has already and may keep. */
  readonly tolerated: ReadonlySet<string>;
  /** Pods without a place before anything is changed. */
  readonly unplaced: ReadonlySet<string>;
}

/** Changes that give the pod a place, found by trying them, smallest first. */
export function searchSuggestions(
  problem: SchedulingProblem,
  candidates: readonly Change[],
  options: SearchOptions,
): readonly Suggestion[] {
  const search = new Search(problem, options);
  const found = search.tryAll(candidates);
  // Only when no single change will do is it asked what is still in the way after it.
  return found.length > 0 ? found : search.tryAfter(candidates.slice(0, mostFirstSteps));
}

/** How many changes that did not suffice are built upon. */
const mostFirstSteps = 6;
/** Once something has been found, this part of the trials is spent on alternatives, and at most so many. */
const partForMore = 1 / 5;
const mostForMore = 6;

class Search {
  readonly #problem: SchedulingProblem;
  readonly #options: SearchOptions;
  #trials: number;

  constructor(problem: SchedulingProblem, options: SearchOptions) {
    this.#problem = problem;
    this.#options = options;
    this.#trials = options.trials;
  }

  tryAll(candidates: readonly Change[]): readonly Suggestion[] {
    const found: Suggestion[] = [];
    const costly: Suggestion[] = [];
    for (const candidate of candidates) {
      if (this.#trials <= 0 || found.length >= this.#options.most) break;
      if (isVariation(candidate, found)) continue;
      const suggestion = this.#try(candidate);
      if (suggestion === undefined) continue;
      (suggestion.displaced.length === 0 ? found : costly).push(suggestion);
      if (found.length === 1 && suggestion === found[0]) this.#trials = Math.min(this.#trials, this.#forMore);
    }
    // A change that takes somebody else's place is better than none, and worse than any other.
    return [...found, ...(found.length === 0 ? costly.slice(0, this.#options.most) : [])];
  }

  get #forMore(): number {
    return Math.min(mostForMore, Math.max(2, Math.round(this.#options.trials * partForMore)));
  }

  /** Second steps: what the round after a first step still complains of. */
  tryAfter(firsts: readonly Change[]): readonly Suggestion[] {
    const pairs = firsts.flatMap((first) => {
      const problem = applyEdits(this.#problem, first.edits);
      const round = this.#isValid(problem) && this.#trials > 0 ? this.#play(problem) : undefined;
      if (round === undefined || round.spot !== undefined) return [];
      return candidatesFor(situationOf(problem, round))
        .slice(0, mostFirstSteps)
        .map(
          (second): Change => ({
            text: `${first.text}; and ${second.text}`,
            edits: [...first.edits, ...second.edits],
            steps: first.steps + second.steps,
            weight: first.weight + second.weight,
          }),
        );
    });
    return this.tryAll(inOrder(pairs));
  }

  #play(problem: SchedulingProblem): Round | undefined {
    this.#trials--;
    return playRound(essentials(problem), this.#options.podKey);
  }

  #isValid(problem: SchedulingProblem): boolean {
    const pod = problem.pods.find(({ metadata }) => namespacedName(metadata) === this.#options.podKey);
    return pod !== undefined && podProblems(pod, problem).every(({ text }) => this.#options.tolerated.has(text));
  }

  #try(candidate: Change): Suggestion | undefined {
    const problem = applyEdits(this.#problem, candidate.edits);
    if (!this.#isValid(problem)) return undefined;
    const round = this.#play(problem);
    if (round?.spot === undefined) return undefined;
    const { unplaced, podKey } = this.#options;
    const after = unplacedKeys(round.pass);
    const { text, edits, weight } = candidate;
    return {
      text,
      edits,
      weight,
      place: placeOf(round.spot),
      alsoPlaced: [...unplaced].filter((key) => key !== podKey && !after.has(key)).length,
      displaced: [...after].filter((key) => !unplaced.has(key)).sort(),
    };
  }
}

function placeOf(spot: NonNullable<Round["spot"]>): Suggestion["place"] {
  if (spot.kind === "node") return { node: spot.seat.node.name };
  const { shop, columns, outline } = spot.claim;
  const cheapest = shop.catalogue.byPrice(outline).find(({ typeIndex }) => shop.catalogue.hasType(columns, typeIndex));
  return { pool: shop.template.pool, ...(cheapest && { instanceType: cheapest.type.name }) };
}

/** The same fields changed to other values, or more besides, say nothing new. */
function isVariation({ edits }: Change, found: readonly Suggestion[]): boolean {
  const changed = new Set(edits.map(placeText));
  return found.some((one) => one.edits.every((edit) => changed.has(placeText(edit))));
}

function placeText({ object, op, path }: Edit): string {
  return JSON.stringify([object.kind, object.namespace, object.name, op, path]);
}
