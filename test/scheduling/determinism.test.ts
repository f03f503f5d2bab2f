import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decision } from "../../src/core/scheduling/decision.ts";
import type { Pass } from "../../src/core/scheduling/pass-state.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { type PassControl, solve, solveInSteps } from "../../src/core/scheduling/solve.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import { podsOnNodes, podsPerNewNode, podsPerZone } from "../builders/readers.ts";
import { runs } from "../runs.ts";
import { problemDraft } from "../twin/arbitrary.ts";
import { buildProblem } from "../twin/draft.ts";
import { readable } from "../twin/readable.ts";
import { bytes } from "./bytes.ts";
import { small, solved, web } from "./solved.ts";

/** Steps several passes in turn, so many steps at a time, until all are over. */
function inSlices(problems: readonly SchedulingProblem[], size: number): readonly Decision[] {
  const decisions: Decision[] = [];
  let open = problems.map((one, at) => ({ at, steps: solveInSteps(one) }));
  while (open.length > 0) {
    open = open.filter(({ at, steps }) => {
      for (let taken = 0; taken < size; taken++) {
        const turn = steps.next();
        if (turn.done === true) {
          decisions[at] = turn.value;
          return false;
        }
      }
      return true;
    });
  }
  return decisions;
}

const mixed = problem()
  .pools(nodePool("soft").weight(5).taint("slow:PreferNoSchedule"), nodePool("plain").limit("cpu", "40"))
  .nodes(node("n1").zone("b").running(web))
  .pods(5, web.spread("zone"))
  .pods(4, pod().label("app", "x").cpu("500m").near("zone"))
  .pods(3, pod().label("app", "y").cpu("2").apart("host"))
  .pods(2, web.prefers(1, ["zone", "In", "z9"]))
  .pods(2, web.cpu("99"))
  .build();

describe("the same problem has the same decision", () => {
  it("02 §11.8-11 byte for byte, on random problems", () => {
    fc.assert(
      fc.property(problemDraft, (draft) => {
        const once = bytes(solve(buildProblem(draft)));
        expect(bytes(solve(buildProblem(draft)))).toBe(once);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it("02 §12.1-1 whatever the order pools, nodes, daemons, namespaces and bound pods are given in", () => {
    fc.assert(
      fc.property(problemDraft, (draft) => {
        const built = buildProblem(draft);
        const turned = {
          ...built,
          pools: [...built.pools].reverse(),
          nodes: [...built.nodes].reverse(),
          boundPods: [...built.boundPods].reverse(),
          namespaces: [...built.namespaces].reverse(),
        };
        expect(readable(solve(turned))).toEqual(readable(solve(built)));
      }),
      { numRuns: runs(1_000) },
    );
  });

  it("02 §12.1-3 another seed may draw other zones, and as many of each", () => {
    const zones = Array.from({ length: 12 }, (_, seed) =>
      podsPerZone(solved(problem().seed(seed).pods(4, web.spread("zone")))),
    );
    for (const counts of zones) expect(Object.values(counts).sort()).toEqual([1, 1, 2]);
    expect(new Set(zones.map((counts) => JSON.stringify(Object.entries(counts).sort()))).size).toBeGreaterThan(1);
  });
});

describe("a pass can be stepped", () => {
  it.each([1, 2, 3, 5, 7, 16, 1000])("02 §5.2 in slices of %d", (size) => {
    expect(inSlices([mixed], size).map(bytes)).toEqual([bytes(solve(mixed))]);
  });

  it("02 §5.2 in slices of any size, among other passes, on random problems", () => {
    fc.assert(
      fc.property(problemDraft, problemDraft, fc.integer({ min: 1, max: 9 }), (one, other, size) => {
        const problems = [buildProblem(one), buildProblem(other)];
        expect(inSlices(problems, size).map(bytes)).toEqual(problems.map((each) => bytes(solve(each))));
      }),
      { numRuns: runs(1_000) },
    );
  });

  it("02 §11.8-2 02:Q-9 stopped in time keeps what is placed, and says nothing of those not reached", () => {
    const asked = problem().nodes(node("n1").cpu("1")).types(small).pods(8, web).build();
    const seen: { pass?: Pass } = {};
    const control: PassControl = {
      isStopRequested: false,
      onPassOpened: (pass) => {
        seen.pass = pass;
      },
    };
    const steps = solveInSteps(asked, control);
    let turn = steps.next();
    for (; turn.done !== true; turn = steps.next()) control.isStopRequested = seen.pass?.placementCount === 3;
    const decision = turn.value;
    expect([podsOnNodes(decision), podsPerNewNode(decision)]).toEqual([{ n1: ["p-0"] }, [["p-1", "p-2"]]]);
    expect([decision.refusals, decision.statistics.timedOut]).toEqual([[], true]);
  });

  it("02:Q-8 the first candidate that accepts wins, and only that one changes", () => {
    const nodes = ["n1", "n2", "n3"].map((name) => node(name).cpu("2"));
    expect(
      podsOnNodes(
        solved(
          problem()
            .nodes(...nodes)
            .pods(5, web),
        ),
      ),
    ).toEqual({
      n1: ["p-0", "p-1"],
      n2: ["p-2", "p-3"],
      n3: ["p-4"],
    });
  });
});
