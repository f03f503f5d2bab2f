import { describe, expect, it } from "vitest";
import { annotations, labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { DisruptionCommand } from "../../src/core/disruption/command.ts";
import { type DisruptionProposal, proposeDisruption } from "../../src/core/disruption/propose.ts";
import { sharedSimulator } from "../../src/core/disruption/shared-simulator.ts";
import type { DisruptionSnapshot } from "../../src/core/disruption/snapshot.ts";
import { type DisruptionExplanation, explainDisruption } from "../../src/core/explain/explain-disruption.ts";
import { Random } from "../../src/util/random.ts";
import { runSteps } from "../../src/util/steps.ts";
import { ago, cluster, machine, now, type PodFacts, pdb, pool } from "../disruption/cluster.ts";

function proposed(snapshot: DisruptionSnapshot): DisruptionProposal {
  const searchBudget = { mayContinue: () => true };
  return runSteps(proposeDisruption(snapshot, { simulatorFor: sharedSimulator, searchBudget, sweep: "all" }));
}

/** What `explain node` says of it. */
function explained(
  snapshot: DisruptionSnapshot,
  name = "n1",
  { methods }: DisruptionProposal = proposed(snapshot),
  next?: readonly DisruptionCommand[],
): DisruptionExplanation {
  const verdicts = methods.flatMap(({ method, verdicts: all }) =>
    all.filter(({ node }) => node === name).map((verdict) => [method, { verdict }] as const),
  );
  const commands = methods.flatMap((one) => one.commands);
  const options = { simulatorFor: sharedSimulator, verdicts: new Map(verdicts), commands, next };
  const explanation = runSteps(explainDisruption(name, snapshot, options));
  if (explanation === undefined) throw new Error(`no node ${name}`);
  return explanation;
}

const codes = ({ blockers }: DisruptionExplanation): readonly string[] => blockers.map(({ code }) => code);
const until = (minutes: number): number => now + minutes * 60_000;

/** A node with one pod, and another with room for it. */
const pair = (poolFacts: object = {}, podFacts: PodFacts = {}, ...more: readonly KubeObject[]): DisruptionSnapshot =>
  cluster([
    pool({ disruption: poolFacts }),
    machine("n1", { pods: [podFacts] }),
    machine("n2", { pods: [{ labels: { app: "db" } }] }),
    ...more,
  ]);

describe("why a node stays, and what would unblock it", () => {
  it("03 §4.9 a node that can go: what it saves and where its pods go", () => {
    const explanation = explained(pair());
    expect(explanation).toMatchObject({ node: "n1", outcome: "would-go", price: 2, movablePods: 1, blockers: [] });
    expect(explanation.reasons).toMatchObject([
      { reason: "Underutilized", isBlocked: false, move: { savings: expect.any(Number) } },
    ]);
  });

  it("03:D-29b an empty node goes without any pod", () => {
    const explanation = explained(cluster([pool(), machine("n1")]));
    expect(explanation).toMatchObject({ outcome: "would-go", cause: "Empty: deleting it saves $2.0000/hour" });
  });

  it("03:D-17 03:D-18 names every pod and every PodDisruptionBudget that blocks it, not only the first", () => {
    const protect = (value: string, status: object = {}) => ({
      annotations: { [annotations.doNotDisrupt]: value },
      status,
    });
    const snapshot = cluster([
      pool(),
      machine("n1", {
        pods: [
          protect("true"),
          protect("1h", { phase: "Running", startTime: ago(10) }),
          {},
          {},
          { labels: { app: "db" } },
        ],
      }),
      machine("n2"),
      pdb("web"),
      pdb("never", { spec: { selector: { matchLabels: { app: "db" } }, maxUnavailable: 0 } }),
    ]);
    const { outcome, blockers, reasons } = explained(snapshot);
    expect(outcome).toBe("kept");
    expect(blockers).toMatchObject([
      { code: "pod-protected", pod: "default/n1-0", remedies: [expect.stringContaining("pod default/n1-0")] },
      { code: "pod-protected", pod: "default/n1-1", endsAtMs: until(50) },
      { code: "pdb", budgets: ["default/web"], pod: "default/n1-2", alsoPods: ["default/n1-3"] },
      {
        code: "pdb",
        budgets: ["default/never"],
        remedies: ["raise maxUnavailable or lower minAvailable: as it is, it never allows an eviction"],
      },
    ]);
    // All five pods, protected ones too, have a place: that is what the simulation is asked about.
    expect(reasons).toMatchObject([
      { isBlocked: true, move: { decision: "delete", moves: Array(5).fill({ to: "n2" }) } },
    ]);
  });

  it("03:M-4 consolidateAfter and when it is over", () => {
    const snapshot = cluster([
      pool({ disruption: { consolidateAfter: "5m" } }),
      machine("n1", { claim: { status: { lastPodEventTime: ago(2) } } }),
    ]);
    expect(explained(snapshot)).toMatchObject({
      outcome: "kept",
      blockers: [{ code: "not-consolidatable", endsAtMs: until(3), blocks: ["Empty"] }],
      reasons: [{ reason: "Empty", isBlocked: true, move: { savings: 2 } }],
    });
  });

  it("03:D-25 a budget, the window it holds in, and when that ends", () => {
    const budgets = [{ nodes: "100%" }, { nodes: "0", schedule: "0 9 * * *", duration: "8h" }];
    const { outcome, blockers } = explained(pair({ budgets }));
    expect(outcome).toBe("kept");
    expect(blockers).toMatchObject([
      {
        code: "budget",
        allowed: 0,
        blocks: ["Underutilized"],
        endsAtMs: until(5 * 60),
        remedies: [
          'wait for the end of its window, or change spec.disruption.budgets[1] of NodePool default (nodes: "0", which is 0 now; schedule "0 9 * * *", duration 8h; ends in 5h)',
        ],
      },
    ]);
  });

  it("03:D-21 a budget for another reason does not block it; one without a window has no end", () => {
    expect(codes(explained(pair({ budgets: [{ nodes: "0", reasons: ["Drifted"] }] })))).toEqual([]);
    const [blocker] = explained(pair({ budgets: [{ nodes: "0" }] })).blockers;
    expect(blocker).toMatchObject({
      code: "budget",
      remedies: ['raise spec.disruption.budgets[0] of NodePool default (nodes: "0", which is 0 now)'],
    });
    expect(blocker?.endsAtMs).toBeUndefined();
  });

  it("03:D-20 nodes that are being disrupted use the budget up", () => {
    const snapshot = cluster([
      pool({ disruption: { budgets: [{ nodes: "1" }] } }),
      machine("n1"),
      machine("n2", { node: { status: { conditions: [{ type: "Ready", status: "False" }] } } }),
    ]);
    expect(explained(snapshot).blockers).toMatchObject([
      {
        code: "budget",
        disrupting: 1,
        remedies: ["wait until fewer nodes are being disrupted or not ready (now 1)", expect.any(String)],
      },
    ]);
  });

  it("03:D-35 the pool's policy and consolidateAfter, both at once", () => {
    const disruption = { consolidationPolicy: "WhenEmpty", consolidateAfter: "5m" };
    const snapshot = cluster([
      pool({ disruption }),
      machine("n1", { pods: [{}], claim: { status: { lastPodEventTime: ago(1) } } }),
      machine("n2", { pods: [{}] }),
    ]);
    expect(codes(explained(snapshot))).toEqual(["policy-when-empty", "not-consolidatable"]);
  });

  it("03:D-48 a price: what is there is the cheapest", () => {
    const snapshot = cluster([pool(), machine("n1", { type: "cpu-2", pods: [{}] })]);
    expect(explained(snapshot).blockers).toMatchObject([{ code: "no-cheaper-type", price: 0.5 }]);
  });

  it("03:D-44 pods without another place, though a budget of pods blocks the node too", () => {
    const pinned = { spec: { nodeSelector: { "kubernetes.io/hostname": "n1" } } };
    const { blockers, reasons } = explained(pair({}, pinned, pdb("web")));
    expect(blockers.map(({ code }) => code)).toEqual(["pdb", "pods-unschedulable"]);
    expect(reasons).toEqual([{ reason: "Underutilized", isBlocked: true }]);
  });

  it("03:D-31 a drifted node has a second reason, and a PodDisruptionBudget need not block that one", () => {
    const grace = { claim: { spec: { terminationGracePeriod: "1h" } }, conditions: ["Drifted"], pods: [{}] };
    const explanation = explained(cluster([pool(), machine("n1", grace), machine("n2"), pdb("web")]));
    expect(explanation).toMatchObject({
      outcome: "would-go",
      blockers: [{ code: "pdb", blocks: ["Underutilized"] }],
      reasons: [
        { reason: "Drifted", isBlocked: false },
        { reason: "Underutilized", isBlocked: true },
      ],
    });
  });

  it.each<[string, string, DisruptionSnapshot]>([
    [
      "03:D-15 a protected node",
      "node-protected",
      cluster([pool(), machine("n1", { node: { metadata: { annotations: { [annotations.doNotDisrupt]: "true" } } } })]),
    ],
    ["03:D-13 a nominated node", "nominated", cluster([pool(), machine("n1")], { nominated: ["n1"] })],
    ["03:D-11 a node without a claim", "unmanaged", cluster([pool(), machine("n1", { without: ["claim"] })])],
    ["03:D-16 a node without its pool", "pool-not-found", cluster([machine("n1")])],
    ["03:D-19 a node of a static pool", "static-pool", cluster([pool({ spec: { replicas: 1 } }), machine("n1")])],
    [
      "03:D-35 where consolidation is off",
      "consolidation-disabled",
      cluster([pool({ disruption: { consolidateAfter: "Never" } }), machine("n1", { pods: [{}] }), machine("n2")]),
    ],
  ])("%s: %s", (_, code, snapshot) => {
    const explanation = explained(snapshot);
    expect(explanation.outcome).toBe("kept");
    expect(codes(explanation)).toContain(code);
  });

  it("03:D-10 a node of a command is on its way out", () => {
    const snapshot = { ...pair(), inCommand: new Set(["plan://n1"]) };
    expect(explained(snapshot)).toMatchObject({ outcome: "going", cause: "it is being disrupted already" });
  });

  it("03:D-1 03:D-2 a node that nothing blocks waits while others go first", () => {
    const snapshot = cluster([pool(), machine("n1", { pods: [{}] }), machine("n2"), machine("n3", { pods: [{}] })]);
    const proposal = proposed(snapshot);
    const empty = proposal.methods.find(({ method }) => method === "emptiness")?.commands ?? [];
    const [node1, node2] = ["n1", "n2"].map((name) => explained(snapshot, name, proposal, empty));
    expect(node1).toMatchObject({
      outcome: "kept",
      cause: "other nodes are disrupted first",
      blockers: [{ code: "not-reached", remedies: ["wait until n2 is gone"] }],
      reasons: [{ reason: "Underutilized", isBlocked: true, move: { decision: "delete" } }],
    });
    expect(node2).toMatchObject({ outcome: "would-go", blockers: [] });
  });

  it("03:D-74 a node that takes the pods of others stays meanwhile", () => {
    const snapshot = cluster([pool(), machine("n1", { pods: [{}] }), machine("n2", { pods: [{}, {}] })]);
    const proposal = proposed(snapshot);
    const single = proposal.methods.find(({ method }) => method === "single-node-consolidation")?.commands;
    expect(explained(snapshot, "n2", proposal, single)).toMatchObject({
      outcome: "kept",
      cause: "pods of nodes that are disrupted first move here",
      blockers: [{ code: "destination", remedies: ["wait until n1 is gone"] }],
    });
  });

  it("03:D-28 a budget that other nodes use up first: wait for them, or raise it", () => {
    const budgets = [{ nodes: "100%" }, { nodes: "1" }];
    const snapshot = cluster([pool({ disruption: { budgets } }), machine("n1", { type: "cpu-2" }), machine("n2")]);
    expect(explained(snapshot)).toMatchObject({
      outcome: "kept",
      blockers: [
        {
          code: "budget",
          allowed: 1,
          disrupting: 0,
          remedies: [
            "wait until the nodes that go first are gone",
            'raise spec.disruption.budgets[1] of NodePool default (nodes: "1", which is 1 now)',
          ],
        },
      ],
    });
  });

  it("03:D-25 a window that never ends is not to be waited for", () => {
    const budgets = [{ nodes: "0", schedule: "0 0 * * *", duration: "24h" }];
    expect(explained(pair({ budgets })).blockers).toMatchObject([
      {
        remedies: [
          'change spec.disruption.budgets[0] of NodePool default (nodes: "0", which is 0 now; schedule "0 0 * * *", duration 24h; never ends)',
        ],
      },
    ]);
  });

  it("03:D-12b 03:D-20 a node that is not initialized waits for that, not for what follows from it", () => {
    const snapshot = cluster([
      pool({ disruption: { budgets: [{ nodes: "10%" }] } }),
      machine("n1", { conditions: ["Registered=False", "Initialized=False", "Consolidatable=False"] }),
    ]);
    expect(codes(explained(snapshot))).toEqual(["not-initialized"]);
    const closed = cluster([
      pool({ disruption: { budgets: [{ nodes: "0" }] } }),
      machine("n1", { conditions: ["Registered=False", "Initialized=False", "Consolidatable=False"] }),
    ]);
    expect(codes(explained(closed))).toEqual(["not-initialized", "budget"]);
  });

  it("03:D-12c of a node that is being deleted nothing else is said", () => {
    const claim = { metadata: { deletionTimestamp: ago(1), finalizers: ["karpenter.sh/termination"] } };
    const explanation = explained(cluster([pool(), machine("n1", { claim, pods: [{}] }), machine("n2"), pdb("web")]));
    expect(explanation).toMatchObject({ outcome: "going", cause: "it is being deleted", reasons: [] });
    expect(codes(explanation)).toEqual(["deleting"]);
  });

  it("03:D-30 a node of a static pool has one reason to go, drift, and is replaced then", () => {
    const facts = { spec: { replicas: 1 }, disruption: { budgets: [{ nodes: "0" }] } };
    const drifted = explained(cluster([pool(facts), machine("n1", { conditions: ["Drifted"] })]));
    expect(codes(drifted)).toEqual(["budget"]);
    expect(drifted.reasons).toMatchObject([
      { reason: "Drifted", isBlocked: true, move: { decision: "replace", replacements: [{ nodePool: "default" }] } },
    ]);
    // What is launched is the provider's choice, so nothing can be said about the price.
    expect(drifted.reasons[0]?.move?.savings).toBeUndefined();
    const settled = explained(cluster([pool(facts), machine("n1")]));
    expect([codes(settled), settled.reasons]).toEqual([["static-pool"], []]);
  });

  it("03:D-49 what a node saves whose price is not known is not known either", () => {
    const explanation = explained(
      cluster([pool(), machine("n1", { type: "gone", pods: [{}], conditions: ["Drifted"] })]),
    );
    expect(explanation).toMatchObject({
      outcome: "would-go",
      cause: "Drifted: replacing it changes the price by an unknown amount",
    });
    expect(explanation.price).toBeUndefined();
    expect(explanation.reasons[0]?.move?.savings).toBeUndefined();
    expect(codes(explanation)).toEqual(["unknown-instance-type"]);
  });

  it("03:D-47 the feature gate for spot, and the types that would be missing even then", () => {
    const snapshot = cluster([pool({ capacityTypes: ["spot"] }), machine("n1", { capacityType: "spot", pods: [{}] })]);
    expect(codes(explained(snapshot))).toEqual(["spot-to-spot-disabled", "spot-flexibility"]);
  });

  it("03:D-46b the feature gate MultiReplacement, where it would help", () => {
    const apart = {
      spec: {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: labels.hostname, labelSelector: { matchLabels: { app: "web" } } },
            ],
          },
        },
      },
    };
    const split = (type: string) => explained(cluster([pool(), machine("n1", { type, pods: [apart, apart] })]));
    expect(split("cpu-8")).toMatchObject({
      blockers: [{ code: "needs-more-nodes", remedies: [expect.any(String), expect.stringContaining("MultiRepl")] }],
      reasons: [{ isBlocked: true, move: { decision: "replace", savings: 1, replacements: [{}, {}] } }],
    });
    // Two nodes of two cpus cost what one of four does.
    expect(split("cpu-4")).toMatchObject({
      blockers: [{ code: "needs-more-nodes", remedies: [expect.any(String)] }],
      reasons: [{ isBlocked: true }],
    });
  });

  it("03 §4 agrees with the methods: what one of them takes would go, and what is kept none of them takes", () => {
    const random = new Random("explain-disruption");
    for (let round = 0; round < 25; round++) {
      const count = 2 + random.int(4);
      const machines = Array.from({ length: count }, (_, index) =>
        machine(`n${index + 1}`, {
          type: `cpu-${2 ** (1 + random.int(4))}`,
          conditions: random.int(5) === 0 ? ["Drifted"] : [],
          pods: Array.from({ length: random.int(4) }, () => ({
            labels: { app: random.int(3) === 0 ? "db" : "web" },
            ...(random.int(8) === 0 && { annotations: { [annotations.doNotDisrupt]: "true" } }),
          })),
        }),
      );
      const budgets = [{ nodes: String(random.int(3)) }];
      const consolidationPolicy = random.int(3) === 0 ? "WhenEmpty" : "WhenEmptyOrUnderutilized";
      const extra = random.int(3) === 0 ? [pdb("web")] : [];
      const snapshot = cluster([pool({ disruption: { budgets, consolidationPolicy } }), ...machines, ...extra]);
      const proposal = proposed(snapshot);
      const { methods } = proposal;
      const taken = new Set(
        methods.flatMap(({ commands }) => commands.flatMap((one) => one.candidates.map(({ name }) => name))),
      );
      for (let index = 1; index <= count; index++) {
        const explanation = explained(snapshot, `n${index}`, proposal);
        const isTaken = taken.has(`n${index}`);
        expect([round, index, explanation.outcome === "kept" && isTaken]).toEqual([round, index, false]);
        if (explanation.outcome === "kept") expect(explanation.blockers.length).toBeGreaterThan(0);
      }
    }
  });
});
