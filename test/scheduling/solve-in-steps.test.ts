import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decision } from "../../src/core/scheduling/decision.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { type PassControl, solve, solveInSteps } from "../../src/core/scheduling/solve.ts";
import { runSteps, type Steps } from "../../src/util/steps.ts";
import { instanceType } from "../builders/instance-type.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { pod } from "../builders/pod.ts";
import { type ProblemBuilder, problem } from "../builders/problem.ts";
import { podName } from "../builders/readers.ts";
import { busyDraft } from "../polish/arbitrary.ts";
import { runs } from "../runs.ts";
import { problemDraft } from "../twin/arbitrary.ts";
import { buildProblem } from "../twin/draft.ts";
import { bytes } from "./bytes.ts";
import { large, small, web } from "./solved.ts";

const packings = ["plain", "polished"] as const;

function packed(asked: SchedulingProblem, packing: (typeof packings)[number]): SchedulingProblem {
  return { ...asked, policy: { ...asked.policy, packing } };
}

/** One step of each in turn, until all are over. */
function inTurn(problems: readonly SchedulingProblem[]): readonly Decision[] {
  const decisions: Decision[] = [];
  let open = problems.map((one, at) => ({ at, steps: solveInSteps(one) }));
  while (open.length > 0) {
    open = open.filter(({ at, steps }) => {
      const turn = steps.next();
      if (turn.done === true) decisions[at] = turn.value;
      return turn.done !== true;
    });
  }
  return decisions;
}

interface Stopped {
  readonly decision: Decision;
  /** Steps it took from being asked to its end. */
  readonly after: number;
}

function stoppedAfter(asked: SchedulingProblem, steps: number): Stopped {
  const stop: PassControl = { isStopRequested: false };
  const pass = solveInSteps(asked, stop);
  for (let taken = 0; taken < steps; taken++) {
    const turn = pass.next();
    if (turn.done === true) return { decision: turn.value, after: 0 };
  }
  stop.isStopRequested = true;
  for (let after = 1; ; after++) {
    const turn = pass.next();
    if (turn.done === true) return { decision: turn.value, after };
  }
}

function stepCount(steps: Steps<unknown>): number {
  let count = 0;
  while (steps.next().done !== true) count++;
  return count;
}

function placed({ placements, newNodes }: Decision): readonly string[] {
  return [...placements, ...newNodes].flatMap(({ pods }) => pods).map(podName);
}

describe("a pass in steps decides what a pass in one go decides", () => {
  it("02 §5.2 byte for byte, on the twin's problems, plain and polished, among other passes", () => {
    fc.assert(
      fc.property(problemDraft, busyDraft, (one, other) => {
        const built = [buildProblem(one), buildProblem(other)];
        const problems = packings.flatMap((packing) => built.map((each) => packed(each, packing)));
        expect(inTurn(problems).map(bytes)).toEqual(problems.map((each) => bytes(solve(each))));
      }),
      { numRuns: runs(2_000) },
    );
  });
});

const preferring = web.prefers(5, ["zone", "In", "z8"]).prefers(3, ["zone", "In", "z9"]);
const round = problem()
  .types(small, large)
  .nodes(node("n1").cpu("2"))
  .pods(40, web.spread("zone"))
  .pods(40, preferring)
  .pods(20, pod().label("app", "y").cpu("2").apart("host"));

