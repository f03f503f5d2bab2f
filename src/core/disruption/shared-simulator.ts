import type { Steps } from "../../util/steps.ts";
import { SimulationPass, type SimulationPassOptions } from "../scheduling/simulation-pass.ts";
import { plainSimulator } from "./plain-simulator.ts";
import { SimulationReader } from "./simulation-outcome.ts";
import { simulationProblem } from "./simulation-problem.ts";
import type { DisruptionSimulator, SimulationOptions } from "./simulator.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";

/** An opened pass. */
interface SharedPass {
  readonly pass: SimulationPass;
  /** The nodes that can be left out; undefined: any. */
  readonly removable: ReadonlySet<string> | undefined;
}

function covers({ removable }: SharedPass, names: ReadonlySet<string> | undefined): boolean {
  if (removable === undefined) return true;
  return names !== undefined && [...names].every((name) => removable.has(name));
}

/**
 * Opens one pass for a snapshot, when it is first asked, and simulates every set of nodes in it; each simulation costs what
 * it touches. Where only a few nodes are expected to go, the pods of others are not prepared to move; should one of these be
 * asked about after all, a pass for any node is opened. Its answers are those of `plainSimulator`, unless pending pods are placed first. (03 §10.2-1)
 */
export function sharedSimulator(
  snapshot: DisruptionSnapshot,
  passOptions: SimulationPassOptions = { placesOwnPodsFirst: false },
): DisruptionSimulator {
  if (snapshot.usablePools.length === 0) return plainSimulator(snapshot);
  const reader = new SimulationReader(snapshot);
  const passes = new Map<boolean, SharedPass>();
  let expected: readonly string[] | undefined;
  /** A pass in which these nodes can be left out, or any of them. */
  function* passFor(options: SimulationOptions, names?: ReadonlySet<string>): Steps<SimulationPass> {
    const known = passes.get(options.isConsolidation);
    if (known !== undefined && covers(known, names)) return known.pass;
    const isFirst = known === undefined && names !== undefined;
    const removable = isFirst && expected !== undefined ? new Set([...expected, ...names]) : undefined;
    const problem = yield* simulationProblem(snapshot, options, removable);
    const polishes = snapshot.allowsMultiReplacement;
    const pass = yield* SimulationPass.open(problem, { ...passOptions, polishes });
    passes.set(options.isConsolidation, { pass, removable });
    return pass;
  }
  return {
    expect(candidates) {
      expected = candidates.map(({ name }) => name);
    },
    *simulate(candidates, options) {
      const names = new Set(candidates.map(({ name }) => name));
      if (reader.hasDeleting(names)) return { kind: "candidate-deleting" };
      const pass = yield* passFor(options, names);
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
