import { describe, expect, it } from "vitest";
import { annotations, labels } from "../../src/api/labels.ts";
import { plainSimulator } from "../../src/core/disruption/plain-simulator.ts";
import { sharedSimulator } from "../../src/core/disruption/shared-simulator.ts";
import { runSteps } from "../../src/util/steps.ts";
import { instanceType } from "../builders/instance-type.ts";
import {
  ago,
  ask,
  type ClusterFacts,
  cluster,
  codesOf,
  commandTexts,
  type MachineFacts,
  machine,
  type PodFacts,
  pod,
  pool,
  verdictOf,
} from "./cluster.ts";

const single = "single-node-consolidation";
const multi = "multi-node-consolidation";

/** What single-node consolidation does about n1, simulated: nothing is ruled out before. */
function outcome(objects: Parameters<typeof cluster>[0], facts: ClusterFacts = {}): string {
  const proposal = ask(cluster(objects, { mode: "upstream", ...facts }), single, { sweep: "all" });
  return commandTexts(proposal).find((text) => text.includes("n1")) ?? verdictOf(proposal, "n1")?.code ?? "";
}

describe("03:D-35 whom consolidation is for", () => {
  it.each<[string, string, MachineFacts, object?]>([
    ["an underutilized node", "replace n1 -> cpu-2|cpu-4", { pods: [{}] }],
    ["03:D-35 an empty node", "empty", {}],
    [
      "03:D-8 one whose pods are free to evict",
      "empty",
      { pods: [{ annotations: { [annotations.podDeletionCost]: "-2147483647" } }] },
    ],
    ["03:D-35 an unknown type", "unknown-instance-type", { pods: [{}], type: "gone" }],
    ["03:D-35 no capacity type", "missing-label", { pods: [{}], without: ["capacity-type"] }],
    ["03:D-35 no zone", "missing-label", { pods: [{}], without: ["zone"] }],
    ["03:D-35 consolidation is off", "consolidation-disabled", { pods: [{}] }, { consolidateAfter: "Never" }],
    ["03:D-36 WhenEmpty", "policy-when-empty", { pods: [{}] }, { consolidationPolicy: "WhenEmpty" }],
    ["03:D-35 not consolidatable", "not-consolidatable", { pods: [{}], conditions: ["Consolidatable=False"] }],
  ])("%s: %s", (_, expected, facts, disruption = {}) => {
    expect(outcome([pool({ disruption }), machine("n1", facts)])).toBe(expected);
  });

  it("03:D-35 not static pools", () => {
    expect(outcome([pool({ spec: { replicas: 1 } }), machine("n1", { pods: [{}] })])).toBe("static-pool");
  });
});