describe("a pass that is asked to stop", () => {
  it("02 §11.8-2 02:Q-9 keeps what is placed, whenever that is; the next round places the others", () => {
    const asked = round.build();
    const all = placed(solve(asked)).toSorted();
    const inAll = stepCount(solveInSteps(asked));
    let cut = 0;
    for (let steps = 0; steps <= inAll; steps += 7) {
      const { decision } = stoppedAfter(asked, steps);
      const first = new Set(placed(decision));
      expect(decision.refusals).toEqual([]);
      expect(first.size, "every pass gets somewhere").toBeGreaterThan(0);
      expect(decision.statistics.timedOut).toBe(first.size < all.length);
      if (decision.statistics.timedOut) cut++;
      const left = asked.pods.filter((one) => !first.has(podName(one)));
      const second = solve({ ...asked, pods: left });
      expect([...first, ...placed(second)].toSorted()).toEqual(all);
    }
    expect(cut).toBeGreaterThan(10);
  });

  it("02:Q-9 places no more than the pod it is at, and ends in as many steps as there are nodes to tell of", () => {
    const asked = problem().types(small).pods(400, preferring).build();
    const inAll = stepCount(solveInSteps(asked));
    for (let steps = 40; steps < inAll; steps += 101) {
      const { decision, after } = stoppedAfter(asked, steps);
      const another = stoppedAfter(asked, steps + 1);
      if (!decision.statistics.timedOut) continue;
      expect(placed(another.decision).length - placed(decision).length).toBeLessThanOrEqual(1);
      expect(after).toBeLessThan(decision.newNodes.length + 10);
    }
  });

  it("02:Q-9 while it was trying a pod with fewer preferences says nothing of that pod", () => {
    const asked = problem().types(small).pod(web.named("first").cpu("2"), preferring.named("preferring")).build();
    const found = Array.from(
      { length: stepCount(solveInSteps(asked)) },
      (_, steps) => stoppedAfter(asked, steps).decision,
    );
    const cut = found.filter(({ statistics }) => statistics.timedOut);
    expect(new Set(cut.map((decision) => placed(decision).join()))).toEqual(new Set(["first"]));
    expect(cut.flatMap(({ refusals }) => refusals)).toEqual([]);
  });

  it("while it polishes has a whole plan: the plain one or the polished one, and has not run out of time", () => {
    const asked = spotAndOnDemand().build();
    const [plain, polished] = packings.map((packing) => bytes(solve(packed(asked, packing))));
    const inPlain = stepCount(solveInSteps(packed(asked, "plain")));
    const seen = new Set<string>();
    const polishing = packed(asked, "polished");
    for (let steps = inPlain; steps < stepCount(solveInSteps(polishing)); steps++) {
      const { decision } = stoppedAfter(polishing, steps);
      expect(decision.statistics.timedOut).toBe(false);
      seen.add(bytes(decision));
    }
    expect(plain).not.toBe(polished);
    expect(seen).toEqual(new Set([plain, polished]));
  });
});

/** A plan that can be made cheaper. */
function spotAndOnDemand(): ProblemBuilder {
  const types = [instanceType("m").cpu(4), instanceType("l").cpu(8), instanceType("xl").cpu(16)];
  return problem()
    .types(...types)
    .pods(30, pod().label("app", "y").cpu("700m").apart("host"))
    .pods(60, pod().cpu("900m"));
}

/** Counts how often pods are looked at. */
function watched(asked: SchedulingProblem): { readonly asked: SchedulingProblem; looks: number } {
  const seen = { asked, looks: 0 };
  const pods = asked.pods.map((one) => ({
    ...one,
    get metadata() {
      seen.looks++;
      return one.metadata;
    },
    get spec() {
      seen.looks++;
      return one.spec;
    },
  }));
  seen.asked = { ...asked, pods };
  return seen;
}

function mostLooksInAStep(builder: ProblemBuilder): number {
  const seen = watched(packed(builder.build(), "polished"));
  const pass = solveInSteps(seen.asked);
  let most = 0;
  for (let turn = pass.next(), before = 0; turn.done !== true; turn = pass.next()) {
    most = Math.max(most, seen.looks - before);
    before = seen.looks;
  }
  return most;
}

describe("no step of a pass looks at many pods", () => {
  const many = 3000;
  const cases: Readonly<Record<string, ProblemBuilder>> = {
    "that are alike": problem().types(large).pods(many, web),
    "that are spread": problem().types(large).pods(many, web.cpu("100m").spread("zone")),
    "that nobody takes": problem().pods(many, web.on("zone", "nowhere")),
    "that limits keep out": problem().pools(nodePool().limit("cpu", "8")).types(large).pods(many, web),
    "that need a thing each": problem()
      .types(large)
      .volumes(...Array.from({ length: many }, (_, index) => ({ claim: `v-${index}`, zones: [["a"]] })))
      .pod(...Array.from({ length: many }, (_, index) => web.volume(`v-${index}`))),
  };

  it.each(Object.entries(cases))("docs/designs/engine.md %s", (_, builder) => {
    const most = mostLooksInAStep(builder);
    expect(most).toBeGreaterThan(10);
    expect(most).toBeLessThan(1500);
  });

  it("and as many are refused as there are, each by its own name, for a reason they share", () => {
    const { refusals } = runSteps(solveInSteps((cases["that nobody takes"] as ProblemBuilder).build()));
    expect(new Set(refusals.map((one) => podName(one.pod))).size).toBe(many);
    expect(new Set(refusals.map(({ pools }) => pools)).size).toBe(1);
  });
});
