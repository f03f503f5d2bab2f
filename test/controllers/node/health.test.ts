import { describe, expect, it } from "vitest";
import type { NodeCondition } from "../../../src/api/kubernetes/cluster-objects.ts";
import { annotations, labels } from "../../../src/api/labels.ts";
import type { RepairPolicy } from "../../../src/cloud/cloud-provider.ts";
import { defaultGates } from "../../../src/controllers/settings.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { beforeWrites } from "../../world/intercept-calls.ts";
import { claimNamed, nodeWithId } from "../node-claim/node-claim-world.ts";
import { managedNodeLabels, type NodeWorld, nodeWorld, now, protectedBy } from "./node-world.ts";

const minutes = 60_000;
const policies: readonly RepairPolicy[] = [
  { conditionType: "Ready", conditionStatus: "False", tolerationMs: 30 * minutes },
  { conditionType: "Ready", conditionStatus: "Unknown", tolerationMs: 30 * minutes },
  { conditionType: "BadNode", conditionStatus: "True", tolerationMs: 10 * minutes },
];

type Options = Parameters<typeof nodeWorld>[0];

/** Repair is switched on, and the cloud has policies. */
const repairing = (options: Options = {}): Promise<NodeWorld> =>
  nodeWorld({
    settings: { gates: { ...defaultGates, NodeRepair: true } },
    wrapProvider: (cloud) => ({ ...cloud, repairPolicies: policies }),
    ...options,
  });

const setConditions = (world: NodeWorld, conditions: readonly NodeCondition[], name = "node-a") =>
  world.patchNode(name, { status: { conditions } }, "status");

async function ill(world: NodeWorld, condition: Partial<NodeCondition> = {}, name = "node-a"): Promise<void> {
  const found = { type: "BadNode", status: "True", lastTransitionTime: now(world), ...condition };
  await setConditions(world, [{ type: "Ready", status: "True" }, found], name);
}

const isEnding = async (world: NodeWorld, name = "a") =>
  (await world.claim(name))?.metadata.deletionTimestamp !== undefined || (await world.claim(name)) === undefined;

/** Sound nodes beside the one a test is about. */
async function others(
  world: NodeWorld,
  count: number,
  told: Readonly<Record<string, string>> = managedNodeLabels,
): Promise<void> {
  for (let n = 0; n < count; n++) {
    await world.create(nodeWithId(`kwok://other-${n}`, { name: `other-${n}`, labels: told, taints: [] }));
  }
}

