import { afterEach, describe, expect, it } from "vitest";
import { taints } from "../../../src/api/labels.ts";
import { defaultGates } from "../../../src/controllers/settings.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { beforeWrites, type ClientCall, interceptCalls } from "../../world/intercept-calls.ts";
import {
  addPool,
  type DisruptionWorld,
  disruptionWorld,
  eventually,
  type LiveClaim,
  runningNode,
  setConditions,
} from "./disruption-world.ts";

let world: DisruptionWorld;
afterEach(() => world.stop());

const isTaintWrite = ({ verb, type, body }: ClientCall): boolean =>
  verb === "patch" && type.kind === "Node" && JSON.stringify(body).includes(taints.disrupted.key);
const isReasonWrite = ({ verb, type, body }: ClientCall): boolean =>
  verb === "patch" && type.kind === "NodeClaim" && JSON.stringify(body).includes("DisruptionReason");
const isClaimCreation = ({ verb, type }: ClientCall): boolean => verb === "create" && type.kind === "NodeClaim";

const decisionsOf = (name: string) => [...world.series].filter(([key]) => key.startsWith(`${name}{`));

describe("03 §4.12 how a command starts", () => {
  it("03:D-70 03:D-71 03:D-74 the node is tainted, its claim says why, and the decision is counted once", async () => {
    world = await disruptionWorld();
    await runningNode(world, "n1", { pods: ["1"] });
    await eventually(world, async () => (await world.replacements()).length === 1);
    await world.pass(30);
    expect((await world.node("n1"))?.spec?.taints).toEqual([{ key: taints.disrupted.key, effect: "NoSchedule" }]);
    expect(await world.conditionOf("n1", "DisruptionReason")).toMatchObject({
      status: "True",
      reason: "Underutilized",
      message: "Underutilized",
    });
    expect(world.cluster.nodeByName("n1")?.isBeingDeleted).toBe(true);
    expect(await world.replacements()).toHaveLength(1);
    const own = 'consolidation_type="single",decision="replace"';
    expect(decisionsOf("voluntary_disruption_decisions_total")).toEqual([
      [`voluntary_disruption_decisions_total{${own},reason="underutilized"}`, 1],
    ]);
    expect(decisionsOf("voluntary_disruption_decisions_by_nodepool_total")).toEqual([
      [`voluntary_disruption_decisions_by_nodepool_total{${own},nodepool="default",reason="underutilized"}`, 1],
    ]);
  });

  it("03:D-71 03:D-73 first the marks, then the claim, and only then does the node count as leaving", async () => {
    const order: string[] = [];
    const isMarked = () => world.cluster.nodeByName("n1")?.isBeingDeleted ?? false;
    world = await disruptionWorld({
      wrapClient: beforeWrites((call) => {
        if (isTaintWrite(call)) order.push(`taint ${isMarked()}`);
        if (isReasonWrite(call)) order.push(`reason ${isMarked()}`);
        if (isClaimCreation(call)) order.push(`create ${isMarked()}`);
      }),
    });
    await runningNode(world, "n1", { pods: ["1"] });
    await eventually(world, async () => (await world.replacements()).length === 1);
    await world.pass(1);
    expect(order).toEqual(["taint false", "reason false", "create false"]);
    expect(isMarked()).toBe(true);
  });

  it("03:D-71 a replacement is not launched for a node that cannot be marked; the marks go", async () => {
    let isBroken = true;
    world = await disruptionWorld({
      wrapClient: beforeWrites((call) => {
        if (isBroken && isReasonWrite(call)) throw new Error("the server is busy");
      }),
    });
    await runningNode(world, "n1", { pods: ["1"] });
    await world.pass(45);
    expect(await world.replacements()).toEqual([]);
    expect(world.cluster.nodeByName("n1")?.isBeingDeleted).toBe(false);
    isBroken = false;
    await eventually(world, async () => (await world.replacements()).length === 1, 90);
  });

  it("03:D-71 of empty nodes those go that could be marked", async () => {
    world = await disruptionWorld({
      wrapClient: beforeWrites((call) => {
        if (isTaintWrite(call) && call.name === "n1") throw new Error("the server is busy");
      }),
    });
    await runningNode(world, "n1");
    await runningNode(world, "n2");
    await eventually(world, () => world.isDeleted("n2"));
    expect([await world.isTainted("n1"), await world.isDeleted("n1")]).toEqual([false, false]);
  });

  it("03:D-71 a condition that somebody else writes at the same time is not lost", async () => {
    let isFirst = true;
    world = await disruptionWorld({
      wrapClient: beforeWrites(async (call) => {
        if (!isFirst || !isReasonWrite(call)) return;
        isFirst = false;
        const now = await world.claim("n1");
        const drifted = { ...(await world.conditionOf("n1", "Ready")), type: "Drifted", reason: "NodePoolDrifted" };
        const body = { status: { conditions: [...(now?.status?.conditions ?? []), drifted] } };
        const patch = { kind: "merge", body } as const;
        await world.client.patch(karpenterTypes.NodeClaim, { name: "n1" }, patch, { subresource: "status" });
      }),
    });
    await runningNode(world, "n1", { pods: ["1"] });
    await eventually(world, async () => (await world.replacements()).length === 1);
    const types = ((await world.claim("n1"))?.status?.conditions ?? []).map(({ type }) => type);
    expect(isFirst).toBe(false);
    expect(types).toEqual(expect.arrayContaining(["Drifted", "DisruptionReason"]));
  });

  it("03:D-71 a taint that somebody else writes at the same time is not lost", async () => {
    let isFirst = true;
    world = await disruptionWorld({
      wrapClient: beforeWrites(async (call) => {
        if (!isFirst || !isTaintWrite(call)) return;
        isFirst = false;
        const body = { spec: { taints: [{ key: "example.com/mine", effect: "NoSchedule" }] } };
        await world.client.patch(builtInTypes.Node, { name: "n1" }, { kind: "merge", body });
      }),
    });
    await runningNode(world, "n1", { pods: ["1"] });
    await eventually(world, async () => (await world.replacements()).length === 1);
    expect((await world.node("n1"))?.spec?.taints?.map(({ key }) => key).sort()).toEqual([
      "example.com/mine",
      taints.disrupted.key,
    ]);
  });

  it("03 §10.2-9 a node that waiting commands count on is not taken by another: both would be refused for ever", async () => {
    world = await disruptionWorld();
    await runningNode(world, "n1", { type: "c-16x-amd64-linux", pods: ["3500m"] });
    // Its price for what it disrupts is lower, so it is looked at when n1 is on its way to it; alone it would be replaced.
    await runningNode(world, "large", { type: "c-16x-amd64-linux", pods: Array.from({ length: 6 }, () => "1") });
    await eventually(world, () => world.isTainted("n1"), 40);
    expect(await world.isTainted("large")).toBe(false);
    const failed = [...world.series.keys()].filter((name) => name.includes("failed_validations"));
    expect(failed).toEqual([]);
  });

  it("03:D-74 nodes that the pods are expected on are left alone for a while", async () => {
    world = await disruptionWorld();
    await runningNode(world, "n1", { type: "c-4x-amd64-linux", pods: ["1"] });
    await runningNode(world, "n2", { type: "c-4x-amd64-linux", pods: ["2", "500m"] });
    await eventually(world, () => world.isTainted("n1"));
    const { providerId = "" } = world.cluster.nodeByName("n2") ?? {};
    expect(world.cluster.isNominated(providerId)).toBe(true);
  });
});

