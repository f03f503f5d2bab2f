import { differences, type Level, type Schedule } from "../scenarios/compare.ts";
import { deliberateDifferences } from "./deliberate.ts";
import type { Oracle } from "./oracle.ts";
import { planProblem } from "./ours.ts";
import type { DifferentialProblem } from "./problem.ts";

/** How our answer compares with the set of upstream's answers. */
export type Judgement =
  /** One of upstream's answers is ours. */
  | { readonly kind: "agreed" }
  /** Another of our draws is one of upstream's: the answers differ by chance alone. */
  | { readonly kind: "drawn" }
  | {
      readonly kind: "different";
      readonly ours: Schedule;
      readonly upstream: Schedule;
      readonly details: readonly string[];
    }
  /** One side cannot answer; the problem says nothing. */
  | { readonly kind: "unanswered"; readonly because: string };

/** How often upstream is asked: more often each time its answers do not contain ours. */
const repeats = [1, 10, 60, 400] as const;
const ourSeeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const;

export interface JudgeOptions {
  readonly oracle: Oracle;
  readonly level: Level;
  /** Which of the repeats to go through; shrinking takes fewer. */
  readonly rounds?: number;
}

export async function judge(problem: DifferentialProblem, options: JudgeOptions): Promise<Judgement> {
  const { oracle, level, rounds = repeats.length } = options;
  const [ours, firstAnswers] = await Promise.all([planProblem(problem), oracle.ask(problem, repeats[0])]);
  if (ours.kind === "refused") return { kind: "unanswered", because: `plan: ${ours.because}` };
  const seen: Schedule[] = [];
  for (const [round, repeat] of repeats.slice(0, rounds).entries()) {
    const upstream = round === 0 ? firstAnswers : await oracle.ask(problem, repeat);
    if (upstream.kind === "failed") return { kind: "unanswered", because: `oracle: ${upstream.because}` };
    if (upstream.answers.some((answer) => isSame(answer, ours.answer, level))) return { kind: "agreed" };
    seen.push(...upstream.answers);
  }
  for (const seed of ourSeeds.slice(0, rounds * 3)) {
    const other = await planProblem(problem, seed);
    if (other.kind === "answered" && seen.some((answer) => isSame(answer, other.answer, level)))
      return { kind: "drawn" };
  }
  return different(ours.answer, seen, level);
}

function isSame(upstream: Schedule, ours: Schedule, level: Level): boolean {
  return differences(upstream, ours, level).length === 0;
}

/** The nearest of upstream's answers says what differs. */
function different(ours: Schedule, seen: readonly Schedule[], level: Level): Judgement {
  const compared = seen.map((upstream) => ({ upstream, details: differences(upstream, ours, level) }));
  const [nearest] = compared.sort((a, b) => a.details.length - b.details.length);
  if (nearest === undefined) return { kind: "unanswered", because: "oracle: no answer" };
  return { kind: "different", ours, ...nearest };
}

/** The deliberate difference without which the answers agree; undefined if there is none. */
export async function deliberateDifference(
  problem: DifferentialProblem,
  options: JudgeOptions,
): Promise<string | undefined> {
  const all = (whole: DifferentialProblem) => deliberateDifferences.reduce((rest, { avoid }) => avoid(rest), whole);
  for (const { row, avoid } of [...deliberateDifferences, { row: "several of them", avoid: all }]) {
    const avoided = avoid(problem);
    if (JSON.stringify(avoided) === JSON.stringify(problem)) continue;
    const { kind } = await judge(avoided, options);
    if (kind === "agreed" || kind === "drawn") return row;
  }
  return undefined;
}
