import { afterEach, describe, expect, it } from "vitest";
import type { NodePool } from "../../../src/api/kinds/node-pool.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { deviceKinds } from "../../../src/controllers/device-views.ts";
import type { ResourceType } from "../../../src/kube/client.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { deviceClass, resourceClaim, resourceSlice } from "../../builders/devices.ts";
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
  spec: { selector: { matchLabels: { app: "budgeted" } }, maxUnavailable: 0 },
};
const merge = (body: object) => ({ kind: "merge", body }) as const;

/** A search every ten seconds, and the time a command waits. (03:D-1, D-60) */
const soon = 10 + 15 + 2;
/** Longer than any pass that is under way. */
const settle = 45;

/** A node that nothing is cheaper than, and whose pod fits no other. */
const fullNode = () => runningNode(world, "full", { type: "c-16x-amd64-linux", pods: ["15500m"] });

const unprotect = (name: string) =>
  world.client.patch(
    builtInTypes.Pod,
    { name, namespace: "default" },
    merge({ metadata: { annotations: { "karpenter.sh/do-not-disrupt": null } } }),
  );

/** A node whose pod a budget holds; it is the only one, so that there are other nodes to look at. */
const budgeted = async () => {
  await world.create(pdb);
  await runningNode(world, "n1");
  await world.create(runningPod("p", "n1", "1", { labels: { app: "budgeted" } }));
};
const patchPool = (body: object, options = {}) =>
  world.client.patch(karpenterTypes.NodePool, { name: "default" }, merge(body), options);
const setReady = async (status: "True" | "False") => {
  const { status: old } = (await world.get<KubeObject & NodePool>(karpenterTypes.NodePool, "default")) ?? {};
  const conditions = old?.conditions?.map((one) => (one.type === "Ready" ? { ...one, status } : one));
  await patchPool({ status: { conditions } }, { subresource: "status" });
};
const setTaints = (name: string, taints: readonly object[] | null) =>
  world.client.patch(builtInTypes.Node, { name }, merge({ spec: { taints } }));

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
    budgeted,
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
    budgeted,
    () => world.client.delete(builtInTypes.PodDisruptionBudget, { name: "web", namespace: "default" }),
  ],
  [
    "03:D-34 has a pod that its budget no longer selects",
    budgeted,
    () =>
      world.client.patch(
        builtInTypes.PodDisruptionBudget,
        { name: "web", namespace: "default" },
        merge({ spec: { selector: { matchLabels: { app: "other" } } } }),
      ),
  ],
  [
    "03:D-34 could be replaced once its pool is ready",
    async () => {
      await setReady("False");
      await runningNode(world, "n1", { pods: ["1"] });
    },
    () => setReady("True"),
  ],
  [
    "03:D-34 could go to a node that loses a taint",
    async () => {
      const requirements = [
        { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
        { key: "node.kubernetes.io/instance-type", operator: "In", values: ["c-4x-amd64-linux"] },
      ];
      await patchPool({ spec: { template: { spec: { requirements } } } });
      await runningNode(world, "n2", { pods: ["2"], conditions: ["Consolidatable=False"] });
      await setTaints("n2", [{ key: "example.com/closed", effect: "NoSchedule" }]);
      await runningNode(world, "n1", { type: "c-4x-amd64-linux", pods: ["1"] });
    },
    () => setTaints("n2", null),
  ],
  [
    "03:D-34 has a pod that is protected no longer",
    async () => {
      await runningNode(world, "n1");
      await world.create(runningPod("p", "n1", "1", { annotations: held }));
    },
    () => unprotect("p"),
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

  it("03:D-34 03:D-39a devices that a node publishes are noticed within seconds", async () => {
    world = await disruptionWorld({ settings: { ignoreDraRequests: false } });
    const [slices, claims, classes] = deviceKinds as [ResourceType, ResourceType, ResourceType];
    await world.client.create(classes, deviceClass());
    await world.client.create(claims, resourceClaim("gpu"));
    await runningNode(world, "n1");
    const pod = runningPod("p", "n1", "1") as { readonly spec: object };
    const resourceClaims = [{ name: "gpu", resourceClaimName: "gpu" }];
    await world.create({ ...pod, spec: { ...pod.spec, resourceClaims } } as KubeObject);
    await runningNode(world, "n2", { pods: ["10"], conditions: ["Consolidatable=False"] });
    await world.pass(settle);
    expect(await world.isTainted("n1")).toBe(false);
    const published = { pool: "n2", nodeName: "n2", ownerNode: "n2", devices: ["gpu-0"] };
    await world.client.create(slices, resourceSlice("of-n2", published));
    await eventually(world, () => world.isTainted("n1"), soon);
  });

  it("03:D-33 03:D-34 a protection that ends while a search is under way is noticed by the next", async () => {
    let isOpened = true;
    world = await disruptionWorld({
      openSearch: (method) => {
        // The cluster was looked at before, and single nodes are searched after it.
        if (method === "emptiness" && !isOpened) {
          isOpened = true;
          void unprotect("p");
        }
        return { mayContinue: () => true };
      },
    });
    await runningNode(world, "n1");
    await world.create(runningPod("p", "n1", "1", { annotations: held }));
    await fullNode();
    await world.pass(settle);
    isOpened = false;
    await world.create(runningPod("q", "n1", "1")); // something to search for
    await world.pass(12);
    expect(isOpened).toBe(true);
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
