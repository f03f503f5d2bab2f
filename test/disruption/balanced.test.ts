import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { annotations } from "../../src/api/labels.ts";
import {
  areApproved,
  type BalancedTotals,
  balancedScores,
  balancedTotals,
  rejectedEvenIfDeleted,
} from "../../src/core/disruption/balanced.ts";
import type { DisruptionCandidate } from "../../src/core/disruption/candidate.ts";
import { disruptionCandidates } from "../../src/core/disruption/candidate.ts";
import { runSteps } from "../../src/util/steps.ts";
import { instanceType } from "../builders/instance-type.ts";
import { runs } from "../runs.ts";
import { emptyState, claim as stateClaim, node as stateNode } from "../state/objects.ts";
import { ask, cluster, codesOf, commandTexts, machine, pool, verdictOf } from "./cluster.ts";

const balanced = { consolidationPolicy: "Balanced" };

const poolOf = (name: string, consolidationPolicy = "Balanced") => ({
  name,
  nodePool: { spec: { disruption: { consolidationPolicy } } },
});
const p = poolOf("p");
const q = poolOf("q");
const unscored = poolOf("p", "WhenEmptyOrUnderutilized");

function candidate(of: ReturnType<typeof poolOf>, price: number, disruptionCost: number): DisruptionCandidate {
  return { pool: of, price, disruptionCost } as unknown as DisruptionCandidate;
}

function score(savings: number, disruptionCost: number, totals: BalancedTotals | undefined): number | undefined {
  const all = new Map(totals === undefined ? [] : [["p", totals]]);
  return balancedScores({ candidates: [candidate(p, savings, disruptionCost)], savings }, all)[0]?.score;
}

