import { describe, expect, it } from "vitest";
import { annotations } from "../../src/api/labels.ts";
import { disruptionCandidates } from "../../src/core/disruption/candidate.ts";
import type { DisruptionClass } from "../../src/core/disruption/methods.ts";
import { runSteps } from "../../src/util/steps.ts";
import {
  ago,
  type ClusterFacts,
  cluster,
  type MachineFacts,
  machine,
  now,
  type PodFacts,
  pdb,
  pool,
} from "./cluster.ts";

const held = { [annotations.doNotDisrupt]: "true" };

/** `candidate`, or the code of why n1 is none. */
function outcome(
  objects: Parameters<typeof cluster>[0],
  { disruptionClass = "graceful", ...facts }: ClusterFacts & { readonly disruptionClass?: DisruptionClass } = {},
): string | undefined {
  const { candidates, blocked } = runSteps(disruptionCandidates(cluster(objects, facts), disruptionClass));
  if (candidates.some(({ name }) => name === "n1")) return "candidate";
  return blocked.find(({ node }) => node === "n1")?.code;
}

const running: PodFacts = { status: { phase: "Running", startTime: ago(30) } };
const withPod = (facts: PodFacts): MachineFacts => ({ pods: [{ ...running, ...facts }] });
const gracePeriod = { spec: { terminationGracePeriod: "5m" } };

