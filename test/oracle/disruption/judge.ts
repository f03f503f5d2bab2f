import { deliberateDifferences } from "../../differential/deliberate.ts";
import type { Oracle } from "../../differential/oracle.ts";
import { planDisruption } from "../../differential/ours.ts";
import type { DisruptionProblem } from "../../differential/problem.ts";
import { type Disruption, disruptionDifferences } from "../../scenarios/compare-disruption.ts";

/** How our answer compares with the set of upstream's answers. */
export type DisruptionJudgement =
  /** Every method gives one of the answers that upstream gives. */
  | { readonly kind: "agreed"; readonly ours: Disruption }
  /** With another seed of ours it would: the answers differ by chance alone. */
  | { readonly kind: "drawn"; readonly ours: Disruption }
  | { readonly kind: "different"; readonly ours: Disruption; readonly details: readonly string[] }
  /** One side cannot answer; the problem says nothing. */
  | { readonly kind: "unanswered"; readonly because: string };

export interface DisruptionJudgeOptions {
  readonly oracle: Oracle;
  readonly mode: string;
  /** How often upstream is asked in turn, until its answers explain ours. */
  readonly draws: readonly number[];
}

const ourSeeds = [1, 2, 3, 4, 5, 6, 7, 8] as const;

export async function judgeDisruption(
  problem: DisruptionProblem,
  { oracle, mode, draws }: DisruptionJudgeOptions,
): Promise<DisruptionJudgement> {
  const ours = await planDisruption(problem, { mode });
  if (ours.kind === "refused") return { kind: "unanswered", because: `plan: ${ours.because}` };
  const seen: Disruption[] = [];
  for (const repeat of draws) {
    const upstream = await oracle.ask<Disruption>(problem, repeat);
    if (upstream.kind === "failed") return { kind: "unanswered", because: `oracle: ${upstream.because}` };
    seen.push(...upstream.answers);
    if (unexplained(ours.answer, seen, mode).length === 0) return { kind: "agreed", ours: ours.answer };
  }
  for (const seed of ourSeeds) {
    const other = await planDisruption(problem, { mode, seed });
    if (other.kind === "answered" && unexplained(other.answer, seen, mode).length === 0) {
      return { kind: "drawn", ours: ours.answer };
    }
  }
  return { kind: "different", ours: ours.answer, details: unexplained(ours.answer, seen, mode) };
}

/** In mode upstream each method is compared with every draw on its own: methods draw independently. */
function unexplained(ours: Disruption, draws: readonly Disruption[], mode: string): readonly string[] {
  if (mode === "default") return fewest(draws.map((draw) => disruptionDifferences(draw, ours, "default")));
  return ours.methods.flatMap((own) => {
    const perDraw = draws.map((draw) => {
      const methods = draw.methods.filter(({ method }) => method === own.method);
      return disruptionDifferences({ acts: "", methods }, { acts: "", methods: [own] }, "strict");
    });
    return fewest(perDraw);
  });
}

/** What sets the answer apart from the draw it resembles most. */
function fewest(perDraw: readonly (readonly string[])[]): readonly string[] {
  return perDraw.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

/** The deliberate difference without which the answers agree; undefined if there is none. */
export async function deliberateDisruption(
  problem: DisruptionProblem,
  options: DisruptionJudgeOptions,
): Promise<string | undefined> {
  for (const { row, avoid } of deliberateDifferences) {
    const avoided = avoid(problem) as DisruptionProblem;
    if (JSON.stringify(avoided) === JSON.stringify(problem)) continue;
    const { kind } = await judgeDisruption(avoided, options);
    if (kind === "agreed" || kind === "drawn") return row;
  }
  return undefined;
}
