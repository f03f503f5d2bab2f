import { describe, expect, it } from "vitest";
import { getCondition } from "../../../src/api/conditions/set-condition.ts";
import type { NodePool } from "../../../src/api/kinds/node-pool.ts";
import type { Pod } from "../../../src/api/kubernetes/pod.ts";
import { finalizers, labels, taints } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import type { HookResult, RegistrationHook } from "../../../src/cloud/cloud-provider.ts";
import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import type { NodeKubeObject } from "../../../src/controllers/node-claim/claim-lookups.ts";
import { lifecycleController } from "../../../src/controllers/node-claim/lifecycle.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { VirtualClock } from "../../../src/util/virtual-clock.ts";
import { nodePool } from "../../builders/node-pool.ts";
import { pod } from "../../builders/pod.ts";
import { beforeWrites } from "../../world/intercept-calls.ts";
import { startAt } from "../controller-world.ts";
import { podObject, unschedulable } from "../provisioning/provisioning-world.ts";
import { claimNamed, foreignRef, type NodeClaimWorld, nodeClaimWorld, nodeWithId } from "./node-claim-world.ts";

const controllers = (dependencies: ControllerDependencies) => [lifecycleController(dependencies)];
const waitFor = { key: "wait", value: "a", effect: "NoSchedule" } as const;
const dedicated = { key: "dedicated", value: "b", effect: "NoExecute" } as const;

function keysOf(node: NodeKubeObject | undefined): readonly string[] {
  return (node?.spec?.taints ?? []).map(({ key }) => key);
}

