import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { annotations } from "../../../src/api/labels.ts";
import { SearchMemory } from "../../../src/controllers/disruption/search-memory.ts";
import { DisruptionPass, type MethodProposal } from "../../../src/core/disruption/disruption-pass.ts";
import { disruptionMethodNames } from "../../../src/core/disruption/methods.ts";
import { controllerSearch } from "../../../src/core/disruption/next-commands.ts";
import { recentMoveMs } from "../../../src/core/disruption/recent-move.ts";
import type { DisruptionSnapshot } from "../../../src/core/disruption/snapshot.ts";
import { runSteps } from "../../../src/util/steps.ts";
import { type ClusterObjects, cluster, machine, now, type PodFacts, pdb, pool } from "../../disruption/cluster.ts";
import { runs } from "../../runs.ts";

const minuteMs = 60_000;
const at = (minutes: number): string => new Date(now + minutes * minuteMs).toISOString();

/** What all methods answer. */
function search(snapshot: DisruptionSnapshot): readonly MethodProposal[] {
  const pass = new DisruptionPass(snapshot);
  const options = { ...controllerSearch(snapshot), searchBudget: { mayContinue: () => true } };
  return disruptionMethodNames.map((method) => runSteps(pass.propose(method, options)));
}

const answersOf = (proposals: readonly MethodProposal[]) =>
  proposals.map(({ method, commands, verdicts, budgets }) => ({ method, commands, verdicts, budgets }));
const findsNothing = (proposals: readonly MethodProposal[]) => proposals.every(({ commands }) => commands.length === 0);

/** The same cluster some time later: a snapshot has the same objects in new lists and maps, and forgets old moves. */
function later(snapshot: DisruptionSnapshot, nowMs: number): DisruptionSnapshot {
  const { cluster: same, pools, usablePools, pendingPods, nominated, inCommand, heldBackPools, recentMoves } = snapshot;
  return {
    ...snapshot,
    nowMs,
    cluster: { ...same, nodes: [...same.nodes] },
    pools: new Map([...pools].map(([name, one]) => [name, { ...one, claims: { ...one.claims } }])),
    usablePools: usablePools.map((one) => ({ ...one })),
    pendingPods: [...pendingPods],
    nominated: new Set(nominated),
    inCommand: new Set(inCommand),
    heldBackPools: new Map(heldBackPools),
    recentMoves: recentMoves.filter(({ atMs }) => nowMs < atMs + recentMoveMs),
  };
}

/** A node whose pods fit nowhere else. */
const full = (name: string, facts: Partial<PodFacts> = {}) =>
  machine(name, { type: "cpu-4", pods: [{ cpu: "3", ...facts }] });

describe("03:D-33 a cluster in which no method finds anything", () => {
  const settledIn = (objects: ClusterObjects) => {
    const memory = new SearchMemory();
    const snapshot = cluster(objects);
    expect(memory.isSettled(snapshot)).toBe(false);
    expect(findsNothing(search(snapshot))).toBe(true);
    memory.settle(snapshot);
    return { memory, snapshot };
  };

  it("03:D-33 is not searched again while it is the same, and not for longer than five minutes", () => {
    const { memory, snapshot } = settledIn([pool(), full("a"), full("b")]);
    expect(memory.isSettled(later(snapshot, now + 4.9 * minuteMs))).toBe(true);
    expect(memory.isSettled(later(snapshot, now + 5 * minuteMs))).toBe(false);
    expect(memory.isSettled(later(snapshot, now + 1))).toBe(false); // forgotten
  });

  it("03:D-33 is not settled while a search is to go on", () => {
    const memory = new SearchMemory();
    const snapshot = cluster([pool(), full("a"), full("b")]);
    const options = { ...controllerSearch(snapshot), searchBudget: { mayContinue: () => false } };
    const proposal = runSteps(new DisruptionPass(snapshot).propose("single-node-consolidation", options));
    memory.remember(proposal, { epoch: "1", snapshot });
    memory.settle(snapshot);
    expect(memory.isSettled(snapshot)).toBe(false);
  });

  it.each<[string, (snapshot: DisruptionSnapshot) => Partial<DisruptionSnapshot>]>([
    [
      "a node is another",
      ({ cluster: old }) => ({
        cluster: { ...old, nodes: old.nodes.map((one) => ({ ...one, claim: { ...one.claim, status: {} } as never })) },
      }),
    ],
    ["a pod waits", ({ cluster: old }) => ({ pendingPods: old.boundPods.slice(0, 1) })],
    ["a node is nominated", () => ({ nominated: new Set(["x"]) })],
    ["a node is in a command", () => ({ inCommand: new Set(["x"]) })],
    ["a budget of pods is another", () => ({ disruptionBudgets: [pdb("p") as never] })],
    ["a pool waits", () => ({ heldBackPools: new Map([["default", now + minuteMs]]) })],
    [
      "prices are others",
      ({ usablePools }) => ({ usablePools: usablePools.map((one) => ({ ...one, instanceTypes: [] })) }),
    ],
    ["a setting is another", ({ policy }) => ({ policy: { ...policy, minValues: "BestEffort" } })],
  ])("03:D-33 is searched when %s", (_, change) => {
    const { memory, snapshot } = settledIn([pool(), full("a"), full("b")]);
    expect(memory.isSettled({ ...later(snapshot, now), ...change(snapshot) })).toBe(false);
  });

  it("03:D-33 is searched when a budget opens, and not before", () => {
    const budgets = [
      { nodes: "0", schedule: "2 12 * * *", duration: "2m" },
      { nodes: "0", schedule: "0 12 * * *", duration: "1m" },
    ];
    const { memory, snapshot } = settledIn([pool({ disruption: { budgets } }), full("a"), machine("b")]);
    expect(memory.isSettled(later(snapshot, now + 0.9 * minuteMs))).toBe(true);
    expect(memory.isSettled(later(snapshot, now + minuteMs))).toBe(false);
  });
});