describe("a node that is ill", () => {
  it("03:R-5 03:R-6 is replaced when it has been tolerated for long enough", async () => {
    const world = await repairing();
    await world.registeredNode();
    await world.run(["one", "two"]);
    await world.pass(1);
    await ill(world);
    const { metadata } = await world.requireClaim("a");
    await world.pass(10 * 60 - 2);
    expect(await isEnding(world)).toBe(false);
    await world.pass(2);
    expect(await isEnding(world)).toBe(true);
    expect(world.logged("deleting unhealthy node")).toMatchObject([
      { level: "info", controller: "node.health", Node: { name: "node-a" }, NodeClaim: { name: "a" } },
    ]);
    const capacity_type = metadata.labels?.[labels.capacityType];
    const told = {
      reason: "unhealthy",
      nodepool: "default",
      capacity_type,
      consolidation_policy: "",
      termination_mode: "graceful",
    };
    const image_id = (await world.requireClaim("a")).status?.imageID ?? "";
    const unhealthy = { condition: "bad_node", nodepool: "default", capacity_type, image_id };
    expect(world.counted.filter(({ name }) => name.includes("disrupt"))).toEqual([
      { name: "nodeclaims_disrupted_total", labels: told, value: 1 },
      { name: "pods_disruption_initiated_total", labels: told, value: 2 },
      { name: "nodeclaims_unhealthy_disrupted_total", labels: unhealthy, value: 1 },
    ]);
  });

  it("03:R-5 Appendix B its pods go at once, past budgets and protection", async () => {
    const world = await repairing();
    await world.registeredNode();
    await world.run(["protected"], { metadata: protectedBy("true") });
    await world.run(["held"]);
    await world.budget(0);
    await ill(world);
    await world.pass(10 * 60 + 2);
    expect(await world.terminatingPods()).toEqual(["held", "protected"]);
    const grace = (await world.podNamed("held"))?.metadata.deletionGracePeriodSeconds;
    expect(grace).toBe(1);
    await world.passEndingPods(20);
    expect(await world.node("node-a")).toBeUndefined();
  });

  const sound: readonly [title: string, condition: Partial<NodeCondition>][] = [
    ["another condition", { type: "FakeHealthy" }],
    ["another status", { status: "False" }],
  ];
  it.each(sound)("03:R-1 %s is no illness", async (_, condition) => {
    const world = await repairing();
    await world.registeredNode();
    await ill(world, condition);
    await world.pass(3_600);
    expect(await isEnding(world)).toBe(false);
  });

  it("03:R-3 03:R-2 that recovers in time stays", async () => {
    const world = await repairing();
    await world.registeredNode();
    await ill(world);
    await world.pass(9 * 60);
    await ill(world, { status: "False" });
    await world.pass(3_600);
    expect(await isEnding(world)).toBe(false);
  });

  it("03:R-3 of several illnesses the one that is due first counts, to the second", async () => {
    const world = await repairing();
    await world.registeredNode();
    const since = now(world);
    const later = now(world, 60);
    await setConditions(world, [
      { type: "Ready", status: "False", lastTransitionTime: since }, // due after 30 minutes
      { type: "BadNode", status: "True", lastTransitionTime: later }, // due after 11
    ]);
    const dueAt = Date.parse(later) + 10 * minutes;
    await world.clock.advance(dueAt - 1 - world.clock.now());
    expect(await isEnding(world)).toBe(false);
    await world.clock.advance(1);
    await world.clock.advance(100);
    expect(await isEnding(world)).toBe(true);
    expect((await world.requireClaim("a")).metadata.annotations?.[annotations.terminationTimestamp]).toBe(
      now({ clock: { now: () => dueAt } }),
    );
    expect(world.countOf("nodeclaims_unhealthy_disrupted_total", { condition: "bad_node" })).toBe(1);
  });

  it("03:R-2 heartbeats do not make it look again", async () => {
    let looks = 0;
    const world = await repairing({
      wrapProvider: (cloud) => ({
        ...cloud,
        get repairPolicies() {
          looks += 1;
          return policies;
        },
      }),
    });
    await world.registeredNode();
    await ill(world);
    const before = looks;
    const { status } = (await world.node("node-a")) ?? {};
    for (let beat = 0; beat < 5; beat++) {
      const conditions = status?.conditions?.map((one) => ({ ...one, lastHeartbeatTime: now(world, beat) }));
      await setConditions(world, conditions ?? []);
    }
    expect(looks).toBe(before);
    await ill(world, { lastTransitionTime: now(world, -60) });
    expect(looks).toBeGreaterThan(before);
  });

  it("03:R-2 is left alone when it has no claim, or two", async () => {
    const world = await repairing();
    await world.registeredNode();
    await world.nodeWithoutClaim("kwok://stray");
    const { status } = await world.requireClaim("a");
    const twin = await world.create(claimNamed("twin", {}, { finalizers: ["example.com/hold"] }));
    await world.status(twin, { providerID: status?.providerID });
    await ill(world);
    await ill(world, {}, "stray");
    await world.pass(3_600);
    expect(await isEnding(world)).toBe(false);
    expect((await world.node("stray"))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it("03 §3 is left alone while repair is switched off", async () => {
    const world = await nodeWorld({ wrapProvider: (cloud) => ({ ...cloud, repairPolicies: policies }) });
    await world.registeredNode();
    await ill(world);
    await world.pass(3_600);
    expect(await isEnding(world)).toBe(false);
  });

  it("03:R-5 is replaced though it says do-not-disrupt, and whatever budgets its pool has", async () => {
    const world = await repairing();
    await world.create({
      apiVersion: "karpenter.sh/v1",
      kind: "NodePool",
      metadata: { name: "default" },
      spec: {
        disruption: { budgets: [{ nodes: "0" }] },
        template: {
          spec: {
            requirements: [],
            nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
          },
        },
      },
    });
    await world.registeredNode();
    await world.patchNode("node-a", { metadata: protectedBy("true") });
    await ill(world);
    await world.pass(10 * 60 + 1);
    expect(await isEnding(world)).toBe(true);
  });
});

describe("the deadline of a repair", () => {
  const deadlineOf = async (world: NodeWorld) =>
    (await world.requireClaim("a")).metadata.annotations?.[annotations.terminationTimestamp];

  it("03:R-5 is now, however long the claim would have had", async () => {
    const world = await repairing();
    await world.registeredNode("a", { spec: { terminationGracePeriod: "1h" } });
    await ill(world);
    const due = now(world, 10 * 60 - 1);
    await world.pass(10 * 60 + 2);
    expect(await deadlineOf(world)).toBe(due);
    expect(world.logged("annotated nodeclaim")).toMatchObject([{ [annotations.terminationTimestamp]: due }]);
  });

  it("03:R-5 one that has passed stays", async () => {
    const world = await repairing();
    await world.registeredNode();
    await world.setDeadline(-3_600);
    const before = await deadlineOf(world);
    await ill(world);
    await world.pass(10 * 60 + 1);
    expect(await isEnding(world)).toBe(true);
    expect(await deadlineOf(world)).toBe(before);
  });

  it("03:R-5 one to come is brought forward", async () => {
    const world = await repairing();
    await world.registeredNode();
    await world.setDeadline(7_200);
    await ill(world);
    const due = now(world, 10 * 60 - 1);
    await world.pass(10 * 60 + 1);
    expect(await deadlineOf(world)).toBe(due);
  });

  it("03:R-5 Appendix B frees a node whose end a protected pod holds", async () => {
    const world = await repairing();
    await world.registeredNode();
    await world.run(["precious"], { metadata: protectedBy("true") });
    await world.deleteNode();
    await world.pass(60);
    await ill(world);
    await world.pass(10 * 60 + 2);
    expect(await world.terminatingPods()).toEqual(["precious"]);
    expect(world.countOf("nodeclaims_disrupted_total")).toBe(0); // it was on its way out already
    await world.passEndingPods(20);
    expect(await world.node("node-a")).toBeUndefined();
  });
});

describe("the breaker", () => {
  it("03:R-4 holds when more than a fifth of the pool is ill, tells so, and looks again after five minutes", async () => {
    const world = await repairing();
    await world.registeredNode();
    await others(world, 9);
    for (const name of ["node-a", "other-0", "other-1"]) await ill(world, {}, name);
    await world.pass(15 * 60);
    expect(await isEnding(world)).toBe(false);
    expect(await world.events("node-a")).toContainEqual({
      type: "Warning",
      reason: "NodeRepairBlocked",
      message: "More than 20% of the nodes of nodepool default are unhealthy",
    });
    await ill(world, { status: "False" }, "other-0");
    await world.pass(5 * 60);
    expect(await isEnding(world)).toBe(true);
  });

  it("03:R-4 counts who is ill, however long", async () => {
    const world = await repairing();
    await world.registeredNode();
    await others(world, 4);
    await ill(world);
    await world.pass(10 * 60 - 10);
    await ill(world, {}, "other-0");
    await world.pass(20);
    expect(await isEnding(world)).toBe(false);
  });

  it("03:R-4 does not count other pools", async () => {
    const world = await repairing();
    await world.registeredNode();
    await others(world, 5, { [labels.nodePool]: "other" });
    for (let n = 0; n < 5; n++) await ill(world, {}, `other-${n}`);
    await ill(world);
    await world.pass(10 * 60 + 1);
    expect(await isEnding(world)).toBe(true);
  });

  it("03:R-4 a fifth is rounded up: one of three may be repaired", async () => {
    const world = await repairing();
    await world.registeredNode();
    await others(world, 2);
    await ill(world);
    await world.pass(10 * 60 + 1);
    expect(await isEnding(world)).toBe(true);
  });

  it("03:R-4 a claim without a pool is judged by the whole cluster", async () => {
    const world = await repairing();
    await world.registeredNode();
    await world.patchClaim("a", { metadata: { labels: { [labels.nodePool]: null } } });
    await others(world, 9, { [labels.nodePool]: "other" });
    for (const name of ["other-0", "other-1"]) await ill(world, {}, name);
    await ill(world);
    await world.pass(10 * 60 + 1);
    expect(await isEnding(world)).toBe(false);
    expect((await world.events("node-a")).map(({ message }) => message)).toContain(
      "More than 20% of the nodes of the cluster are unhealthy",
    );
    await ill(world, { status: "False" }, "other-0");
    await world.pass(5 * 60);
    expect(await isEnding(world)).toBe(true);
  });

  it("03:S-10 somebody who writes on the claim in between is no trouble", async () => {
    let isRivalDue = true;
    const through = beforeWrites(async ({ client, type, name, body }) => {
      if (!isRivalDue || !JSON.stringify(body).includes(annotations.terminationTimestamp)) return;
      isRivalDue = false;
      await client.patch(type, { name }, { kind: "merge", body: { metadata: { labels: { rival: "1" } } } });
    });
    const world = await repairing({ wrapClient: through });
    await world.registeredNode();
    await ill(world);
    await world.pass(10 * 60 + 2);
    expect(isRivalDue).toBe(false);
    expect(await isEnding(world)).toBe(true);
    expect(world.failures).toEqual([]);
    expect(await world.list(builtInTypes.Node)).toHaveLength(1);
  });

  it("03:R-5 it is replaced also if somebody keeps writing on the claim, and the node is well again a moment later", async () => {
    let rivals = 0;
    const through = beforeWrites(async ({ client, type, name, body }) => {
      if (!JSON.stringify(body).includes(annotations.terminationTimestamp)) return;
      const rival = { metadata: { labels: { rival: String(++rivals) } } };
      await client.patch(type, { name }, { kind: "merge", body: rival });
    });
    const world = await repairing({ wrapClient: through });
    await world.registeredNode();
    await world.pass(1);
    await ill(world, { lastTransitionTime: "2020-01-01T00:00:00Z" });
    await world.pass(0.1);
    await ill(world, { status: "False" });
    await world.pass(5);
    expect(rivals).toBe(1);
    expect(await isEnding(world)).toBe(true);
  });
});
