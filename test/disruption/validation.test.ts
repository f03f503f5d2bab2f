import { describe, expect, it } from "vitest";
import { annotations } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { DisruptionMethodName } from "../../src/core/disruption/methods.ts";
import { plainSimulator } from "../../src/core/disruption/plain-simulator.ts";
import type { DisruptionSnapshot } from "../../src/core/disruption/snapshot.ts";
import { revalidateCandidates, validateCommand } from "../../src/core/disruption/validation.ts";
import { runSteps } from "../../src/util/steps.ts";
import { ask, cluster, machine, pdb, pod, pool } from "./cluster.ts";

type Objects = readonly (KubeObject | readonly KubeObject[])[];

/** What becomes of a method's command once the cluster has changed. */
function later(method: DisruptionMethodName, before: Objects, after: DisruptionSnapshot): string {
  const [command] = ask(cluster(before), method).commands;
  if (command === undefined) throw new Error("there is no command to validate");
  const outcome = runSteps(validateCommand(command, after, plainSimulator(after)));
  return outcome.kind === "valid"
    ? `valid ${outcome.command.candidates.map(({ name }) => name).join()}`
    : outcome.failure;
}

const single = "single-node-consolidation";
const multi = "multi-node-consolidation";
const node = machine("n1", { pods: [{}] });
const room = machine("n2", { pods: [{ cpu: "2" }], conditions: ["Consolidatable=False"] });
const two = ["n1", "n2"].map((name) => machine(name, { pods: [{}] }));
const held = { [annotations.doNotDisrupt]: "true" };

describe("03 §4.11 validation", () => {
  it.each<[string, string, DisruptionMethodName, Objects, DisruptionSnapshot]>([
    ["03:D-66 nothing changed", "valid n1", single, [pool(), node], cluster([pool(), node])],
    [
      "03:D-61 a protected pod came",
      "churn",
      single,
      [pool(), node],
      cluster([pool(), machine("n1", { pods: [{}, { annotations: held }] })]),
    ],
    ["03:D-61 a budget closed", "churn", single, [pool(), node], cluster([pool(), node, pdb("web", { allowed: 0 })])],
    ["03:D-61 the node is gone", "churn", single, [pool(), node], cluster([pool()])],
    [
      "03:D-61 it is no longer consolidatable",
      "churn",
      single,
      [pool(), node],
      cluster([pool(), machine("n1", { pods: [{}], conditions: ["Consolidatable=False"] })]),
    ],
    ["03:D-61 one of several is gone", "churn", multi, [pool(), ...two], cluster([pool(), two[0] ?? []])],
    ["03:D-62 it was nominated", "churn", single, [pool(), node], cluster([pool(), node], { nominated: ["n1"] })],
    [
      "03:D-62 the pool's budget closed",
      "budget",
      single,
      [pool(), node],
      cluster([pool({ disruption: { budgets: [{ nodes: "0" }] } }), node]),
    ],
    [
      "03:D-62 the budget allows fewer",
      "budget",
      multi,
      [pool(), ...two],
      cluster([pool({ disruption: { budgets: [{ nodes: "1" }] } }), ...two]),
    ],
    ["03:D-63 its pods would fit elsewhere now", "scheduling", single, [pool(), node], cluster([pool(), node, room])],
    ["03:D-63 the room is gone", "scheduling", single, [pool(), node, room], cluster([pool(), node])],
    [
      "03:D-63 a pending pod needs the room",
      "scheduling",
      single,
      [pool(), node, room],
      cluster([pool(), node, room, pod("p", { cpu: "5500m" })]),
    ],
    [
      "03:D-63 it would have to be larger",
      "scheduling",
      single,
      [pool(), node],
      cluster([pool(), machine("n1", { pods: [{}, { cpu: "2500m" }] })]),
    ],
    [
      "03:D-63 a pod fits nowhere",
      "scheduling",
      single,
      [pool(), node],
      cluster([pool(), machine("n1", { pods: [{}, { spec: { nodeSelector: { none: "such" } } }] })]),
    ],
  ])("%s: %s", (_, expected, method, before, after) => {
    expect(later(method, before, after)).toBe(expected);
  });

  it("03:D-29c of empty nodes those that are left go on", () => {
    const empty = ["n1", "n2"].map((name) => machine(name));
    const before = [pool(), ...empty];
    expect(later("emptiness", before, cluster(before))).toBe("valid n1,n2");
    expect(later("emptiness", before, cluster([pool(), machine("n1"), machine("n2", { pods: [{}] })]))).toBe(
      "valid n1",
    );
    expect(later("emptiness", before, cluster([pool({ disruption: { budgets: [{ nodes: "1" }] } }), ...empty]))).toBe(
      "valid n1",
    );
    expect(later("emptiness", before, cluster([pool({ disruption: { budgets: [{ nodes: "0" }] } }), ...empty]))).toBe(
      "budget",
    );
    expect(later("emptiness", before, cluster([pool()]))).toBe("churn");
  });

  it("03:D-64 the nodes are looked at once more, without a simulation", () => {
    const [command] = ask(cluster([pool(), node]), single).commands;
    if (command === undefined) throw new Error("there is no command");
    expect(revalidateCandidates(command, cluster([pool(), node]))).toHaveProperty("candidates");
    expect(revalidateCandidates(command, cluster([pool(), node], { nominated: ["n1"] }))).toEqual({
      failure: "churn",
      nodes: ["n1"],
    });
  });
});
