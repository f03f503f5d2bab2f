import type { Steps } from "../../util/steps.ts";
import { SimulationPass, type SimulationPassOptions } from "../scheduling/simulation-pass.ts";
import { plainSimulator } from "./plain-simulator.ts";
import { SimulationReader } from "./simulation-outcome.ts";
import { simulationProblem } from "./simulation-problem.ts";
import type { DisruptionSimulator, SimulationOptions } from "./simulator.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";

/**
 * Opens one pass for a snapshot, when it is first asked, and simulates every set of nodes in it; each simulation costs what
 * it touches. Its answers are those of `plainSimulator`, unless pending pods are placed first. (03 §10.2-1)
 */
export function sharedSimulator(
  snapshot: DisruptionSnapshot,
  passOptions: SimulationPassOptions = { placesOwnPodsFirst: false },
): DisruptionSimulator {
  if (snapshot.usablePools.length === 0) return plainSimulator(snapshot);
  const reader = new SimulationReader(snapshot);
  const passes = new Map<boolean, SimulationPass>();
  function* passFor(options: SimulationOptions): Steps<SimulationPass> {
    const known = passes.get(options.isConsolidation);
    if (known !== undefined) return known;
    const polishes = snapshot.allowsMultiReplacement;
    const pass = yield* SimulationPass.open(yield* simulationProblem(snapshot, options), { ...passOptions, polishes });
    passes.set(options.isConsolidation, pass);
    return pass;
  }
  return {
    *simulate(candidates, options) {
      const names = new Set(candidates.map(({ name }) => name));
      if (reader.hasDeleting(names)) return { kind: "candidate-deleting" };
      const pass = yield* passFor(options);
      return reader.read(yield* pass.simulate(names));
    },
    *base(options) {
      return (yield* passFor(options)).base();
    },
    *keep(candidates, options) {
      const pass = yield* passFor(options);
      return yield* pass.keep(new Set(candidates.map(({ name }) => name)));
    },
  };
}