describe("03 §4.10 Balanced", () => {
  it.each([
    ["a tenth of the cost for a tenth of the disruption", 1, 1, 1],
    ["half of what it disrupts", 1, 2, 0.5],
    ["a third of what it disrupts", 1, 3, 1 / 3],
    ["nothing saved", 0, 1, 0],
    ["a loss", -1, 1, 0],
    ["no disruption at all", 1, 0, Number.POSITIVE_INFINITY],
    ["an unknown price", Number.NaN, 1, 0],
  ])("03:B-1 %s scores as it should", (_, savings, disruption, expected) => {
    expect(score(savings, disruption, { cost: 10, disruptionCost: 10 })).toBeCloseTo(expected, 9);
  });

  it("03:B-1 a half is enough, a little less is not; without totals nothing passes", () => {
    const isApproved = (savings: number, totals: BalancedTotals | undefined): boolean =>
      areApproved(
        balancedScores({ candidates: [candidate(p, 1, 2)], savings }, new Map(totals ? [["p", totals]] : [])),
      );
    expect(isApproved(1, { cost: 10, disruptionCost: 10 })).toBe(true);
    expect(isApproved(0.999, { cost: 10, disruptionCost: 10 })).toBe(false);
    expect(isApproved(1, { cost: 0, disruptionCost: 10 })).toBe(false);
    expect(isApproved(1, { cost: 10, disruptionCost: 0 })).toBe(false);
    expect(isApproved(1, undefined)).toBe(false);
  });

  it("03:B-5 savings are shared by price, every Balanced pool must approve, others have no say", () => {
    const totals = new Map([
      ["p", { cost: 10, disruptionCost: 10 }],
      ["q", { cost: 10, disruptionCost: 10 }],
    ]);
    const both = [candidate(p, 3, 1), candidate(q, 1, 1)];
    expect(balancedScores({ candidates: both, savings: 2 }, totals)).toMatchObject([
      { pool: "p", savingsShare: 0.15, isApproved: true },
      { pool: "q", savingsShare: 0.05, score: 0.5, isApproved: true },
    ]);
    expect(areApproved(balancedScores({ candidates: both, savings: 1.9 }, totals))).toBe(false);
    const other = [candidate(p, 3, 1), candidate({ ...unscored, name: "r" }, 1, 1)];
    expect(balancedScores({ candidates: other, savings: 2 }, totals).map(({ pool: name }) => name)).toEqual(["p"]);
  });

  it("03:B-8 scaling prices changes nothing, and more pod cost never helps", () => {
    const amount = fc.double({ min: 0.01, max: 100, noNaN: true });
    fc.assert(
      fc.property(
        amount,
        amount,
        amount,
        amount,
        fc.double({ min: 0.1, max: 1000, noNaN: true }),
        (savings, disruption, cost, more, scale) => {
          const totals = { cost, disruptionCost: disruption + more };
          const plain = score(savings, disruption, totals) ?? 0;
          expect(score(savings * scale, disruption, { ...totals, cost: cost * scale })).toBeCloseTo(plain, 6);
          // The pool's own total grows with the cost of the move.
          const dearer = score(savings, disruption + 1, { cost, disruptionCost: disruption + more + 1 }) ?? 0;
          expect(dearer).toBeLessThanOrEqual(plain + 1e-9);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it("03:B-8 in a uniform pool half the price just passes; the only node of a pool scores one", () => {
    expect(score(0.5, 2, { cost: 4, disruptionCost: 8 })).toBe(0.5);
    expect(score(1, 3, { cost: 1, disruptionCost: 3 })).toBe(1);
  });

  it("03:B-4 totals count every node of the pool, also those that are no candidates", () => {
    const held = { pods: [{ annotations: { [annotations.doNotDisrupt]: "true" } }, { owner: "DaemonSet" }] };
    const snapshot = cluster([pool(), machine("n1", { pods: [{}, {}] }), machine("n2", held)]);
    const { candidates } = runSteps(disruptionCandidates(snapshot, "graceful"));
    expect(candidates.map(({ name }) => name)).toEqual(["n1"]);
    expect(runSteps(balancedTotals(candidates, snapshot))).toEqual(
      new Map([["default", { cost: 4, disruptionCost: 5 }]]),
    );
  });

  it("03:B-4 without known prices the candidates' prices are the total", () => {
    const snapshot = cluster([pool(), machine("n1", { pods: [{}] })]);
    const unknown = new Map([...snapshot.pools].map(([name, one]) => [name, { ...one, cost: 0 }]));
    const { candidates } = runSteps(disruptionCandidates(snapshot, "graceful"));
    expect(runSteps(balancedTotals(candidates, { ...snapshot, pools: unknown })).get("default")?.cost).toBe(2);
  });

  it("03:B-9 pod costs survive updates of a claim", () => {
    const { cluster: state } = emptyState();
    state.claimChanged(stateClaim("c", { id: "i" }));
    state.nodeChanged(stateNode("n", { id: "i", stage: "initialized" }));
    state.podChanged({
      metadata: { name: "p", namespace: "default", uid: "p" },
      spec: { nodeName: "n", containers: [] },
    });
    const before = state.nodeByProviderId("i")?.pods.length;
    state.claimChanged(stateClaim("c", { id: "i", capacity: { cpu: "2" } }));
    expect([before, state.nodeByProviderId("i")?.pods.length]).toEqual([1, 1]);
  });

  it("03:B-6 a node whose deletion would not pass is not simulated; unknown totals skip nothing", () => {
    const totals = new Map([["p", { cost: 100, disruptionCost: 10 }]]);
    expect(rejectedEvenIfDeleted(candidate(p, 1, 5), totals)).toMatchObject({ isApproved: false });
    expect(rejectedEvenIfDeleted(candidate(p, 50, 5), totals)).toBeUndefined();
    expect(rejectedEvenIfDeleted(candidate(p, 1, 5), new Map())).toBeUndefined();
    expect(rejectedEvenIfDeleted(candidate(unscored, 1, 5), totals)).toBeUndefined();
  });

  it("03:B-2 an oversized node is replaced, one that would save little is not, and both are counted", () => {
    const types = [
      instanceType("cpu-8").cpu(8).price(2),
      instanceType("other").cpu(8).price(1.5),
      instanceType("half").cpu(2).price(1),
    ];
    const about = (cpu: string) =>
      ask(
        cluster([pool({ disruption: balanced }), machine("n1", { pods: [{ cpu }] })], { types }),
        "single-node-consolidation",
      );
    expect(commandTexts(about("1"))).toEqual(["replace n1 -> half|other"]);
    expect(about("1").moves).toMatchObject([
      { pool: "default", policy: "Balanced", isApproved: true, score: { score: 0.5 } },
    ]);
    expect(about("1").commands[0]?.scores).toHaveLength(1);
    expect(verdictOf(about("4"), "n1")).toMatchObject({
      code: "score",
      scores: [{ savingsShare: 0.25, disruptionShare: 1 }],
    });
    expect(about("4").moves).toMatchObject([{ isApproved: false }]);
  });

  it("03:B-3 03:D-54 several nodes are scored together; a rejected set is no command", () => {
    const types = [instanceType("cpu-8").cpu(8).price(2), instanceType("big").cpu(16).price(3)];
    const nodes = ["n1", "n2"].map((name) => machine(name, { pods: [{ cpu: "6" }] }));
    const about = (disruption: object) =>
      ask(cluster([pool({ disruption }), ...nodes], { types }), "multi-node-consolidation");
    expect(commandTexts(about({}))).toEqual(["replace n1,n2 -> big"]);
    const rejected = about(balanced);
    expect(rejected.commands).toEqual([]);
    expect(rejected.moves).toMatchObject([{ isApproved: false, score: { savingsShare: 0.25, disruptionShare: 1 } }]);
    expect(verdictOf(rejected, "n1")).toMatchObject({
      code: "not-in-command",
      tried: [{ nodes: 2, cause: { code: "score" } }],
    });
  });

  it("03:D-36 emptiness does not ask for a score", () => {
    expect(
      codesOf(ask(cluster([pool({ disruption: balanced }), machine("n1", { zone: "nowhere" })]), "emptiness")),
    ).toEqual({ n1: "chosen" });
  });
});
