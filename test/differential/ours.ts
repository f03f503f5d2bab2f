import type { Schedule } from "../scenarios/compare.ts";
import { plan } from "../scenarios/run.ts";
import type { DifferentialProblem } from "./problem.ts";

/** What `plan` decides, or why it refuses the input. */
export type OurAnswer =
  | { readonly kind: "answered"; readonly answer: Schedule }
  | { readonly kind: "refused"; readonly because: string };

export async function planProblem(problem: DifferentialProblem, seed = 0): Promise<OurAnswer> {
  const { catalogue, objects, preferences, minValues } = problem;
  const isList = typeof catalogue !== "string";
  const files = {
    "problem.json": JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
    ...(isList && { "catalogue.json": JSON.stringify(catalogue) }),
  };
  const args = ["-f", "problem.json", "--provider", "kwok", "--now", "2026-01-15T12:00:00Z", "-o", "json"];
  const settings = [
    ...["--packing", "plain", "--rounds", "1", "--seed", String(seed)],
    ...["--instance-types", isList ? "catalogue.json" : catalogue],
    ...(preferences === undefined ? [] : ["--preferences", preferences]),
    ...(minValues === undefined ? [] : ["--min-values", minValues]),
  ];
  const ran = await plan([...args, ...settings], { files });
  return ran.out === ""
    ? { kind: "refused", because: ran.err }
    : { kind: "answered", answer: JSON.parse(ran.out) as Schedule };
}