describe("03 §4.7 simulation", () => {
  const full = (name: string, facts: MachineFacts = {}) =>
    machine(name, { type: "cpu-2", pods: [{ cpu: "1" }], ...facts });
  const room = (name: string, facts: MachineFacts = {}) =>
    machine(name, { type: "cpu-4", pods: [{ cpu: "2500m" }], ...facts });

  it("03:D-45 pods that fit elsewhere leave nothing to replace", () => {
    expect(outcome([pool(), full("n1"), room("n2")])).toBe("delete n1");
  });

  it("03:D-45 nodes of other pools and nodes without a claim take pods too", () => {
    expect(outcome([pool(), pool({ name: "other" }), full("n1"), room("n2", { pool: "other" })])).toBe("delete n1");
    const unmanaged = machine("n2", {
      without: ["claim"],
      node: { status: { allocatable: { cpu: "4", pods: "10" } } },
    });
    expect(outcome([pool(), full("n1"), unmanaged])).toBe("delete n1");
  });

  it("03:D-37 a node that is being deleted receives no pods, and its own need a place", () => {
    const leaving = room("n2", { claim: { metadata: { deletionTimestamp: ago(1) } } });
    expect(outcome([pool(), full("n1"), leaving])).toBe("no-cheaper-type");
    expect(outcome([pool(), full("n1"), leaving, room("n3")])).toBe("no-cheaper-type");
    const larger = machine("n3", { type: "cpu-16", pods: [{}], conditions: ["Consolidatable=False"] });
    expect(outcome([pool(), full("n1"), leaving, larger])).toBe("delete n1");
  });

  it.each([
    ["plain", plainSimulator],
    ["shared", sharedSimulator],
  ])("03:D-37 the %s simulation of a node that somebody else deletes ends at once", (_, simulatorOf) => {
    const simulator = simulatorOf(
      cluster([pool(), full("n1", { claim: { metadata: { deletionTimestamp: ago(1) } } })]),
    );
    // No method asks about such a node, so the candidate is one of a moment before.
    const { candidates } = ask(cluster([pool(), full("n1")]), single);
    expect(candidates.map(({ name }) => name)).toEqual(["n1"]);
    expect(runSteps(simulator.simulate(candidates, { isConsolidation: true }))).toEqual({ kind: "candidate-deleting" });
  });

  it("03:D-42 nodes that are not initialized do not count", () => {
    const uninitialized = room("n2", { conditions: ["Initialized=False"] });
    const proposal = ask(cluster([pool(), full("n1"), uninitialized]), single);
    expect(verdictOf(proposal, "n1")).toMatchObject({
      code: "pods-unschedulable",
      pods: [{ message: "would schedule against uninitialized nodeclaim/n2, node/n2" }],
    });
  });

  it("03:D-42 initialized nodes are tried first", () => {
    const nodes = [full("n1"), room("a", { conditions: ["Initialized=False"] }), room("z")];
    expect(outcome([pool(), ...nodes])).toBe("delete n1");
  });

  it("03:D-42 pods of a node that is being deleted may use them", () => {
    const leaving = full("gone", { claim: { metadata: { deletionTimestamp: ago(1) } } });
    const nodes = [
      full("n1"),
      leaving,
      room("a", { conditions: ["Initialized=False"] }),
      room("z", { pods: [{ cpu: "3" }] }),
    ];
    expect(outcome([pool(), ...nodes])).toBe("delete n1");
  });

  it("03:D-41 a node within its consolidateAfter receives no pods, unless they have not started", () => {
    const waiting = { claim: { status: { lastPodEventTime: ago(1) } } };
    const disruption = { consolidateAfter: "5m" };
    const ready = { conditions: ["Consolidatable"] };
    const destination = room("n2", waiting);
    expect(outcome([pool({ disruption }), full("n1", ready), destination])).toBe("no-cheaper-type");
    expect(outcome([pool({ disruption: { consolidateAfter: "0s" } }), full("n1", ready), destination])).toBe(
      "delete n1",
    );
    const starting = full("n1", { ...ready, pods: [{ status: { phase: "Pending" } }] });
    expect(outcome([pool({ disruption }), starting, destination])).toBe("delete n1");
  });

  it("03:D-41 a pool that is never consolidated still receives pods", () => {
    const never = pool({ name: "never", disruption: { consolidateAfter: "Never" } });
    expect(outcome([pool(), never, full("n1"), room("n2", { pool: "never" })])).toBe("delete n1");
  });

  it("03:D-43 a pod that is pending for good holds nothing back", () => {
    const pending = pod("pending", { spec: { nodeSelector: { none: "such" } } });
    expect(outcome([pool(), full("n1"), room("n2"), pending])).toBe("delete n1");
  });

  it("03:D-38 pending pods need their place too", () => {
    const pending = pod("pending", { cpu: "1" });
    expect(outcome([pool(), full("n1"), room("n2"), pending])).toBe("no-cheaper-type");
  });

  it("03:D-44 pods that would have no place are named", () => {
    const lonely = full("n1", { pods: [{ spec: { nodeSelector: { none: "such" } } }] });
    const verdict = verdictOf(ask(cluster([pool(), lonely, room("n2")]), single), "n1");
    expect(verdict).toMatchObject({ code: "pods-unschedulable", savings: 0.5, pods: [{ pod: "default/n1-0" }] });
  });

  it("03:D-39 pools that are not ready launch nothing", () => {
    const status = {
      conditions: [{ type: "Ready", status: "False", reason: "x", message: "", lastTransitionTime: ago(1) }],
    };
    const notReady = pool({ name: "cheap", status });
    expect(
      outcome([
        pool({ requirements: [{ key: labels.instanceType, operator: "In", values: ["cpu-8"] }] }),
        notReady,
        machine("n1", { pods: [{}] }),
      ]),
    ).toBe("no-cheaper-type");
  });

  it("03:D-45 03 §8.4 where no pool can launch, a node whose pods fit elsewhere still goes", () => {
    const conditions = [{ type: "Ready", status: "False", reason: "x", message: "", lastTransitionTime: ago(1) }];
    expect(outcome([pool({ status: { conditions } }), full("n1"), room("n2")])).toBe("delete n1");
  });

  it("03:D-16 03 §8.4 a pool that has no types holds no other up", () => {
    const other = pool({
      name: "other",
      requirements: [{ key: labels.instanceType, operator: "In", values: ["none"] }],
    });
    expect(outcome([pool(), other, full("n1"), room("n2", { pool: "other" })])).toBe("delete n1");
    expect(outcome([pool(), other, machine("n1", { pods: [{}] })])).toBe("replace n1 -> cpu-2|cpu-4");
  });

  it("02:W-1 a pod moves away from its local volume", () => {
    const term = { matchExpressions: [{ key: labels.hostname, operator: "In", values: ["n1"] }] };
    const volume = {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "disk" },
      spec: { local: { path: "/disk" }, nodeAffinity: { required: { nodeSelectorTerms: [term] } } },
    };
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "disk", namespace: "default" },
      spec: { volumeName: "disk" },
      status: { phase: "Bound" },
    };
    const volumes = [{ name: "disk", persistentVolumeClaim: { claimName: "disk" } }];
    const nodes = [full("n1", { pods: [{ cpu: "1", spec: { volumes } }] }), room("n2")];
    expect(outcome([pool(), volume, claim, ...nodes])).toBe("delete n1");
  });

  it("keeps spread over zones and pods apart", () => {
    const term = { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "kubernetes.io/hostname" };
    const apart = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
    const nodes = ["n1", "n2"].map((name) => machine(name, { type: "cpu-2", pods: [{ cpu: "500m", spec: apart }] }));
    expect(codesOf(ask(cluster([pool(), ...nodes]), single))).toEqual({ n1: "no-cheaper-type", n2: "no-cheaper-type" });
    const constraint = {
      maxSkew: 1,
      topologyKey: labels.zone,
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: { matchLabels: { app: "web" } },
    };
    const spread = { topologySpreadConstraints: [constraint] };
    const zoned = ["a", "b", "c"].map((zone) =>
      machine(`n-${zone}`, { zone, type: "cpu-4", pods: [{ cpu: "500m", spec: spread }] }),
    );
    const { commands } = ask(cluster([pool(), ...zoned]), single);
    expect(
      commands.map(({ decision, replacements }) => [
        decision,
        replacements[0]?.requirements.get(labels.zone).singleValue,
      ]),
    ).toEqual([["replace", "a"]]);
  });
});

