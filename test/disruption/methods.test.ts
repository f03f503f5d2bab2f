import { describe, expect, it } from "vitest";
import { annotations } from "../../src/api/labels.ts";
import { disruptionMethodNames } from "../../src/core/disruption/methods.ts";
import {
  ago,
  ask,
  cluster,
  codesOf,
  commandTexts,
  type MachineFacts,
  machine,
  pdb,
  pool,
  verdictOf,
} from "./cluster.ts";

describe("emptiness", () => {
  const codeOf = (facts: MachineFacts, disruption: object = {}): string | undefined =>
    verdictOf(ask(cluster([pool({ disruption }), machine("n1", facts)]), "emptiness"), "n1")?.code;

  it.each<[string, string, MachineFacts, object?]>([
    ["03:D-29a an empty node", "chosen", {}],
    ["03:D-29a under every policy: WhenEmpty", "chosen", {}, { consolidationPolicy: "WhenEmpty" }],
    ["03:D-29a under every policy: Balanced", "chosen", {}, { consolidationPolicy: "Balanced" }],
    ["03:D-29a one with a pod", "not-empty", { pods: [{}] }],
    ["03:D-29c one with a daemon pod", "chosen", { pods: [{ owner: "DaemonSet" }] }],
    ["03:D-29c one with a Deployment's pod that terminates", "chosen", { pods: [{ isTerminating: true }] }],
    [
      "03:D-29c one with a StatefulSet's pod that terminates",
      "not-empty",
      { pods: [{ isTerminating: true, owner: "StatefulSet" }] },
    ],
    ["03:D-29a where consolidation is off", "consolidation-disabled", {}, { consolidateAfter: "Never" }],
    ["03:D-29a one that is not consolidatable", "not-consolidatable", { conditions: ["Consolidatable=False"] }],
    [
      "03:D-29a one that waits for consolidateAfter",
      "not-consolidatable",
      { claim: { status: { lastPodEventTime: ago(1) } } },
      { consolidateAfter: "5m" },
    ],
    ["03:D-29a a drifted and empty one", "chosen", { conditions: ["Drifted"] }],
    [
      "03:D-29a one whose annotation says false",
      "chosen",
      { node: { metadata: { annotations: { [annotations.doNotDisrupt]: "false" } } } },
    ],
  ])("%s: %s", (_, expected, facts, disruption) => {
    expect(codeOf(facts, disruption)).toBe(expected);
  });

  it("03:D-29a leaves static pools and nodes of a capacity buffer alone", () => {
    const fixed = cluster([pool({ spec: { replicas: 1 } }), machine("n1")]);
    expect(codesOf(ask(fixed, "emptiness"))).toEqual({ n1: "static-pool" });
    const buffered = { ...cluster([pool(), machine("n1")]), bufferPodCounts: new Map([["plan://n1", 1]]) };
    expect(codesOf(ask(buffered, "emptiness"))).toEqual({ n1: "buffer-pods" });
  });

  it("03:D-9 03:D-29b takes the dearest first, whenever the nodes expire", () => {
    const disruption = { budgets: [{ nodes: "1" }] };
    const nodes = [
      machine("small", { type: "cpu-2", claim: { metadata: { creationTimestamp: ago(43_000) } } }),
      machine("large", { type: "cpu-16" }),
    ];
    expect(commandTexts(ask(cluster([pool({ disruption }), ...nodes]), "emptiness"))).toEqual(["delete large"]);
  });

  it("03:D-2 comes before drift", () => {
    expect(disruptionMethodNames).toEqual([
      "emptiness",
      "static-drift",
      "drift",
      "multi-node-consolidation",
      "single-node-consolidation",
    ]);
  });
});

