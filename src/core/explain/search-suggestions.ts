import { namespacedName } from "../../api/object.ts";
import { podProblems } from "../pod-validation.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import { candidateChanges, orderChanges } from "./candidate-changes.ts";
import {
  type CandidateChange,
  combinedConsequences,
  combinedPrecedence,
  problemsAfter,
} from "./changes/candidate-change.ts";
import type { Edit } from "./edit.ts";
import type { Explanation, Suggestion } from "./explanation.ts";
import { type AnalysisOptions, analyzePlacement } from "./placement-analysis.ts";
import { poolDriftOf } from "./pool-drift.ts";
import { reduceProblem } from "./reduce-problem.ts";
import { locationInDecision, type PodLocation, refusedPodKeys, type Simulation, simulateFor } from "./simulation.ts";

export interface SearchOptions extends AnalysisOptions {
  readonly podKey: string;
  readonly maxSuggestions: number;
  /** The most simulations. */
  readonly maxTrials: number;
  /** Validation problems the pod has already and may keep. */
  readonly toleratedProblems: ReadonlySet<string>;
  /** Pods that are not placed before anything is changed. */
  readonly unplacedPodKeys: ReadonlySet<string>;
}

/** Changes after which the pod is placed, found by simulation, mildest first. */
export function searchSuggestions(
  problem: SchedulingProblem,
  candidates: readonly CandidateChange[],
  options: SearchOptions,
): Pick<Explanation, "suggestions" | "lastResorts"> {
  const search = new SuggestionSearch(problem, options);
  const mild = candidates.filter(isMild);
  const single = search.tryAll(mild);
  // Pairs of changes are tried only if no single change helps.
  const pairs = single.length > 0 ? [] : search.pairs(candidates.slice(0, maxFirstSteps));
  const suggestions = single.length > 0 ? single : search.tryAll(pairs.filter(isMild));
  if (suggestions.length > 0) return { suggestions };
  search.allowTrials(maxTrialsForAlternatives);
  const lastResorts = search.tryAll([...candidates, ...pairs].filter((one) => !isMild(one)));
  return { suggestions, ...(lastResorts.length > 0 && { lastResorts }) };
}

function isMild({ precedence }: CandidateChange): boolean {
  return precedence !== "last-resort";
}

/** How many changes that did not help are combined with a second one. */
const maxFirstSteps = 6;
/** Once a suggestion is found, this share of the trials is left for alternatives, and at most so many. */
const shareForAlternatives = 1 / 5;
const maxTrialsForAlternatives = 6;

class SuggestionSearch {
  readonly #problem: SchedulingProblem;
  readonly #options: SearchOptions;
  #trials: number;

  constructor(problem: SchedulingProblem, options: SearchOptions) {
    this.#problem = problem;
    this.#options = options;
    this.#trials = options.maxTrials;
  }

  tryAll(candidates: readonly CandidateChange[]): readonly Suggestion[] {
    const found: Suggestion[] = [];
    const costly: Suggestion[] = [];
    for (const candidate of candidates) {
      if (this.#trials <= 0 || found.length >= this.#options.maxSuggestions) break;
      if (isVariation(candidate, found)) continue;
      const suggestion = this.#try(candidate);
      if (suggestion === undefined) continue;
      (suggestion.displaced.length === 0 ? found : costly).push(suggestion);
      if (found.length === 1 && suggestion === found[0])
        this.#trials = Math.min(this.#trials, this.#trialsForAlternatives);
    }
    // A change that displaces other pods is only suggested if there is no other.
    return [...found, ...(found.length === 0 ? costly.slice(0, this.#options.maxSuggestions) : [])];
  }

  get #trialsForAlternatives(): number {
    return Math.min(maxTrialsForAlternatives, Math.max(2, Math.round(this.#options.maxTrials * shareForAlternatives)));
  }

  allowTrials(atLeast: number): void {
    this.#trials = Math.max(this.#trials, atLeast);
  }

  /** Pairs of changes: the second removes what still refuses the pod after the first. */
  pairs(firsts: readonly CandidateChange[]): readonly CandidateChange[] {
    const pairs = firsts.flatMap((first) => {
      const [problem = this.#problem] = problemsAfter(this.#problem, first);
      const simulation = this.#isValid(problem) && this.#trials > 0 ? this.#simulate(problem) : undefined;
      if (simulation === undefined || locationOf(simulation) !== undefined) return [];
      return candidateChanges(analyzePlacement(problem, simulation, this.#options))
        .slice(0, maxFirstSteps)
        .map(
          (second): CandidateChange => ({
            text: `${first.text}; and ${second.text}`,
            edits: [...first.edits, ...second.edits],
            precedence: combinedPrecedence([first, second]),
            steps: first.steps + second.steps,
            weight: first.weight + second.weight,
            ...combinedConsequences([first, second]),
          }),
        );
    });
    return orderChanges(pairs);
  }

  #simulate(problem: SchedulingProblem): Simulation | undefined {
    this.#trials--;
    return simulateFor(reduceProblem(problem), this.#options.podKey);
  }

  #isValid(problem: SchedulingProblem): boolean {
    const pod = problem.pods.find(({ metadata }) => namespacedName(metadata) === this.#options.podKey);
    return (
      pod !== undefined && podProblems(pod, problem).every(({ text }) => this.#options.toleratedProblems.has(text))
    );
  }

  #try(candidate: CandidateChange): Suggestion | undefined {
    const [first, ...others] = problemsAfter(this.#problem, candidate).map((problem) => this.#placed(problem));
    if (first === undefined || others.some((one) => one === undefined)) return undefined;
    const { problem, location, after } = first;
    const { unplacedPodKeys: unplaced, podKey } = this.#options;
    const { text, edits, weight, driftedPools } = candidate;
    const drift = poolDriftOf(this.#problem, problem, driftedPools);
    return {
      text,
      edits,
      weight,
      place: suggestedPlace(location),
      alsoPlaced: [...unplaced].filter((key) => key !== podKey && !after.has(key)).length,
      displaced: [...after].filter((key) => !unplaced.has(key)).sort(),
      ...(drift.length > 0 && { drift }),
    };
  }

  /** Where the pod is placed in a changed problem, and which pods are not; undefined if it is not. */
  #placed(problem: SchedulingProblem): PlacedTrial | undefined {
    const simulation = this.#isValid(problem) ? this.#simulate(problem) : undefined;
    const location = simulation && locationOf(simulation);
    return simulation && location && { problem, location, after: refusedPodKeys(simulation.decision) };
  }
}

interface PlacedTrial {
  readonly problem: SchedulingProblem;
  readonly location: PodLocation;
  readonly after: ReadonlySet<string>;
}

function locationOf({ decision, queuedPod }: Simulation): PodLocation | undefined {
  return locationInDecision(decision, queuedPod.pod);
}

function suggestedPlace(location: PodLocation): Suggestion["place"] {
  if (location.kind === "existing-node") return { node: location.placement.node };
  const { pool, instanceTypes } = location.plannedNode;
  const [cheapest] = instanceTypes;
  return { pool, ...(cheapest && { instanceType: cheapest.name }) };
}

/** Whether a found suggestion already changes the same fields. */
function isVariation({ edits }: CandidateChange, found: readonly Suggestion[]): boolean {
  const changed = new Set(edits.map(editKey));
  return found.some((one) => one.edits.every((edit) => changed.has(editKey(edit))));
}

function editKey({ object, op, path }: Edit): string {
  return JSON.stringify([object.kind, object.namespace, object.name, op, path]);
}