describe("03:D-46 to D-49 what a simulation allows", () => {
  it("03:D-46 two new nodes are none, and the verdict names their pods", () => {
    const term = { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "kubernetes.io/hostname" };
    const apart = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
    const verdict = verdictOf(
      ask(cluster([pool(), machine("n1", { pods: [{ spec: apart }, { spec: apart }] })]), single),
      "n1",
    );
    expect(verdict).toMatchObject({
      code: "needs-more-nodes",
      savings: 1,
      newNodes: [
        { pods: ["default/n1-0"], price: 0.5 },
        { pods: ["default/n1-1"], price: 0.5 },
      ],
    });
  });

  it("03:D-48 02:L-34 the dearest offering of the capacity type tried first must be cheaper", () => {
    const zoned = instanceType("zoned").cpu(4).price(1).priceIn("c", 2, "on-demand");
    const withZoned = (type: typeof zoned) => ({ types: [instanceType("cpu-8").cpu(8).price(2), type] });
    const objects = [pool(), machine("n1", { pods: [{}] })];
    expect(outcome(objects, withZoned(zoned))).toBe("no-cheaper-type");
    expect(outcome(objects, withZoned(zoned.soldOutIn("c")))).toBe("replace n1 -> zoned");
    // Spot is tried before on-demand, so what on-demand costs does not matter.
    const both = [pool({ capacityTypes: ["spot", "on-demand"] }), machine("n1", { pods: [{}] })];
    expect(outcome(both, withZoned(zoned))).toContain("zoned");
  });

  it("03:D-48 at the same price nothing moves", () => {
    expect(outcome([pool(), machine("n1", { type: "cpu-2", pods: [{}] })])).toBe("no-cheaper-type");
    const same = [instanceType("cpu-8").cpu(8).price(2), instanceType("other").cpu(8).price(2)];
    expect(outcome([pool(), machine("n1", { pods: [{}] })], { types: same })).toBe("no-cheaper-type");
  });

  it("03:D-48 a node that may be spot or on-demand becomes spot", () => {
    const both = pool({ capacityTypes: ["spot", "on-demand"] });
    const [command] = ask(cluster([both, machine("n1", { pods: [{}] })]), single).commands;
    expect(command?.replacements[0]?.requirements.get(labels.capacityType).singleValue).toBe("spot");
    expect(command?.savings).toBeCloseTo(2 - 0.35);
  });

  it("03:D-48 minValues must hold among the cheaper types", () => {
    const atLeast = (minValues: number) =>
      pool({ requirements: [{ key: labels.instanceType, operator: "Exists", minValues }] });
    expect(outcome([atLeast(2), machine("n1", { pods: [{}] })])).toBe("replace n1 -> cpu-2|cpu-4");
    expect(outcome([atLeast(3), machine("n1", { pods: [{}] })])).toBe("min-values");
    expect(outcome([atLeast(3), machine("n1", { pods: [{}] })], { minValues: "BestEffort" })).toBe("min-values");
  });

  it("03:D-40 a replacement has the 600 cheapest types, and minValues must hold among them", () => {
    const cheap = Array.from({ length: 620 }, (_, at) =>
      instanceType(`t-${String(at).padStart(3, "0")}`)
        .price(1 + at / 1_000)
        .label("tier", at < 600 ? "first" : "second"),
    );
    const types = [...cheap.toReversed(), instanceType("cpu-8").cpu(8).price(3)];
    const node = machine("n1", { pods: [{}] });
    const [command] = ask(cluster([pool(), node], { types, mode: "upstream" }), single).commands;
    expect(command?.replacements[0]?.instanceTypes.map(({ name }) => name)).toEqual(
      cheap.slice(0, 600).map(({ name }) => name),
    );
    const twoTiers = pool({ requirements: [{ key: "tier", operator: "Exists", minValues: 2 }] });
    expect(outcome([twoTiers, node], { types })).toBe("pods-unschedulable");
  });

  it("03:D-49 a node of unknown price is deleted, not replaced", () => {
    const unpriced = { zone: "nowhere", type: "cpu-8" };
    expect(outcome([pool(), machine("n1", { ...unpriced, pods: [{}] })])).toBe("no-cheaper-type");
    expect(
      outcome([
        pool(),
        machine("n1", { ...unpriced, pods: [{}] }),
        machine("n2", { pods: [{}], conditions: ["Consolidatable=False"] }),
      ]),
    ).toBe("delete n1");
  });

  it("takes reserved capacity as the cheapest", () => {
    const reserved = instanceType("cpu-4").cpu(4).price(1).reserved("r-1", { zone: "a", capacity: 1 });
    const types = [instanceType("cpu-8").cpu(8).price(2), reserved];
    const any = pool({ capacityTypes: ["reserved", "on-demand"] });
    const [command] = ask(cluster([any, machine("n1", { pods: [{}] })], { types }), single).commands;
    expect(command?.replacements[0]?.requirements.get(labels.capacityType).singleValue).toBe("reserved");
  });
});

