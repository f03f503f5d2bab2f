import type { Schedule } from "../scenarios/compare.ts";
import type { Disruption } from "../scenarios/compare-disruption.ts";
import { plan } from "../scenarios/run.ts";
import type { DifferentialProblem, DisruptionProblem } from "./problem.ts";

/** What `plan` decides, or why it refuses the input. */
export type OurAnswer<Answer = Schedule> =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "refused"; readonly because: string };

export function planProblem(problem: DifferentialProblem, seed = 0): Promise<OurAnswer> {
  return ask(problem, ["--now", "2026-01-15T12:00:00Z", "--seed", String(seed)]);
}

/** What `plan --disruption` decides. */
export function planDisruption(
  problem: DisruptionProblem,
  { mode, seed = 0 }: { readonly mode: string; readonly seed?: number },
): Promise<OurAnswer<Disruption>> {
  const { now, spotToSpot, nominated } = problem;
  return ask(problem, [
    ...["--disruption", "--disruption-mode", mode, "--now", now, "--seed", String(seed)],
    ...(spotToSpot ? ["--spot-to-spot"] : []),
    ...(nominated === undefined ? [] : ["--nominated", nominated]),
  ]);
}

async function ask<Answer>(problem: DifferentialProblem, more: readonly string[]): Promise<OurAnswer<Answer>> {
  const { catalogue, objects, preferences, minValues } = problem;
  const isList = typeof catalogue !== "string";
  const files = {
    "problem.json": JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
    ...(isList && { "catalogue.json": JSON.stringify(catalogue) }),
  };
  const args = ["-f", "problem.json", "--provider", "kwok", "-o", "json", "--packing", "plain", "--rounds", "1"];
  const settings = [
    ...["--instance-types", isList ? "catalogue.json" : catalogue],
    ...(preferences === undefined ? [] : ["--preferences", preferences]),
    ...(minValues === undefined ? [] : ["--min-values", minValues]),
  ];
  const ran = await plan([...args, ...settings, ...more], { files });
  return ran.out === ""
    ? { kind: "refused", because: ran.err }
    : { kind: "answered", answer: JSON.parse(ran.out) as Answer };
}
