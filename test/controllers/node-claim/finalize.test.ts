import { describe, expect, it } from "vitest";
import { annotations, finalizers, labels } from "../../../src/api/labels.ts";
import type { CloudProvider } from "../../../src/cloud/cloud-provider.ts";
import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { lifecycleController } from "../../../src/controllers/node-claim/lifecycle.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import {
  claimNamed,
  foreignRef,
  type NodeClaimWorld,
  nodeClaimWorld,
  nodeWithId,
  recordedProvider,
  type Spec,
} from "./node-claim-world.ts";

const controllers = (dependencies: ControllerDependencies) => [lifecycleController(dependencies)];

async function running(
  spec: Spec = {},
  options: Partial<Parameters<typeof nodeClaimWorld>[0]> = {},
): Promise<NodeClaimWorld> {
  const world = await nodeClaimWorld({ controllers, ...options });
  const id = await world.launched("a", spec);
  await world.create(nodeWithId(id));
  await world.pass(1);
  return world;
}

/** What node termination does in the end. */
async function releaseNode(world: NodeClaimWorld, name = "node-1"): Promise<void> {
  await world.patchNode(name, { metadata: { finalizers: null } });
}

describe("finalization", () => {
  it("03:L-32 03:L-33 03:L-34 deletes the Node, then the machine, then goes", async () => {
    const world = await running();
    const { labels: told } = (await world.requireClaim("a")).metadata;
    await world.removeClaim("a");
    expect((await world.node())?.metadata.deletionTimestamp).toBeDefined();
    await world.pass(60);
    expect(await world.claim("a")).toBeDefined();
    expect(world.cloud.records()).toHaveLength(1);
    await releaseNode(world);
    expect(await world.condition("a", "InstanceTerminating")).toMatchObject({ status: "True" });
    expect((await world.requireClaim("a")).metadata.finalizers).toEqual([finalizers.termination]);
    await world.pass(10);
    expect(await world.claim("a")).toBeUndefined();
    expect(world.cloud.records()).toEqual([]);
    expect(world.logged("deleted nodeclaim")).toMatchObject([{ level: "info", NodeClaim: { name: "a" } }]);
    const [zone, capacityType] = [told?.[labels.zone], told?.[labels.capacityType]];
    const nodepool = "default";
    expect(world.counted.filter(({ name }) => name.startsWith("nodeclaims_"))).toEqual([
      { name: "nodeclaims_instance_termination_duration_seconds", labels: { nodepool }, value: expect.any(Number) },
      { name: "nodeclaims_termination_duration_seconds", labels: { nodepool }, value: expect.any(Number) },
      { name: "nodeclaims_terminated_total", labels: { nodepool, capacity_type: capacityType, zone }, value: 1 },
    ]);
    const [ending, all] = world.counted.filter(({ name }) => name.endsWith("duration_seconds"));
    expect(ending?.value).toBeGreaterThanOrEqual(4);
    expect(ending?.value).toBeLessThan(10);
    expect(all?.value).toBeGreaterThan(60);
    expect(world.failures).toEqual([]);
  });

  it("03:L-33 goes at once where nothing is left of a machine whose deletion was asked for", async () => {
    const wrapProvider = (provider: CloudProvider) => ({ ...provider, deletesAtOnce: true });
    const world = await nodeClaimWorld({ controllers, wrapProvider });
    await world.launched("a");
    await world.removeClaim("a");
    await world.pass(1);
    expect(await world.claim("a")).toBeUndefined();
  });

  it("03:L-1 leaves claims of others to others", async () => {
    const counting = recordedProvider();
    const world = await nodeClaimWorld({ controllers, wrapProvider: counting.cloud });
    const held = { finalizers: [finalizers.termination] };
    const foreign = await world.create(claimNamed("foreign", { nodeClassRef: foreignRef }, held));
    await world.status(foreign, { providerID: "kwok://x" });
    await world.removeClaim("foreign");
    await world.pass(60);
    expect(await world.claim("foreign")).toBeDefined();
    expect(counting.calls).toEqual([]);
  });

  it("03:L-33 03:K-6 Ready does not waver when the end of the machine begins", async () => {
    const world = await running();
    expect(await world.condition("a", "Ready")).toMatchObject({ status: "True" });
    await world.removeClaim("a");
    await releaseNode(world);
    const claim = await world.requireClaim("a");
    const { generation } = claim.metadata;
    expect(await world.condition("a", "Ready")).toMatchObject({ status: "True", observedGeneration: generation });
    for (const one of claim.status?.conditions ?? []) expect(one.observedGeneration).toBe(generation);
  });

  it("03:L-5 decided conditions follow the generation", async () => {
    const world = await running();
    const conditions = ((await world.requireClaim("a")).status?.conditions ?? []).map((one) => ({
      ...one,
      observedGeneration: 0,
    }));
    await world.patchClaim("a", { status: { conditions } }, "status");
    await world.patchNode("node-1", { metadata: { labels: { touched: "1" } } });
    for (const one of (await world.requireClaim("a")).status?.conditions ?? []) expect(one.observedGeneration).toBe(1);
    expect(await world.condition("a", "Ready")).toMatchObject({ status: "True" });
  });

  it("quantities written in an odd way are in nobody's way", async () => {
    const requests = { cpu: "0.50", memory: "1024Mi", "ephemeral-storage": "1e3" };
    const world = await running({ resources: { requests } });
    await world.removeClaim("a");
    await releaseNode(world);
    await world.pass(10);
    expect(await world.claim("a")).toBeUndefined();
  });

  it("03:L-33 an error of the cloud is tried again, and the finalizer stays", async () => {
    const world = await running();
    world.cloud.failNext("delete", { kind: "failed" });
    await world.removeClaim("a");
    await releaseNode(world);
    expect((await world.requireClaim("a")).metadata.finalizers).toEqual([finalizers.termination]);
    expect(world.failures).toMatchObject([{ kind: "reconcile-failed", key: "a" }]);
    await world.pass(20);
    expect(await world.claim("a")).toBeUndefined();
  });

  it("03:L-33 the finalizer stays for as long as the machine lives", async () => {
    const world = await running({}, { wrapProvider: (provider) => ({ ...provider, delete: () => Promise.resolve() }) });
    await world.removeClaim("a");
    await releaseNode(world);
    await world.pass(3_600);
    expect((await world.requireClaim("a")).metadata.finalizers).toEqual([finalizers.termination]);
  });

  it("03:L-32 several Nodes are deleted, and all of them waited for", async () => {
    const world = await running();
    const id = (await world.requireClaim("a")).status?.providerID ?? "";
    const twin = nodeWithId(id, { name: "node-2" });
    await world.create({ ...twin, metadata: { ...twin.metadata, finalizers: ["example.com/hold"] } });
    await world.removeClaim("a");
    for (const name of ["node-1", "node-2"]) {
      expect((await world.node(name))?.metadata.deletionTimestamp).toBeDefined();
    }
    await releaseNode(world);
    await world.pass(30);
    expect(await world.claim("a")).toBeDefined();
    await releaseNode(world, "node-2");
    await world.pass(10);
    expect(await world.claim("a")).toBeUndefined();
  });

  it("03:L-33 a claim that never got a machine goes without the cloud", async () => {
    const counting = recordedProvider({ create: () => Promise.reject(new Error("no")) });
    const world = await nodeClaimWorld({ controllers, wrapProvider: counting.cloud });
    await world.create(claimNamed("a"), { ...nodeWithId(""), spec: {} });
    await world.pass(1);
    await world.removeClaim("a");
    expect(await world.claim("a")).toBeUndefined();
    expect(counting.calls.filter((call) => call === "delete")).toEqual([]);
    expect(await world.node()).toBeDefined(); // a Node without provider id is nobody's
  });

  it("03:L-32 the Nodes of a claim that is not registered are left", async () => {
    const hook = { name: "never", registered: async () => ({ isPending: true }) };
    const world = await running({}, { wrapProvider: (provider) => ({ ...provider, registrationHooks: [hook] }) });
    await world.removeClaim("a");
    await world.pass(10);
    expect(await world.claim("a")).toBeUndefined();
    expect((await world.node())?.metadata.deletionTimestamp).toBeUndefined();
  });

  describe("03:L-31 the deadline", () => {
    const deadlineOf = async (world: NodeClaimWorld) =>
      (await world.requireClaim("a")).metadata.annotations?.[annotations.terminationTimestamp];

    it("is not set without a grace period", async () => {
      const world = await running();
      await world.removeClaim("a");
      expect(await deadlineOf(world)).toBeUndefined();
    });

    it("is the deletion plus the grace period, and told", async () => {
      const world = await running({ terminationGracePeriod: "5m" });
      await world.removeClaim("a");
      const { deletionTimestamp = "" } = (await world.requireClaim("a")).metadata;
      const deadline = `${new Date(Date.parse(deletionTimestamp) + 300_000).toISOString().slice(0, -5)}Z`;
      expect(await deadlineOf(world)).toBe(deadline);
      expect(await world.events("a")).toMatchObject([
        { reason: "TerminationGracePeriodExpiring", type: "Warning", message: expect.stringContaining(deadline) },
      ]);
      expect(world.logged("annotated nodeclaim")).toMatchObject([
        { level: "info", [annotations.terminationTimestamp]: deadline },
      ]);
    });

    it("is left as it is where somebody set it before", async () => {
      const world = await running({ terminationGracePeriod: "5m" });
      const earlier = "2026-01-01T00:00:00Z";
      await world.patchClaim("a", { metadata: { annotations: { [annotations.terminationTimestamp]: earlier } } });
      await world.removeClaim("a");
      expect(await deadlineOf(world)).toBe(earlier);
      expect(await world.events("a")).toEqual([]);
    });
  });

  it("03:L-30 without our finalizer there is nothing to do", async () => {
    const counting = recordedProvider();
    const world = await running({}, { wrapProvider: counting.cloud });
    await world.patchClaim("a", { metadata: { finalizers: ["example.com/hold"] } });
    expect((await world.requireClaim("a")).metadata.finalizers).toEqual(["example.com/hold", finalizers.termination]);
    await world.removeClaim("a");
    await world.patchClaim("a", { metadata: { finalizers: ["example.com/hold"] } });
    await world.client.patch(
      builtInTypes.Node,
      { name: "node-1" },
      { kind: "merge", body: { metadata: { finalizers: null } } },
    );
    await world.pass(30);
    expect(counting.calls).toEqual(["create"]);
    expect(await world.get(karpenterTypes.NodeClaim, "a")).toBeDefined();
  });
});