describe("03:D-47 spot for spot", () => {
  const many = Array.from({ length: 20 }, (_, index) =>
    instanceType(`t-${String(index).padStart(2, "0")}`)
      .cpu(4)
      .price(1 + index / 100),
  );
  const spotPool = pool({ capacityTypes: ["spot"] });
  const on = (type: string, pods: readonly PodFacts[] = [{}]) => machine("n1", { capacityType: "spot", type, pods });

  it("needs the feature gate, deleting does not", () => {
    expect(outcome([spotPool, on("t-19")], { types: many })).toBe("spot-to-spot-disabled");
    const room = machine("n2", { capacityType: "spot", type: "t-00", pods: [{}] });
    expect(outcome([spotPool, on("t-19"), room], { types: many })).toBe("delete n1");
  });

  it("needs fifteen cheaper types, and launches with the fifteen cheapest", () => {
    const facts = { types: many, allowsSpotToSpot: true };
    expect(outcome([spotPool, on("t-14")], facts)).toBe("spot-flexibility");
    expect(outcome([spotPool, on("t-15")], facts)).toContain("replace n1 -> t-00|");
    const [command] = ask(cluster([spotPool, on("t-19")], facts), single).commands;
    expect(command?.replacements[0]?.instanceTypes.map(({ name }) => name)).toEqual(
      many.slice(0, 15).map(({ name }) => name),
    );
  });

  it("or with as many as minValues need", () => {
    const requirements = [{ key: labels.instanceType, operator: "Exists", minValues: 17 }];
    const flexible = pool({ capacityTypes: ["spot"], requirements });
    const [command] = ask(cluster([flexible, on("t-19")], { types: many, allowsSpotToSpot: true }), single).commands;
    expect(command?.replacements[0]?.instanceTypes).toHaveLength(17);
  });

  it("several nodes need no choice of types", () => {
    const nodes = ["n1", "n2"].map((name) =>
      machine(name, { capacityType: "spot", type: "cpu-8", pods: [{ cpu: "3" }] }),
    );
    const snapshot = cluster([spotPool, ...nodes], {
      allowsSpotToSpot: true,
      types: [4, 8].map((cpu) => instanceType(`cpu-${cpu}`).cpu(cpu)),
    });
    expect(commandTexts(ask(snapshot, multi))).toEqual([]);
    const smaller = ["n1", "n2"].map((name) =>
      machine(name, { capacityType: "spot", type: "cpu-8", pods: [{ cpu: "1" }] }),
    );
    const types = [4, 8].map((cpu) => instanceType(`cpu-${cpu}`).cpu(cpu));
    expect(commandTexts(ask(cluster([spotPool, ...smaller], { allowsSpotToSpot: true, types }), multi))).toEqual([
      "replace n1,n2 -> cpu-4",
    ]);
  });
});

