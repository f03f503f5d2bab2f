import { afterEach, describe, expect, it } from "vitest";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import {
  addPool,
  type DisruptionWorld,
  disruptionWorld,
  eager,
  eventually,
  runningNode,
  runningPod,
  setConditions,
} from "./disruption-world.ts";

let world: DisruptionWorld;
afterEach(() => world.stop());

const held = { "karpenter.sh/do-not-disrupt": "true" };
const pdb = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "web", namespace: "default" },
  spec: { selector: { matchLabels: { app: "web" } }, maxUnavailable: 0 },
};
const merge = (body: object) => ({ kind: "merge", body }) as const;

/** A search every ten seconds, and the time a command waits. (03:D-1, D-60) */
const soon = 10 + 15 + 2;
/** Longer than any pass that is under way. */
const settle = 45;

/** A node that nothing is cheaper than, and whose pod fits no other. */
const fullNode = () => runningNode(world, "full", { type: "c-16x-amd64-linux", pods: ["15500m"] });

/** What holds `n1`, and how that ends without a change that upstream notices. (03:D-34) */
const openings: readonly (readonly [string, () => Promise<void>, () => Promise<unknown>])[] = [
  [
    "03:D-34 becomes consolidatable",
    () => runningNode(world, "n1", { pods: ["1"], conditions: ["Consolidatable=False"] }),
    async () => {
      const claim = await world.claim("n1");
      if (claim)
        await setConditions(world, claim, ["Launched", "Registered", "Initialized", "Consolidatable", "Ready"]);
    },
  ],
  [
    "03:D-34 has a pod whose budget opens",
    async () => {
      await world.create(pdb);
      await runningNode(world, "n1", { pods: ["1"] });
    },
    () =>
      world.client.patch(
        builtInTypes.PodDisruptionBudget,
        { name: "web", namespace: "default" },
        merge({ status: { disruptionsAllowed: 1 } }),
        { subresource: "status" },
      ),
  ],
  [
    "03:D-34 has a pod whose budget is deleted",
    async () => {
      await world.create(pdb);
      await runningNode(world, "n1", { pods: ["1"] });
    },
    () => world.client.delete(builtInTypes.PodDisruptionBudget, { name: "web", namespace: "default" }),
  ],
  [
    "03:D-34 has a pod that is protected no longer",
    async () => {
      await runningNode(world, "n1");
      await world.create(runningPod("p", "n1", "1", { annotations: held }));
    },
    () =>
      world.client.patch(
        builtInTypes.Pod,
        { name: "p", namespace: "default" },
        merge({ metadata: { annotations: { "karpenter.sh/do-not-disrupt": null } } }),
      ),
  ],
  [
    "03:D-34 has a protected pod that ends",
    async () => {
      await runningNode(world, "n1", { pods: ["1"] });
      await world.create(runningPod("p", "n1", "1", { annotations: held }));
    },
    () =>
      world.client.patch(
        builtInTypes.Pod,
        { name: "p", namespace: "default" },
        merge({ status: { phase: "Succeeded" } }),
        { subresource: "status" },
      ),
  ],
  [
    "03:D-34 is protected no longer",
    () => runningNode(world, "n1", { pods: ["1"], annotations: held }),
    () =>
      world.client.patch(
        builtInTypes.Node,
        { name: "n1" },
        merge({ metadata: { annotations: { "karpenter.sh/do-not-disrupt": null } } }),
      ),
  ],
  [
    "03:D-34 costs more than before",
    async () => {
      world.cloud.setPrice({ instanceType: "c-4x-amd64-linux" }, 0.0001);
      await runningNode(world, "n1", { type: "c-4x-amd64-linux", pods: ["1"] });
    },
    async () => world.cloud.setPrice({ instanceType: "c-4x-amd64-linux" }, 5),
  ],
];

describe("03:D-33 03:D-34 when a search is worth repeating", () => {
  it.each(openings)("%s: it is noticed within seconds", async (_title, hold, open) => {
    world = await disruptionWorld();
    await hold();
    await fullNode(); // something to look at, so that the search is remembered
    await world.pass(settle);
    expect(await world.isTainted("n1")).toBe(false);
    await open();
    await eventually(world, () => world.isTainted("n1"), soon);
  });

  it("03:D-33 03:D-58 what found nothing is not searched again for five minutes", async () => {
    world = await disruptionWorld();
    await fullNode();
    await world.pass(settle);
    const before = world.evaluations.length;
    await world.pass(200);
    expect(world.evaluations.length).toBe(before);
    await world.pass(150);
    expect(world.evaluations.length).toBeGreaterThan(before);
  });

  it("03:D-33 a protection that ends by itself is noticed when it ends", async () => {
    world = await disruptionWorld();
    await runningNode(world, "n1");
    const pod = await world.create(
      runningPod("p", "n1", "1", { annotations: { "karpenter.sh/do-not-disrupt": "2m" } }),
    );
    await world.status(pod, { startTime: new Date(world.clock.now()).toISOString() });
    await fullNode();
    await world.pass(100);
    expect(await world.isTainted("n1")).toBe(false);
    await eventually(world, () => world.isTainted("n1"), 20 + soon);
  });

  it.each([
    ["empty", []],
    ["underused", ["1"]],
  ])("03:D-33 only a budget holds an %s node: that it opens is noticed within seconds", async (_, pods) => {
    world = await disruptionWorld();
    // Every hour from now on for ten minutes nothing may go; a window says nothing when it ends.
    const minute = new Date(world.clock.now()).getUTCMinutes();
    const budgets = [{ nodes: "0", schedule: `${minute} * * * *`, duration: "10m" }];
    const disruption = { ...eager, budgets };
    await world.client.patch(karpenterTypes.NodePool, { name: "default" }, merge({ spec: { disruption } }));
    await runningNode(world, "n1", { pods });
    await fullNode();
    await world.pass(590);
    expect(await world.isTainted("n1")).toBe(false);
    await eventually(world, () => world.isTainted("n1"), 10 + soon);
  });

  it("03:D-60 a command waits fifteen seconds, not less", async () => {
    world = await disruptionWorld();
    await runningNode(world, "n1", { pods: ["1"] });
    const at = world.clock.now();
    await eventually(world, () => world.isTainted("n1"), soon);
    expect(world.clock.now() - at).toBeGreaterThanOrEqual(15_000);
  });

  it("03:D-1 while a claim is not launched nothing is disrupted", async () => {
    world = await disruptionWorld();
    await addPool(world, "other");
    const pending = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name: "new", labels: {} } };
    const nodeClassRef = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" };
    await world.create({ ...pending, spec: { requirements: [], nodeClassRef } });
    await runningNode(world, "n1", { pods: ["1"] });
    await world.pass(60);
    expect(await world.isTainted("n1")).toBe(false);
    await world.client.delete(karpenterTypes.NodeClaim, { name: "new" });
    await eventually(world, () => world.isTainted("n1"), soon);
  });
});