const podFacts = fc.record({
  cpu: fc.constantFrom("900m", "1900m", "3", "3500m"),
  protection: fc.constantFrom(undefined, undefined, undefined, "2m", "4m", "true"),
  startedAt: fc.integer({ min: -3, max: 0 }),
});
const nodeFacts = fc.record({
  type: fc.constantFrom("cpu-4", "cpu-8"),
  pods: fc.array(podFacts, { maxLength: 2 }),
  isDrifted: fc.constantFrom(false, false, false, true),
  isDeleting: fc.constantFrom(false, false, false, false, true),
  lastPodEvent: fc.integer({ min: -6, max: 0 }),
});
const windowed = (minute: number, minutes: number) => [
  { nodes: "0", schedule: `${minute} 12 * * *`, duration: `${minutes}m` },
];
const clusterFacts = fc.record({
  nodes: fc.array(nodeFacts, { minLength: 1, maxLength: 4 }),
  consolidateAfter: fc.constantFrom("0s", "3m", "7m"),
  budgets: fc.constantFrom(
    [{ nodes: "100%" }],
    [{ nodes: "1" }],
    [{ nodes: "0" }],
    windowed(0, 2),
    windowed(1, 2),
    windowed(3, 1),
  ),
  heldBackFor: fc.constantFrom(0, 1, 4),
  allowed: fc.constantFrom(0, 1),
});
type ClusterFacts = typeof clusterFacts extends fc.Arbitrary<infer T> ? T : never;

function snapshotOf({ nodes, consolidateAfter, budgets, heldBackFor, allowed }: ClusterFacts): DisruptionSnapshot {
  const machines = nodes.map(({ type, pods, isDrifted, isDeleting, lastPodEvent }, index) =>
    machine(`n${index}`, {
      type,
      conditions: isDrifted ? ["Drifted"] : [],
      claim: {
        status: { lastPodEventTime: at(lastPodEvent) },
        ...(isDeleting && { metadata: { deletionTimestamp: at(0) } }),
      },
      pods: pods.map(({ cpu, protection, startedAt }) => ({
        cpu,
        ...(protection !== undefined && { annotations: { [annotations.doNotDisrupt]: protection } }),
        status: { phase: "Running", startTime: at(startedAt) },
      })),
    }),
  );
  const made = cluster([pool({ disruption: { consolidateAfter, budgets } }), ...machines, pdb("some", { allowed })]);
  return heldBackFor === 0 ? made : { ...made, heldBackPools: new Map([["default", now + heldBackFor * minuteMs]]) };
}

describe("03:D-33 a settled cluster as time passes", () => {
  it("03:D-33 is passed over only while a search finds what the last one found", () => {
    let passedOver = 0;
    let searched = 0;
    const property = fc.property(
      clusterFacts,
      fc.array(fc.integer({ min: 1, max: 150_000 }), { minLength: 1, maxLength: 8 }),
      (facts, waits) => {
        const memory = new SearchMemory();
        let snapshot = snapshotOf(facts);
        let answers: object = [];
        for (const wait of [0, ...waits]) {
          snapshot = later(snapshot, snapshot.nowMs + wait);
          const proposals = search(snapshot);
          searched++;
          if (memory.isSettled(snapshot)) {
            passedOver++;
            expect(answersOf(proposals)).toEqual(answers);
          } else if (findsNothing(proposals)) {
            memory.settle(snapshot);
            answers = answersOf(proposals);
          }
        }
      },
    );
    fc.assert(property, { numRuns: runs(3_000) });
    expect(passedOver).toBeGreaterThan(searched / 10);
  });
});
