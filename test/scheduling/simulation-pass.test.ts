import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import { namespacedName } from "../../src/api/object.ts";
import { isTerminalPod } from "../../src/core/pod-predicates.ts";
import { podRequests, QuantityReader } from "../../src/core/pod-requests.ts";
import { mergeResources, type Resources, resourcesFit } from "../../src/core/resources.ts";
import { openPass } from "../../src/core/scheduling/open-pass.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import {
  problemWithoutNodes,
  SimulationPass,
  type SimulationProblem,
} from "../../src/core/scheduling/simulation-pass.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import { variantAt } from "../../src/core/scheduling/variants.ts";
import { runSteps } from "../../src/util/steps.ts";
import { runs } from "../runs.ts";
import { problemDraft } from "../twin/arbitrary.ts";
import { buildProblem, describeDraft } from "../twin/draft.ts";
import { readable } from "../twin/readable.ts";

/** Which nodes go in each simulation, as bits by place of the node. */
const removals = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 4 });

describe("a pass that is opened once", () => {
  it("03 §10.2-1 decides every simulation as a pass of its own would, and leaves nothing behind", () => {
    fc.assert(
      fc.property(problemDraft, removals, fc.boolean(), fc.boolean(), (draft, sets, isVoluntary, isForThese) => {
        const problem = movable(buildProblem(draft), isVoluntary);
        fc.pre(!addsGroupsInRelaxation(problem));
        // A pass may also be opened for those nodes alone that will go.
        const asked = sets.reduce((all, set) => all | set);
        const goes = new Set(problem.nodes.filter((_, at) => (asked >> at) & 1).map(({ name }) => name));
        const movablePods = new Map([...problem.movablePods].filter(([name]) => goes.has(name)));
        const simulation = runSteps(SimulationPass.open(isForThese ? { ...problem, movablePods } : problem));
        for (const set of sets) {
          const removed = new Set(problem.nodes.filter((_, at) => (set >> at) & 1).map(({ name }) => name));
          const expected = readable(solve(problemWithoutNodes(problem, removed)));
          expect(readable(runSteps(simulation.simulate(removed))), `${[...removed]}\n${describeDraft(draft)}`).toEqual(
            expected,
          );
        }
      }),
      { numRuns: runs(3_000) },
    );
  }, 600_000);

  it("03 §10.2-1 and polishes the new nodes as a pass of its own would", () => {
    fc.assert(
      fc.property(problemDraft, removals, (draft, sets) => {
        const plain = movable(buildProblem(draft), false);
        const problem: SimulationProblem = { ...plain, policy: { ...plain.policy, packing: "polished" } };
        fc.pre(!addsGroupsInRelaxation(problem));
        const simulation = runSteps(SimulationPass.open(problem, { placesOwnPodsFirst: false, polishes: true }));
        for (const set of sets) {
          const removed = new Set(problem.nodes.filter((_, at) => (set >> at) & 1).map(({ name }) => name));
          const expected = readable(solve(problemWithoutNodes(problem, removed)));
          expect(readable(runSteps(simulation.simulate(removed))), `${[...removed]}\n${describeDraft(draft)}`).toEqual(
            expected,
          );
        }
      }),
      { numRuns: runs(1_000) },
    );
  }, 600_000);

  it("03 §10.2-9 what is kept takes room from later simulations, and never more than there is", () => {
    fc.assert(
      fc.property(problemDraft, removals, (draft, sets) => {
        const problem = movable(buildProblem(draft), false);
        const simulation = runSteps(SimulationPass.open(problem, { placesOwnPodsFirst: true }));
        const gone = new Set<string>();
        const receiving = new Set<string>();
        const placed = new Map<string, Resources[]>();
        for (const set of sets) {
          const free = problem.nodes.filter(({ name }) => !gone.has(name) && !receiving.has(name));
          const removed = new Set(free.filter((_, at) => (set >> at) & 1).map(({ name }) => name));
          const { placements } = runSteps(simulation.simulate(removed));
          const kept = runSteps(simulation.keep(removed));
          if (kept === undefined) return;
          for (const name of removed) gone.add(name);
          for (const name of kept) receiving.add(name);
          expect([...kept].sort()).toEqual(placements.map(({ node }) => node).sort());
          for (const { node, pods } of placements) {
            expect(gone).not.toContain(node);
            placed.set(node, [
              ...(placed.get(node) ?? []),
              ...pods.map((pod) => podRequests(pod, new QuantityReader())),
            ]);
          }
        }
        for (const { name, available } of problem.nodes) {
          const taken = placed.get(name) ?? [];
          if (taken.length > 0) expect(resourcesFit(mergeResources(...taken), available)).toBe(true);
        }
      }),
      { numRuns: runs(1_000) },
    );
  }, 600_000);
});

/**
 * A simulation has the topology groups of relaxed pods from the start; a pass makes them when they are needed and then
 * counts its pods by what is known of their nodes by then. Both are right, and may differ.
 */
function addsGroupsInRelaxation(problem: SimulationProblem): boolean {
  const pods = [...problem.pods, ...[...problem.movablePods.values()].flat()];
  const pass = runSteps(openPass({ ...problem, pods }));
  const before = pass.topology.groups.length;
  for (const podClass of pass.podClasses) {
    if (podClass.volumeError !== undefined) continue;
    for (let level = 0; variantAt(podClass, level, pass.variantContext) !== undefined; level++);
  }
  return pass.topology.groups.length > before;
}

function movable(problem: SchedulingProblem, isVoluntary: boolean): SimulationProblem {
  const movablePods = new Map<string, Pod[]>();
  const names = new Set(problem.nodes.map(({ name }) => name));
  for (const pod of problem.boundPods) {
    const { nodeName = "" } = pod.spec;
    if (isTerminalPod(pod) || !names.has(nodeName)) continue;
    movablePods.set(nodeName, [...(movablePods.get(nodeName) ?? []), pod]);
  }
  const voluntaryMoves = new Set([...movablePods.values()].flat().map(({ metadata }) => namespacedName(metadata)));
  return { ...problem, ...(isVoluntary && { voluntaryMoves }), movablePods };
}