describe("drift", () => {
  it.each<[string, string, MachineFacts]>([
    ["03:D-31 a drifted node", "chosen", { conditions: ["Drifted"] }],
    ["03:D-31 one that has not drifted", "not-drifted", {}],
    ["03:D-31 one whose condition is False", "not-drifted", { conditions: ["Drifted=False"] }],
    ["03:D-31 an empty one where consolidation is off", "chosen", { conditions: ["Drifted", "Consolidatable=False"] }],
  ])("%s: %s", (_, expected, facts) => {
    expect(verdictOf(ask(cluster([pool(), machine("n1", facts)]), "drift"), "n1")?.code).toBe(expected);
  });

  it("03:D-31 empty nodes first, then those that drifted first", () => {
    const nodes = [
      machine("new", { conditions: ["Drifted"], since: 10, pods: [{}] }),
      machine("old", { conditions: ["Drifted"], since: 90, pods: [{}] }),
      machine("empty", { conditions: ["Drifted"], since: 1 }),
    ];
    const first = (objects: typeof nodes) => commandTexts(ask(cluster([pool(), ...objects]), "drift"));
    expect(first(nodes)).toEqual(["delete empty"]);
    expect(first(nodes.slice(0, 2))).toEqual(["delete old"]);
  });

  it("03:D-31 as many replacements as its pods need, whatever they cost", () => {
    const apart = {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "kubernetes.io/hostname" },
          ],
        },
      },
    };
    const node = machine("n1", { conditions: ["Drifted"], type: "cpu-2", pods: [{ spec: apart }, { spec: apart }] });
    const [command] = ask(cluster([pool(), node]), "drift").commands;
    expect(command?.replacements).toHaveLength(2);
    expect(command?.savings).toBeLessThan(0);
  });

  it("03:D-31 goes on with the next node where pods fit nowhere", () => {
    const nodes = [
      machine("stuck", { conditions: ["Drifted"], since: 90, pods: [{ spec: { nodeSelector: { none: "such" } } }] }),
      machine("next", { conditions: ["Drifted"], since: 10, pods: [{}] }),
    ];
    const proposal = ask(cluster([pool(), ...nodes]), "drift");
    expect(verdictOf(proposal, "stuck")).toMatchObject({
      code: "pods-unschedulable",
      pods: [{ pod: "default/stuck-0" }],
    });
    expect(proposal.commands.map(({ candidates }) => candidates[0]?.name)).toEqual(["next"]);
  });

  it("03:D-32 plans no capacity for pods that stay until the grace period is over", () => {
    const claim = { spec: { terminationGracePeriod: "5m" } };
    const held = { annotations: { [annotations.doNotDisrupt]: "true" } };
    const protectedPod = machine("n1", { claim, conditions: ["Drifted"], pods: [held] });
    expect(commandTexts(ask(cluster([pool(), protectedPod]), "drift"))).toEqual(["delete n1"]);
    const blocked = machine("n1", { claim, conditions: ["Drifted"], pods: [{}] });
    const never = pdb("web", { spec: { maxUnavailable: 0 } });
    expect(commandTexts(ask(cluster([pool(), blocked, never]), "drift"))).toEqual(["delete n1"]);
    const busy = pdb("web", { allowed: 0 });
    expect(commandTexts(ask(cluster([pool(), blocked, busy]), "drift"))).toEqual([
      "replace n1 -> cpu-2|cpu-4|cpu-8|cpu-16",
    ]);
  });

  it("03:D-32b a pool whose replacements failed waits, the others go on", () => {
    const nodes = [
      machine("n1", { conditions: ["Drifted"], since: 90, pods: [{}] }),
      machine("n2", { pool: "other", conditions: ["Drifted"], since: 10, pods: [{}] }),
    ];
    const snapshot = cluster([pool(), pool({ name: "other" }), ...nodes]);
    const later = snapshot.nowMs + 60_000;
    const proposal = ask({ ...snapshot, heldBackPools: new Map([["default", later]]) }, "drift");
    expect(verdictOf(proposal, "n1")).toMatchObject({ code: "held-back", untilMs: later });
    expect(proposal.commands[0]?.candidates[0]?.name).toBe("n2");
    const over = ask({ ...snapshot, heldBackPools: new Map([["default", snapshot.nowMs]]) }, "drift");
    expect(over.commands[0]?.candidates[0]?.name).toBe("n1");
  });

  it.each([
    ["100%", 3],
    ["2", 2],
    ["0", 0],
  ])(
    "03 §10.2-9 03:D-28 by default several drifted nodes go in one pass, within a budget of %s: %i",
    (nodes, count) => {
      const full = { conditions: ["Drifted"], pods: [{ cpu: "6" }] };
      const machines = ["n1", "n2", "n3"].map((name) => machine(name, full));
      const snapshot = cluster([pool({ disruption: { budgets: [{ nodes }] } }), ...machines]);
      expect(ask(snapshot, "drift", { sweep: "several" }).commands).toHaveLength(count);
      expect(ask(snapshot, "drift", { sweep: "first" }).commands).toHaveLength(Math.min(1, count));
    },
  );

  it("03 §10.2-9 a drifted node that takes the pods of another one stays, and at most ten go in one pass", () => {
    const small = { conditions: ["Drifted"], pods: [{ cpu: "3" }] };
    const two = ask(cluster([pool(), machine("n1", small), machine("n2", small)]), "drift", { sweep: "several" });
    expect(codesOf(two)).toEqual({ n1: "chosen", n2: "destination" });
    const many = Array.from({ length: 12 }, (_, at) =>
      machine(`n${at}`, { conditions: ["Drifted"], pods: [{ cpu: "7" }] }),
    );
    expect(ask(cluster([pool(), ...many]), "drift", { sweep: "several" }).commands).toHaveLength(10);
  });

  it("leaves static pools to static drift", () => {
    const snapshot = cluster([pool({ spec: { replicas: 1 } }), machine("n1", { conditions: ["Drifted"] })]);
    expect(codesOf(ask(snapshot, "drift"))).toEqual({ n1: "static-pool" });
    expect(codesOf(ask(cluster([pool(), machine("n1", { conditions: ["Drifted"] })]), "static-drift"))).toEqual({
      n1: "dynamic-pool",
    });
  });
});