describe("03 §4.2 candidates", () => {
  it.each<[string, string, MachineFacts, ClusterFacts?]>([
    ["03:D-11 a node without a claim", "unmanaged", { without: ["claim"] }],
    ["03:D-12a a claim without a Node", "no-node", { without: ["node"] }],
    ["03:D-12b a node that is not initialized", "not-initialized", { conditions: ["Initialized=False"] }],
    ["03:D-12c a claim that is being deleted", "deleting", { claim: { metadata: { deletionTimestamp: ago(1) } } }],
    ["03:D-12c a claim whose instance terminates", "deleting", { conditions: ["InstanceTerminating"] }],
    ["03:D-13 a nominated node", "nominated", {}, { nominated: ["n1"] }],
    ["03:D-14 a protected Node", "node-protected", { node: { metadata: { annotations: held } } }],
    [
      "03:D-14 a duration on a Node means nothing",
      "candidate",
      { node: { metadata: { annotations: { [annotations.doNotDisrupt]: "1h" } } } },
    ],
    [
      "03:D-14 the claim's annotation does not count once registered",
      "candidate",
      { claim: { metadata: { annotations: held } } },
    ],
    ["03:D-15 a node without a pool label", "no-pool-label", { without: ["pool-label"] }],
    ["03:D-16 a node of an unknown pool", "pool-not-found", { pool: "gone" }],
    ["03:D-16 a pool without instance types", "pool-not-found", {}, { types: [] }],
    ["03:D-17 a protected pod", "pod-protected", withPod({ annotations: held })],
    ["03:D-17 a protected daemon pod", "pod-protected", withPod({ annotations: held, owner: "DaemonSet" })],
    ["03:D-17 a protected mirror pod", "pod-protected", withPod({ annotations: held, owner: "Node" })],
    ["03:D-17 a protected pod that terminates", "candidate", withPod({ annotations: held, isTerminating: true })],
    [
      "03:D-17 a protected pod that has ended",
      "candidate",
      withPod({ annotations: held, status: { phase: "Succeeded" } }),
    ],
    [
      "03:D-17 a time that has not passed",
      "pod-protected",
      withPod({ annotations: { [annotations.doNotDisrupt]: "31m" } }),
    ],
    ["03:D-17 a time that has passed", "candidate", withPod({ annotations: { [annotations.doNotDisrupt]: "30m" } })],
    ["03:D-17 a time that is none", "candidate", withPod({ annotations: { [annotations.doNotDisrupt]: "soon" } })],
    [
      "03:D-17 a time counts from the start of the pod",
      "pod-protected",
      { pods: [{ annotations: { [annotations.doNotDisrupt]: "1s" }, status: { phase: "Pending" } }] },
    ],
    ["03 §4.2 a node without the label of its type", "candidate", { without: ["instance-type"] }],
    ["03 §4.2 a node without a zone", "candidate", { without: ["zone"] }],
    ["03 §4.2 a node without a capacity type", "candidate", { without: ["capacity-type"] }],
  ])("%s: %s", (_, expected, facts, clusterFacts = {}) => {
    expect(outcome([pool(), machine("n1", facts)], clusterFacts)).toBe(expected);
  });

  it.each<[string, string, PodFacts, readonly Parameters<typeof pdb>[1][]]>([
    ["03:D-18 a budget that allows no eviction", "pdb", {}, [{ allowed: 0 }]],
    ["03:D-18 a budget that allows one", "candidate", {}, [{ allowed: 1 }]],
    ["03:D-18 two budgets, whatever they allow", "pdb", {}, [{ allowed: 1 }, { allowed: 1 }]],
    ["03:D-18 a budget of another namespace", "candidate", {}, [{ allowed: 0, namespace: "other" }]],
    ["03:D-18 a daemon pod", "pdb", { owner: "DaemonSet" }, [{ allowed: 0 }]],
    ["03:D-18 a mirror pod", "candidate", { owner: "Node" }, [{ allowed: 0 }]],
    ["03:D-18 a pod that terminates", "candidate", { isTerminating: true }, [{ allowed: 0 }]],
    ["03:D-18 a pod that has ended", "candidate", { status: { phase: "Failed" } }, [{ allowed: 0 }]],
    [
      "03:D-18 an unready pod, where the budget does not care for those",
      "candidate",
      { status: { phase: "Running", conditions: [{ type: "Ready", status: "False" }] } },
      [{ allowed: 0, spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" } }],
    ],
  ])("%s: %s", (_, expected, facts, budgets) => {
    const objects = budgets.map((one, index) => pdb(`budget-${index}`, one));
    expect(outcome([pool(), machine("n1", withPod(facts)), ...objects])).toBe(expected);
  });

  it.each<[DisruptionClass, boolean, string, string]>([
    ["graceful", false, "pod-protected", "pdb"],
    ["graceful", true, "pod-protected", "pdb"],
    ["eventual", false, "pod-protected", "pdb"],
    ["eventual", true, "candidate", "candidate"],
  ])("03:D-17 03:D-18 %s, grace period %s: %s, %s", (disruptionClass, hasGracePeriod, byPod, byBudget) => {
    const facts = hasGracePeriod ? { claim: gracePeriod } : {};
    const isProtected = machine("n1", { ...facts, ...withPod({ annotations: held }) });
    const isBlocked = machine("n1", { ...facts, ...withPod({}) });
    expect(outcome([pool(), isProtected], { disruptionClass })).toBe(byPod);
    expect(outcome([pool(), isBlocked, pdb("web")], { disruptionClass })).toBe(byBudget);
  });

  it("03:D-10 a node in a command is no candidate", () => {
    const snapshot = cluster([pool(), machine("n1"), machine("n2")]);
    const inCommand = new Set(["plan://n1"]);
    const { candidates, blocked } = runSteps(disruptionCandidates({ ...snapshot, inCommand }, "graceful"));
    expect(candidates.map(({ name }) => name)).toEqual(["n2"]);
    expect(blocked).toEqual([{ node: "n1", nodePool: "default", code: "in-command" }]);
  });

  it("03:D-17 says which pod, and until when", () => {
    const snapshot = cluster([pool(), machine("n1", withPod({ annotations: { [annotations.doNotDisrupt]: "1h" } }))]);
    expect(runSteps(disruptionCandidates(snapshot, "graceful")).blocked).toMatchObject([
      { code: "pod-protected", pod: "default/n1-0", untilMs: now + 30 * 60_000 },
    ]);
  });

  it("03:D-6 the price is that of the offering, available or not; unknown is 0", () => {
    const price = (facts: MachineFacts): number | undefined =>
      runSteps(disruptionCandidates(cluster([pool(), machine("n1", facts)]), "graceful")).candidates[0]?.price;
    expect(price({})).toBe(2);
    expect(price({ capacityType: "spot" })).toBeCloseTo(1.4);
    expect(price({ type: "gone" })).toBe(0);
    expect(price({ zone: "nowhere" })).toBe(0);
    expect(price({ without: ["zone"] })).toBe(0);
  });

  it("03:D-7 03:D-8 only pods that cost something to evict make a node dearer to drain", () => {
    const cost = (...pods: readonly PodFacts[]): number | undefined =>
      runSteps(disruptionCandidates(cluster([pool(), machine("n1", { pods })]), "graceful")).candidates[0]
        ?.disruptionCost;
    const free = { annotations: { [annotations.podDeletionCost]: "-2147483647" } };
    expect(cost()).toBe(1);
    expect(cost({})).toBe(2);
    expect(cost(free)).toBe(1);
    expect(cost({}, free)).toBe(2);
    expect(cost({ owner: "DaemonSet" }, { owner: "Node" })).toBe(1);
    expect(cost({ isTerminating: true })).toBe(1);
    expect(cost({ isTerminating: true, owner: "StatefulSet" })).toBe(2);
    expect(cost({ spec: { priority: 2 ** 25 } })).toBe(3);
    expect(cost({ spec: { priority: 2 ** 30 } })).toBe(11);
  });
});