describe("03:D-3 marks that nobody keeps", () => {
  const stale = { spec: { taints: [{ key: taints.disrupted.key, effect: "NoSchedule" }] } };
  const taint = (name: string) => world.client.patch(builtInTypes.Node, { name }, { kind: "merge", body: stale });

  it("03:D-3 a taint and a reason left by a process that died are removed", async () => {
    world = await disruptionWorld();
    await runningNode(world, "n1", { pods: ["15"], conditions: ["DisruptionReason"] });
    await taint("n1");
    await world.pass(11);
    expect(await world.isTainted("n1")).toBe(false);
    expect(await world.conditionOf("n1", "DisruptionReason")).toBeUndefined();
  });

  it("03:D-3 nodes on their way out and nodes that are not ours keep theirs", async () => {
    world = await disruptionWorld();
    await runningNode(world, "n1", { pods: ["15"] });
    await world.create({ apiVersion: "v1", kind: "Node", metadata: { name: "theirs" }, spec: { providerID: "x://y" } });
    await world.client.delete(karpenterTypes.NodeClaim, { name: "n1" });
    for (const name of ["n1", "theirs"]) await taint(name);
    await world.pass(30);
    expect([await world.isTainted("n1"), await world.isTainted("theirs")]).toEqual([true, true]);
  });

  it("03:D-3 02:S-36 a claim of a static pool is active again, also if the answer to the last write was lost", async () => {
    let isLost = false;
    world = await disruptionWorld({
      settings: { gates: { ...defaultGates, StaticCapacity: true } },
      wrapClient: (client) =>
        interceptCalls(client, async (call, proceed) => {
          if (isClaimCreation(call)) throw new Error("the server is busy");
          const answer = await proceed();
          const isClearing = call.type.kind === "NodeClaim" && call.verb === "patch" && !isReasonWrite(call);
          if (isLost || !isClearing) return answer;
          isLost = true;
          throw new Error("the answer is lost");
        }),
    });
    await addPool(world, "fixed", { replicas: 1 });
    await runningNode(world, "n1", { pool: "fixed", conditions: ["Drifted"] });
    await eventually(world, async () => isLost, 30);
    await world.pass(11);
    expect(world.cluster.nodePoolState.counts("fixed")).toMatchObject({ active: 1, pendingDisruption: 0 });
  });

  it("03:D-3 a node whose marks cannot be removed does not keep others from losing theirs", async () => {
    world = await disruptionWorld({
      wrapClient: beforeWrites(({ verb, type, name }) => {
        if (verb === "patch" && type.kind === "Node" && name === "n1") throw new Error("a webhook denies it");
      }),
    });
    for (const name of ["n1", "n2"]) await runningNode(world, name, { pods: ["15"] });
    for (const name of ["n1", "n2"]) await taint(name);
    await world.pass(11);
    expect([await world.isTainted("n1"), await world.isTainted("n2")]).toEqual([true, false]);
  });

  it("03:D-3 03 §8.3 after a restart the marks of the old process go, and the node is chosen anew", async () => {
    world = await disruptionWorld();
    await runningNode(world, "n1", { pods: ["1"] });
    await eventually(world, async () => (await world.replacements()).length === 1);
    const [replacement] = (await world.replacements()) as [LiveClaim];
    await setConditions(world, replacement, ["Launched", "Registered=False", "Initialized=False", "Ready=False"]);
    await world.restart();
    world.cluster.unmarkForDeletion("kwok://n1"); // a new process has an empty memory
    await eventually(world, async () => !(await world.isTainted("n1")), 15);
  });
});