describe("03:D-30 static drift", () => {
  const drifted = (count: number, poolName = "default", conditions = ["Drifted"]) =>
    Array.from({ length: count }, (_, index) => machine(`${poolName}-${index}`, { pool: poolName, conditions }));
  const fixed = (replicas: number, spec: object = {}, name = "default", nodes = "100%") =>
    pool({ name, spec: { replicas, ...spec }, disruption: { budgets: [{ nodes }] } });
  const nodesOf = (objects: Parameters<typeof cluster>[0]) =>
    ask(cluster(objects), "static-drift").commands.map(({ candidates }) => candidates.map(({ name }) => name).join());

  it("replaces one for one, from the template", () => {
    const { commands } = ask(cluster([fixed(2), ...drifted(2)]), "static-drift");
    expect(commands.map(({ decision, replacements }) => [decision, replacements.length])).toEqual([
      ["replace", 1],
      ["replace", 1],
    ]);
    expect(commands[0]?.replacements[0]).toMatchObject({ pool: "default", pods: [], instanceTypes: [] });
  });

  it.each([
    ["2", 2],
    ["50%", 2],
    ["0", 0],
  ])("within a budget of %s: %i of four", (nodes, count) => {
    expect(nodesOf([fixed(4, {}, "default", nodes), ...drifted(4)])).toHaveLength(count);
  });

  it.each([
    ["4", 0],
    ["5", 1],
    ["10", 4],
  ])("within a limit of %s nodes: %i of four", (limit, count) => {
    expect(nodesOf([fixed(4, { limits: { nodes: limit } }), ...drifted(4)])).toHaveLength(count);
  });

  it("waits until the surplus is gone, pool by pool", () => {
    expect(nodesOf([fixed(1), fixed(1, {}, "other"), ...drifted(2), ...drifted(1, "other")])).toEqual(["other-0"]);
    expect(nodesOf([fixed(0), ...drifted(1)])).toEqual([]);
  });

  it("only drifted nodes that nothing protects", () => {
    const node = { metadata: { annotations: { [annotations.doNotDisrupt]: "true" } } };
    const others = [machine("n2"), machine("n3", { conditions: ["Drifted=False"] })];
    expect(nodesOf([fixed(3), ...others, machine("n4", { conditions: ["Drifted"] })])).toEqual(["n4"]);
    expect(nodesOf([fixed(1), machine("n1", { conditions: ["Drifted"], node })])).toEqual([]);
  });
});
