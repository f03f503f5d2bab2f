import { decisionWithoutPools } from "../round/decision-without-pools.ts";
import { problemWithoutNodes } from "../scheduling/simulation-pass.ts";
import { solveInSteps } from "../scheduling/solve.ts";
import { SimulationReader } from "./simulation-outcome.ts";
import { simulationProblem } from "./simulation-problem.ts";
import type { DisruptionSimulator } from "./simulator.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";

/** Builds the scheduling problem without the candidates, and runs a pass over it. Slow and obvious. */
export function plainSimulator(snapshot: DisruptionSnapshot): DisruptionSimulator {
  const reader = new SimulationReader(snapshot);
  return {
    *simulate(candidates, options) {
      const names = new Set(candidates.map(({ name }) => name));
      if (reader.hasDeleting(names)) return { kind: "candidate-deleting" };
      const problem = problemWithoutNodes(yield* simulationProblem(snapshot, options), names);
      return reader.read(decisionWithoutPools(problem) ?? (yield* solveInSteps(problem)));
    },
  };
}
