import { afterEach, describe, expect, it } from "vitest";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import {
  type DisruptionWorld,
  disruptionWorld,
  eager,
  eventually,
  runningNode,
  runningPod,
} from "./disruption-world.ts";

let world: DisruptionWorld;
afterEach(() => world.stop());

const merge = (body: object) => ({ kind: "merge", body }) as const;
const small = { type: "s-4x-amd64-linux" } as const;

const seriesOf = (name: string) =>
  Object.fromEntries(
    [...world.series]
      .filter(([key]) => key.startsWith(`${name}{`))
      .map(([key, value]) => [key.slice(name.length), value]),
  );
const setBudgets = (...budgets: readonly object[]) =>
  world.client.patch(
    karpenterTypes.NodePool,
    { name: "default" },
    merge({ spec: { disruption: { ...eager, budgets } } }),
  );

describe("03 §6.1 decisions", () => {
  it.each([
    ["an empty node", "empty", "delete", "empty", () => runningNode(world, "n1")],
    [
      "a drifted node",
      "drifted",
      "replace",
      "",
      () => runningNode(world, "n1", { pods: ["1"], conditions: ["Drifted"] }),
    ],
    [
      "a drifted node whose pods fit elsewhere",
      "drifted",
      "delete",
      "",
      async () => {
        await runningNode(world, "n1", { pods: ["1"], conditions: ["Drifted"] });
        await runningNode(world, "n2", { pods: ["10"] });
      },
    ],
    ["an underused node", "underutilized", "replace", "single", () => runningNode(world, "n1", { pods: ["1"] })],
    [
      "a node whose pods fit elsewhere",
      "underutilized",
      "delete",
      "single",
      async () => {
        await runningNode(world, "n1", { type: "c-4x-amd64-linux", pods: ["1"] });
        await runningNode(world, "n2", { type: "c-4x-amd64-linux", pods: ["2500m"] });
      },
    ],
    [
      "several nodes",
      "underutilized",
      "replace",
      "multi",
      async () => {
        for (const name of ["n1", "n2"]) await runningNode(world, name, { ...small, pods: ["2500m"] });
      },
    ],
    [
      "several nodes whose pods fit elsewhere",
      "underutilized",
      "delete",
      "multi",
      async () => {
        await runningNode(world, "n3", { pods: ["13"], conditions: ["Consolidatable=False"] });
        for (const name of ["n1", "n2"]) await runningNode(world, name, { ...small, pods: ["1"] });
      },
    ],
  ] as const)("03:D-74 %s is counted as %s, %s, %s", async (_, reason, decision, type, build) => {
    world = await disruptionWorld();
    await build();
    await eventually(world, () => world.isTainted("n1"));
    await world.pass(1);
    const labels = `{consolidation_type="${type}",decision="${decision}",reason="${reason}"}`;
    expect(seriesOf("voluntary_disruption_decisions_total")).toEqual({ [labels]: 1 });
  });

  it("03:D-4 nodes a method is for are a gauge, and 03:D-26 so is what the budget allows", async () => {
    world = await disruptionWorld();
    await setBudgets({ nodes: "0" });
    await runningNode(world, "n1");
    await runningNode(world, "n2");
    await runningNode(world, "n3", { pods: ["15"] });
    await world.pass(12);
    expect(seriesOf("voluntary_disruption_eligible_nodes")).toMatchObject({
      '{reason="empty"}': 2,
      '{reason="drifted"}': 0,
      '{reason="underutilized"}': 1,
    });
    expect(seriesOf("nodepools_allowed_disruptions")).toMatchObject({ '{nodepool="default",reason="Empty"}': 0 });
    expect(seriesOf("nodepools_nodes_consuming_budgets")).toMatchObject({ '{nodepool="default",reason="Empty"}': 0 });
    await world.pass(30);
    const messages = (await world.events("default")).map(({ message }) => message);
    expect(messages).toContain("No allowed disruptions for disruption reason Empty due to blocking budget");
  });

  it("03:D-52 03:D-55 searches that are stopped are counted; both counters are there from the start", async () => {
    world = await disruptionWorld({ openSearch: () => ({ mayContinue: () => false }) });
    expect(seriesOf("voluntary_disruption_consolidation_timeouts_total")).toEqual({
      '{consolidation_type="multi"}': 0,
      '{consolidation_type="single"}': 0,
    });
    for (const name of ["n1", "n2"]) await runningNode(world, name, { ...small, pods: ["2500m"] });
    await world.pass(12);
    const timeouts = seriesOf("voluntary_disruption_consolidation_timeouts_total");
    expect(timeouts['{consolidation_type="multi"}']).toBeGreaterThan(0);
    expect(timeouts['{consolidation_type="single"}']).toBeGreaterThan(0);
    expect(await world.isTainted("n1")).toBe(false);
  });
});

