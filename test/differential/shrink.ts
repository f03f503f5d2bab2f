import type { DifferentialProblem } from "./problem.ts";

interface JsonObject {
  readonly [key: string]: Json;
}
type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** The smallest problem found, within a number of attempts, for which `holds` is still true. */
export async function shrink<Problem extends DifferentialProblem>(
  problem: Problem,
  holds: (candidate: Problem) => Promise<boolean>,
  maxAttempts = 250,
): Promise<Problem> {
  let smallest = problem;
  let attempts = 0;
  for (let progressed = true; progressed; ) {
    progressed = false;
    // Larger parts first. After a part has gone, the list of parts is another one.
    for (let candidates = simplerProblems(smallest), at = 0; at < candidates.length; at++) {
      if (attempts++ >= maxAttempts) return smallest;
      const candidate = candidates[at] as Problem;
      if (!(await holds(candidate))) continue;
      smallest = candidate;
      progressed = true;
      candidates = simplerProblems(smallest);
      at--; // what was next is at this place now
    }
  }
  return smallest;
}

/** The problem with one part less, for every part: objects first, then what is in them. */
function simplerProblems<Problem extends DifferentialProblem>(problem: Problem): Problem[] {
  const parts = simplerValues(problem as unknown as Json, 0) as unknown as Problem[];
  return parts.filter(({ objects, catalogue }) => objects !== undefined && catalogue !== undefined);
}

/** Fields without which an object is not what it was. */
const kept: ReadonlySet<string> = new Set([
  "apiVersion",
  "kind",
  "metadata",
  "name",
  "nodeClassRef",
  "containers",
  "labelSelector",
  "seed",
  "command",
  "now",
]);

function simplerValues(value: Json, depth: number): Json[] {
  if (Array.isArray(value)) {
    const shorter = value.map((_, index) => value.toSpliced(index, 1));
    const changed = value.flatMap((item, index) => simplerValues(item, depth + 1).map((one) => value.with(index, one)));
    return [...shorter, ...changed];
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value as JsonObject);
    const shorter = entries.filter(([key]) => !kept.has(key)).map(([key]) => without(value as JsonObject, key));
    const changed = entries
      .filter(([key]) => key !== "name")
      .flatMap(([key, item]) => simplerValues(item, depth + 1).map((one) => ({ ...value, [key]: one })));
    return [...shorter, ...changed];
  }
  return typeof value === "number" && Number.isInteger(value) && value > 1 && depth > 2 ? [1] : [];
}

function without(value: JsonObject, key: string): Json {
  const { [key]: _, ...rest } = value;
  return rest;
}