describe("03 §4.8 several nodes", () => {
  const nodes = (count: number, facts: MachineFacts) =>
    Array.from({ length: count }, (_, index) => machine(`n${index + 1}`, facts));

  it.each(["on-demand", "spot"])("03:D-51 three %s nodes become one", (capacityType) => {
    const three = nodes(3, { type: "cpu-8", capacityType, pods: [{ cpu: "1" }] });
    const snapshot = cluster([pool({ capacityTypes: [capacityType] }), ...three], { allowsSpotToSpot: true });
    expect(commandTexts(ask(snapshot, multi))).toEqual(["replace n1,n2,n3 -> cpu-4"]);
  });

  it("03:D-53 not two into one of the same type", () => {
    const two = nodes(2, { type: "cpu-4", pods: [{ cpu: "1800m" }] });
    const proposal = ask(cluster([pool(), ...two]), multi);
    expect(proposal.commands).toEqual([]);
    expect(verdictOf(proposal, "n1")).toMatchObject({
      code: "not-in-command",
      tried: [{ nodes: 2, cause: { code: "same-type" } }],
    });
  });

  it("03:D-50 at least two, by ratio", () => {
    expect(codesOf(ask(cluster([pool(), ...nodes(1, { pods: [{}] })]), multi))).toEqual({ n1: "too-few-nodes" });
  });

  it("03:D-51 at most 101 nodes", () => {
    const many = nodes(120, { type: "cpu-2", pods: [{ cpu: "10m" }] });
    const snapshot = cluster([
      pool(),
      ...many,
      machine("z", { type: "cpu-16", pods: [{ cpu: "1", annotations: { [annotations.doNotDisrupt]: "true" } }] }),
    ]);
    const [command] = ask(snapshot, multi).commands;
    expect(command?.candidates).toHaveLength(101);
  });
});