describe("03:D-65 commands that do not hold", () => {
  const close = () => setBudgets({ nodes: "0" });
  const protect = (pod: string) => async () => {
    const body = { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } };
    await world.client.patch(builtInTypes.Pod, { name: pod, namespace: "default" }, merge(body));
  };
  const nominate = async () => world.cluster.nominate("kwok://n1");
  const empty = () => runningNode(world, "n1");
  const single = () => runningNode(world, "n1", { pods: ["1"] });
  const multi = async () => {
    for (const name of ["n1", "n2"]) await runningNode(world, name, { ...small, pods: ["2500m"] });
  };
  it.each([
    ["empty", "a budget that closed", 1, empty, close],
    ["empty", "a pod that came", 1, empty, () => world.create(runningPod("p", "n1", "1"))],
    ["empty", "a nomination", 1, empty, nominate],
    ["single", "a budget that closed", 1, single, close],
    ["single", "a pod that is protected now", 1, single, protect("n1-0")],
    ["single", "a nomination", 1, single, nominate],
    ["multi", "a budget that closed", 2, multi, close],
    ["multi", "a pod that is protected now", 2, multi, protect("n1-0")],
    ["multi", "a nomination", 2, multi, nominate],
  ] as const)("03:D-61 03:D-62 03:D-65 %s: %s is counted by node", async (type, _, nodes, build, change) => {
    world = await disruptionWorld();
    await build();
    await world.pass(11); // found, and waiting
    await change();
    await world.pass(15);
    expect(await world.isTainted("n1")).toBe(false);
    expect(seriesOf("voluntary_disruption_failed_validations_total")).toEqual({
      [`{consolidation_type="${type}"}`]: nodes,
    });
  });

  it("03:D-54 every node of a command that did not hold says which command it was", async () => {
    world = await disruptionWorld();
    await multi();
    await world.pass(11);
    await protect("n1-0")();
    await world.pass(17);
    for (const name of ["n1", "n2"]) {
      const rejected = (await world.events(name)).filter(({ reason }) => reason === "ConsolidationRejected");
      expect(rejected.map(({ message }) => message)).toContainEqual(
        expect.stringMatching(new RegExp(`^replace: \\[${name}\\] \\(part of 2-node consolidation\\).*, churn$`)),
      );
    }
  });

  it("03:D-54 after a command of several nodes did not hold, single nodes are looked at in the same pass", async () => {
    world = await disruptionWorld();
    await multi();
    await runningNode(world, "n3", { pods: ["1"] });
    await setBudgets({ nodes: "2" });
    await world.pass(11); // found at 10 s, due at 25 s
    await protect("n1-0")();
    await world.pass(13);
    world.evaluations.length = 0;
    await world.pass(2);
    expect(world.evaluations[0]).toBe("single");
  });

  it("03:D-57 a single node that did not hold says so", async () => {
    world = await disruptionWorld();
    await single();
    await world.pass(11);
    await protect("n1-0")();
    await world.pass(17);
    const reasons = (await world.events("n1")).map(({ reason }) => reason);
    expect(reasons).toEqual(expect.arrayContaining(["ConsolidationCandidate", "ConsolidationRejected"]));
  });
});