describe("registration", () => {
  it("03:L-8 03:L-13 03:L-14 opens the Node with the claim's provider id, once", async () => {
    const world = await nodeClaimWorld({ controllers });
    const id = await world.launched("a");
    await world.create(nodeWithId("kwok://another", { name: "other" }), nodeWithId(id));
    await world.pass(1);
    const node = await world.node();
    expect(node?.metadata.labels?.[labels.registered]).toBe("true");
    expect(keysOf(node)).not.toContain(taints.unregistered.key);
    expect((await world.requireClaim("a")).status?.nodeName).toBe("node-1");
    expect(await world.condition("a", "Registered")).toMatchObject({ status: "True", reason: "Registered" });
    expect(keysOf(await world.node("other"))).toContain(taints.unregistered.key);
    expect(world.logged("registered nodeclaim")).toMatchObject([{ level: "info", Node: { name: "node-1" } }]);
    const { metadata } = await world.requireClaim("a");
    expect(world.counted.filter(({ name }) => name === "nodes_created_total")).toEqual([
      {
        name: "nodes_created_total",
        labels: { nodepool: "default", zone: metadata.labels?.[labels.zone] },
        value: 1,
      },
    ]);
    expect(await world.events("a")).toEqual([]);
  });

  const readyNode = (id: string) => {
    const node = nodeWithId(id);
    return { ...node, status: { ...(node.status as object), conditions: [{ type: "Ready", status: "True" }] } };
  };

  it("02:L-46 a Node that joins ready keeps its taint until the scheduler has tried the pods that wait", async () => {
    const world = await nodeClaimWorld({ controllers });
    const id = await world.launched("a");
    const empty = await world.launched("empty");
    await world.status(await world.create<KubeObject>(podObject(pod().named("web"))), unschedulable);
    world.cluster.plannedPods.plan("default/web", "a");
    const other = readyNode(empty);
    await world.create(readyNode(id), { ...other, metadata: { ...other.metadata, name: "other" } });
    const state = async () => {
      const [waiting] = await world.list<KubeObject & Pod>(builtInTypes.Pod);
      return [keysOf(await world.node()).includes(taints.unregistered.key), waiting?.status?.nominatedNodeName];
    };
    await world.pass(0.05);
    // A change of the Node wakes the claim too.
    const patch = { kind: "merge", body: { metadata: { labels: { touched: "true" } } } } as const;
    await world.client.patch(builtInTypes.Node, { name: "node-1" }, patch);
    await world.pass(0.04);
    expect(await state()).toEqual([true, undefined]);
    expect(keysOf(await world.node("other"))).not.toContain(taints.unregistered.key);
    await world.pass(0.02);
    expect(await state()).toEqual([false, "node-1"]);
  });

  const plannedOn = async (world: NodeClaimWorld, claim: string): Promise<void> => {
    await world.status(await world.create<KubeObject>(podObject(pod().named("web"))), unschedulable);
    world.cluster.plannedPods.plan("default/web", claim);
  };
  it.each([
    { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" },
    { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" },
    { key: "readiness.k8s.io/network", effect: "NoSchedule" },
  ])(
    "02:L-47 a Node that is not ready keeps its taint until it is and $key is gone, if pods are planned on it",
    async (notReady) => {
      const world = await nodeClaimWorld({ controllers });
      const id = await world.launched("a");
      const empty = await world.launched("empty");
      await plannedOn(world, "a");
      await world.create(nodeWithId(id, { isReady: false }), nodeWithId(empty, { name: "other", isReady: false }));
      await world.pass(20);
      expect(keysOf(await world.node("other"))).not.toContain(taints.unregistered.key);
      expect(keysOf(await world.node())).toContain(taints.unregistered.key);
      expect((await world.node())?.metadata.finalizers).toContain(finalizers.termination);
      const message = "the node has joined and is not ready; pods planned on it wait";
      expect(await world.condition("a", "Registered")).toMatchObject({
        status: "Unknown",
        reason: "NodeNotReady",
        message,
      });

      const tainted = { spec: { taints: [taints.unregistered, notReady] } };
      await world.client.patch(builtInTypes.Node, { name: "node-1" }, { kind: "merge", body: tainted });
      await world.status(await world.client.get(builtInTypes.Node, { name: "node-1" }), readyNode(id).status);
      await world.pass(1);
      expect(keysOf(await world.node())).toContain(taints.unregistered.key); // taints for not being ready go later

      const opened = { spec: { taints: [taints.unregistered] } };
      await world.client.patch(builtInTypes.Node, { name: "node-1" }, { kind: "merge", body: opened });
      await world.pass(0.2);
      expect(keysOf(await world.node())).toEqual([]);
      const [nominated] = await world.list<KubeObject & Pod>(builtInTypes.Pod);
      expect(nominated?.status?.nominatedNodeName).toBe("node-1");
    },
  );

  it("02:L-47 a Node that does not become ready is opened after half a minute: what makes it ready may need that", async () => {
    const world = await nodeClaimWorld({ controllers });
    const id = await world.launched("a");
    await plannedOn(world, "a");
    await world.create(nodeWithId(id, { isReady: false }));
    await world.pass(29);
    expect(keysOf(await world.node())).toContain(taints.unregistered.key);
    await world.pass(2);
    expect(keysOf(await world.node())).not.toContain(taints.unregistered.key);
    expect(await world.condition("a", "Registered")).toMatchObject({ status: "True" });
  });

  it("02:L-46 a Node that joined without the taint has nothing to wait for", async () => {
    const world = await nodeClaimWorld({ controllers });
    const node = readyNode(await world.launched("a"));
    await world.status(await world.create<KubeObject>(podObject(pod().named("web"))), unschedulable);
    world.cluster.plannedPods.plan("default/web", "a");
    await world.create({ ...node, spec: { ...(node.spec as object), taints: [] } });
    const [nominated] = await world.list<KubeObject & Pod>(builtInTypes.Pod);
    expect(nominated?.status?.nominatedNodeName).toBe("node-1");
  });

  it("02:L-41 pods planned on a Node that is ready are nominated before its taint goes", async () => {
    const writes: string[] = [];
    const world = await nodeClaimWorld({
      controllers,
      wrapClient: beforeWrites(({ type, subresource = "" }) => writes.push(`${type.plural}/${subresource}`)),
    });
    const id = await world.launched("a");
    const stored = await world.create<KubeObject>(podObject(pod().named("web")));
    await world.status(stored, unschedulable);
    world.cluster.plannedPods.plan("default/web", "a");
    writes.splice(0);
    await world.create(readyNode(id));
    await world.pass(1);
    expect(writes.filter((write) => write === "pods/status" || write === "nodes/").slice(0, 2)).toEqual([
      "pods/status",
      "nodes/",
    ]);
    const [nominated] = await world.list<KubeObject & Pod>(builtInTypes.Pod);
    expect(nominated?.status?.nominatedNodeName).toBe("node-1");
  });

  it("02:L-41 a planned pod that is gone keeps neither the others nor the Node waiting", async () => {
    const world = await nodeClaimWorld({ controllers });
    const id = await world.launched("a");
    await world.status(await world.create<KubeObject>(podObject(pod().named("web"))), unschedulable);
    for (const name of ["gone", "web"]) world.cluster.plannedPods.plan(`default/${name}`, "a");
    await world.create(readyNode(id));
    await world.pass(1);
    const [nominated] = await world.list<KubeObject & Pod>(builtInTypes.Pod);
    expect(nominated?.status?.nominatedNodeName).toBe("node-1");
    expect(keysOf(await world.node())).not.toContain(taints.unregistered.key);
    expect(world.failures).toEqual([]);
  });

  it("03:L-4 03:L-8 finds a Node that joined while the claim's provider id was being written", async () => {
    const clock = new VirtualClock({ startAt });
    const wrapClient = beforeWrites(async ({ type, body, client }) => {
      const id = (body as { status?: { providerID?: string } }).status?.providerID;
      if (type.kind !== "NodeClaim" || id === undefined) return;
      await client.create(builtInTypes.Node, nodeWithId(id));
      await clock.sleep(500); // the Node's event arrives, and no claim has its provider id yet
    });
    const world = await nodeClaimWorld({ controllers, clock, wrapClient });
    await world.launched("a");
    await world.pass(2);
    expect(await world.condition("a", "Registered")).toMatchObject({ status: "True" });
  });

  it("03:L-11 makes the Node the claim's own: finalizer, one owner, labels and annotations", async () => {
    const world = await nodeClaimWorld({ controllers });
    const told = { labels: { team: "x", [labels.hostname]: "mine" }, annotations: { note: "y" } };
    const id = await world.launched("a", {}, told);
    await world.create(nodeWithId(id, { labels: { team: "old", own: "1" }, annotations: { note: "old", kept: "z" } }));
    await world.pass(1);
    await world.patchNode("node-1", { metadata: { labels: { later: "2" } } });
    const node = await world.node();
    const { uid } = (await world.requireClaim("a")).metadata;
    expect(node?.metadata.finalizers).toEqual([finalizers.termination]);
    expect(node?.metadata.ownerReferences).toEqual([
      { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "a", uid, blockOwnerDeletion: true },
    ]);
    expect(node?.metadata.labels).toMatchObject({ team: "x", own: "1", later: "2", [labels.hostname]: "mine" });
    expect(node?.metadata.annotations).toMatchObject({ note: "y", kept: "z" });
  });

  it("03:L-11 is not held up by what others write to the Node meanwhile, and keeps it", async () => {
    const added = { key: "node.kubernetes.io/disk-pressure", effect: "NoSchedule" } as const;
    const changes = [
      { metadata: { annotations: { ttl: "0" }, labels: { later: "2" } } },
      { spec: { taints: [taints.unregistered, added] } }, // a list that the controller is about to replace
    ];
    const patches: unknown[] = [];
    const wrapClient = beforeWrites(async ({ type, name, body, verb, client }) => {
      if (type.kind !== "Node" || verb !== "patch" || !Array.isArray(body)) return;
      patches.push(body);
      const change = changes.shift();
      if (change !== undefined) await client.patch(builtInTypes.Node, { name }, { kind: "merge", body: change });
    });
    const world = await nodeClaimWorld({ controllers, wrapClient });
    const id = await world.launched("a");
    await world.create(nodeWithId(await world.launched("b"), { name: "other" }));
    await world.pass(0.2);
    expect(keysOf(await world.node("other"))).not.toContain(taints.unregistered.key);
    expect((await world.node("other"))?.metadata).toMatchObject({ annotations: { ttl: "0" }, labels: { later: "2" } });
    expect(patches).toHaveLength(1);
    await world.create(nodeWithId(id));
    await world.pass(0.2);
    expect(keysOf(await world.node())).toEqual([added.key]);
    expect(world.failures).toEqual([]);
  });

  it("03:L-11 an owner that is there already is not added again", async () => {
    const world = await nodeClaimWorld({ controllers });
    const id = await world.launched("a");
    const { uid = "" } = (await world.requireClaim("a")).metadata;
    const owner = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "a", uid, blockOwnerDeletion: true };
    const node = nodeWithId(id);
    await world.create({ ...node, metadata: { ...node.metadata, ownerReferences: [owner] } });
    await world.pass(1);
    expect((await world.node())?.metadata.ownerReferences).toEqual([owner]);
  });

  it("03:L-1 leaves the Node of another provider's claim alone", async () => {
    const world = await nodeClaimWorld({ controllers });
    const foreign = await world.create(claimNamed("foreign", { nodeClassRef: foreignRef }));
    await world.status(foreign, { providerID: "other://1" });
    await world.create(nodeWithId("other://1"));
    await world.pass(1);
    expect((await world.node())?.metadata.finalizers).toBeUndefined();
    expect(keysOf(await world.node())).toEqual([taints.unregistered.key]);
  });

  it("03:L-9 several Nodes that say they are the machine are a failure", async () => {
    const world = await nodeClaimWorld({
      controllers,
      wrapProvider: (provider) => ({
        ...provider,
        create: async (claim) => ({ ...(await provider.create(claim)), providerId: "kwok://twin" }),
      }),
    });
    await world.create(...["one", "two"].map((name) => nodeWithId("kwok://twin", { name })));
    await world.launched("a");
    expect(await world.condition("a", "Registered")).toMatchObject({ status: "False", reason: "MultipleNodesFound" });
    expect(keysOf(await world.node("one"))).toEqual([taints.unregistered.key]);
  });

  it("03:L-10 a Node without the protective taint is registered all the same, with a warning", async () => {
    const world = await nodeClaimWorld({ controllers });
    const id = await world.launched("a");
    await world.create(nodeWithId(id, { taints: [] }));
    await world.pass(1);
    expect(await world.condition("a", "Registered")).toMatchObject({ status: "True" });
    expect(await world.events("a")).toMatchObject([{ reason: "UnregisteredTaintMissing", type: "Warning" }]);
    expect(world.logged("node claim registration error")).toMatchObject([
      { level: "error", taint: taints.unregistered.key },
    ]);
  });

  describe("03:L-11 taints", () => {
    const spec = { taints: [dedicated], startupTaints: [waitFor] };
    const worn = { ...dedicated, value: "own" };

    it("are put on the Node, where its own of the same key and effect stay", async () => {
      const world = await nodeClaimWorld({ controllers });
      const id = await world.launched("a", spec);
      await world.create(nodeWithId(id, { taints: [taints.unregistered, worn] }));
      await world.pass(1);
      expect((await world.node())?.spec?.taints).toMatchObject([worn, waitFor]);
    });

    it.each([
      { value: "true", expected: [] as string[] },
      { value: "false", expected: ["dedicated", "wait"] },
    ])("opt-out label $value gives $expected", async ({ value, expected }) => {
      const world = await nodeClaimWorld({ controllers });
      const id = await world.launched("a", spec);
      await world.create(nodeWithId(id, { labels: { [labels.doNotSyncTaints]: value } }));
      await world.pass(1);
      expect(keysOf(await world.node())).toEqual(expected);
      expect((await world.node())?.metadata.labels?.[labels.registered]).toBe("true");
    });

    it("03:L-15 startup taints are not put back", async () => {
      const world = await nodeClaimWorld({ controllers });
      const id = await world.launched("a", spec);
      await world.create(nodeWithId(id));
      await world.pass(1);
      expect(keysOf(await world.node())).toEqual(["dedicated", "wait"]);
      await world.patchNode("node-1", { spec: { taints: [dedicated] } });
      await world.pass(5);
      expect(keysOf(await world.node())).toEqual(["dedicated"]);
    });
  });

  describe("03:P-21 the pool's health", () => {
    const type = "NodeRegistrationHealthy";
    const healthOf = async (world: NodeClaimWorld) => {
      const pool = await world.get<NodePool>(karpenterTypes.NodePool, "default");
      return pool && getCondition(pool, type)?.status;
    };

    async function withPool(results: readonly boolean[]): Promise<NodeClaimWorld> {
      const world = await nodeClaimWorld({ controllers });
      const pool = await world.create<NodePool>(nodePool().build([]).nodePool);
      const condition = { type, status: "False", reason: "RegistrationFailed", message: "x" };
      const conditions = [{ ...condition, lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1 }];
      await world.status(pool, { nodes: 0, conditions });
      const uid = pool.metadata.uid ?? "";
      world.dependencies.registrationHealth.set(uid, results);
      const owner = { apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "default", uid };
      const id = await world.launched("a", {}, { ownerReferences: [owner] });
      await world.create(nodeWithId(id));
      await world.pass(1);
      return world;
    }

    it("is True after a success", async () => {
      expect(await healthOf(await withPool([]))).toBe("True");
    });

    it("stays False after a success that follows two failures", async () => {
      const world = await withPool([false, false]);
      expect(await healthOf(world)).toBe("False");
      const uid = (await world.get<NodePool>(karpenterTypes.NodePool, "default"))?.metadata.uid ?? "";
      expect(world.dependencies.registrationHealth.window(uid)).toEqual([false, false, true]);
    });

    it("is no matter where the pool is gone", async () => {
      const world = await nodeClaimWorld({ controllers });
      const owner = { apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "default", uid: "gone" };
      const id = await world.launched("a", {}, { ownerReferences: [owner] });
      await world.create(nodeWithId(id));
      await world.pass(1);
      expect(await world.condition("a", "Registered")).toMatchObject({ status: "True" });
      expect(world.failures).toEqual([]);
    });
  });
});

describe("registration hooks", () => {
  type Answer = HookResult | Error;
  const passes: Answer = { isPending: false };
  const pends: Answer = { isPending: true, afterMs: 5_000 };

  function hook(name: string, ...answers: readonly Answer[]): RegistrationHook {
    const left = [...answers];
    return {
      name,
      registered: async () => {
        const answer = (left.length > 1 ? left.shift() : left[0]) ?? passes;
        if (answer instanceof Error) throw answer;
        return answer;
      },
    };
  }

  async function joined(registrationHooks: readonly RegistrationHook[] | undefined): Promise<NodeClaimWorld> {
    const world = await nodeClaimWorld({
      controllers,
      wrapProvider: (provider) => ({ ...provider, registrationHooks }),
    });
    const id = await world.launched("a", { startupTaints: [waitFor] });
    await world.create(nodeWithId(id));
    await world.pass(1);
    return world;
  }

  it.each([
    { what: "no list", hooks: undefined },
    { what: "an empty list", hooks: [] },
    { what: "one that passes", hooks: [hook("one", passes)] },
    { what: "several that pass", hooks: [hook("one", passes), hook("two", passes)] },
  ])("03:L-12 $what lets the node register", async ({ hooks }) => {
    const world = await joined(hooks);
    expect(await world.condition("a", "Registered")).toMatchObject({ status: "True" });
    expect(keysOf(await world.node())).toEqual(["wait"]);
  });

  it("03:L-12 a pending hook keeps the taint, while everything else is on the node", async () => {
    const world = await joined([hook("one", pends)]);
    expect(await world.condition("a", "Registered")).toMatchObject({
      status: "Unknown",
      reason: "RegistrationHookPending",
      message: "one",
    });
    const node = await world.node();
    expect(keysOf(node)).toEqual([taints.unregistered.key, "wait"]);
    expect(node?.metadata.finalizers).toEqual([finalizers.termination]);
    expect(node?.metadata.labels?.[labels.registered]).toBeUndefined();
    expect(world.counted).toEqual([]);
  });

  it("03:L-12 every hook that is pending or failed is named, and errors are reported", async () => {
    const world = await joined([
      hook("one", pends),
      hook("two", passes),
      hook("three", new Error("no")),
      hook("four", new Error("never")),
    ]);
    expect(await world.condition("a", "Registered")).toMatchObject({ message: "one, three, four" });
    expect(keysOf(await world.node())).toContain(taints.unregistered.key);
    expect(world.failures[0]).toMatchObject({
      kind: "reconcile-failed",
      error: { message: "registration hook three: no; registration hook four: never" },
    });
  });

  it("03:L-12 a second hook alone can hold it up", async () => {
    const world = await joined([hook("one", passes), hook("two", pends)]);
    expect(await world.condition("a", "Registered")).toMatchObject({ status: "Unknown", message: "two" });
  });

  it("03:L-12 is asked again after the shortest wait, and passes in the end", async () => {
    const asked: number[] = [];
    const until = (name: string, seconds: number, afterMs: number): RegistrationHook => ({
      name,
      registered: async () => {
        const now = (world.clock.now() - startAt) / 1_000;
        if (name === "quick") asked.push(Math.floor(now));
        return { isPending: now < seconds, afterMs };
      },
    });
    const hooks: RegistrationHook[] = [];
    const world = await nodeClaimWorld({
      controllers,
      wrapProvider: (provider) => ({ ...provider, registrationHooks: hooks }),
    });
    hooks.push(until("slow", 3, 60_000), until("quick", 5, 5_000));
    const id = await world.launched("a");
    await world.create(nodeWithId(id));
    await world.pass(30);
    expect(await world.condition("a", "Registered")).toMatchObject({
      status: "True",
      lastTransitionTime: "2026-01-01T00:00:06Z",
    });
    expect([...new Set(asked)]).toEqual([1, 6]);
  });

  it("03:L-13 labels a hook asks for reach claim and Node", async () => {
    const world = await joined([hook("one", { isPending: false, labels: { hooked: "yes" } })]);
    expect((await world.requireClaim("a")).metadata.labels).toMatchObject({ hooked: "yes" });
    expect((await world.node())?.metadata.labels).toMatchObject({ hooked: "yes", [labels.registered]: "true" });
  });
});
