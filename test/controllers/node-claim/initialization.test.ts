import { describe, expect, it } from "vitest";
import { annotations, labels } from "../../../src/api/labels.ts";
import type { CloudProvider } from "../../../src/cloud/cloud-provider.ts";
import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { lifecycleController } from "../../../src/controllers/node-claim/lifecycle.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import {
  claimNamed,
  foreignRef,
  type NodeChanges,
  type NodeClaimWorld,
  nodeClaimWorld,
  nodeWithId,
  type Spec,
} from "./node-claim-world.ts";

const controllers = (dependencies: ControllerDependencies) => [lifecycleController(dependencies)];
const ready = { status: { conditions: [{ type: "Ready", status: "True" }] } };

/** The catalogue has no devices: the cloud is not told of them. */
const withoutDevices = (provider: CloudProvider): CloudProvider => ({
  ...provider,
  create: ({ spec: { resources, ...spec }, ...claim }) => provider.create({ ...claim, spec }),
});

async function joined(spec: Spec = {}, node: NodeChanges = {}): Promise<NodeClaimWorld> {
  const world = await nodeClaimWorld({ controllers, wrapProvider: withoutDevices });
  const id = await world.launched("a", spec);
  await world.create(nodeWithId(id, node));
  await world.pass(1);
  return world;
}

const initialized = (world: NodeClaimWorld) => world.condition("a", "Initialized");

describe("initialization", () => {
  it("03:L-17 marks claim and Node when everything is there", async () => {
    const world = await joined({ resources: { requests: { cpu: "1", memory: "1Gi" } } });
    expect(await initialized(world)).toMatchObject({ status: "True", reason: "Initialized" });
    expect(await world.condition("a", "Ready")).toMatchObject({ status: "True" });
    expect((await world.node())?.metadata.labels?.[labels.initialized]).toBe("true");
    expect(world.logged("initialized nodeclaim")).toMatchObject([{ level: "info", allocatable: { cpu: "4" } }]);
  });

  it("not before the claim is registered", async () => {
    const world = await nodeClaimWorld({ controllers });
    await world.launched("a");
    await world.create(nodeWithId("kwok://another"));
    await world.pass(5);
    expect(await initialized(world)).toMatchObject({ status: "Unknown", reason: "AwaitingReconciliation" });
    expect((await world.node())?.metadata.labels?.[labels.initialized]).toBeUndefined();
  });

  it("03:L-1 leaves the Node of another provider's claim alone", async () => {
    const world = await nodeClaimWorld({ controllers });
    const foreign = await world.create(claimNamed("a", { nodeClassRef: foreignRef }));
    const registered = { type: "Registered", status: "True", reason: "x", message: "" };
    const conditions = [{ ...registered, lastTransitionTime: "2026-01-01T00:00:00Z" }];
    await world.status(foreign, { providerID: "other://1", conditions });
    await world.create(nodeWithId("other://1", { taints: [] }));
    await world.pass(5);
    expect(await initialized(world)).toBeUndefined();
    expect((await world.node())?.metadata.labels?.[labels.initialized]).toBeUndefined();
  });

  it("waits until the Node is ready", async () => {
    const world = await joined({}, { isReady: false });
    expect(await initialized(world)).toMatchObject({ status: "Unknown", reason: "NodeNotReady" });
    expect((await world.node())?.metadata.labels?.[labels.initialized]).toBeUndefined();
    await world.patchNode("node-1", ready, "status");
    expect(await initialized(world)).toMatchObject({ status: "True" });
  });

  it("waits for a resource a device plugin has yet to report", async () => {
    const world = await joined(
      { resources: { requests: { cpu: "1", "vendor.com/gpu": "1", "vendor.com/none": "0" } } },
      { allocatable: { cpu: "4", "vendor.com/gpu": "0" } },
    );
    expect(await initialized(world)).toMatchObject({ status: "Unknown", reason: "ResourceNotRegistered" });
    expect((await initialized(world))?.message).toContain("vendor.com/gpu");
    await world.patchNode("node-1", { status: { allocatable: { "vendor.com/gpu": "2" } } }, "status");
    expect(await initialized(world)).toMatchObject({ status: "True" });
  });

  it.each([
    { reason: "StartupTaintsExist", taint: { key: "wait", value: "v", effect: "NoSchedule" }, isStartup: true },
    { reason: "KnownEphemeralTaintsExist", taint: { key: "node.kubernetes.io/not-ready", effect: "NoExecute" } },
    { reason: "KnownEphemeralTaintsExist", taint: { key: "node.kubernetes.io/unreachable", effect: "NoSchedule" } },
    {
      reason: "KnownEphemeralTaintsExist",
      taint: { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "no", effect: "NoSchedule" },
    },
    { reason: "KnownEphemeralTaintsExist", taint: { key: "readiness.k8s.io/network", effect: "NoSchedule" } },
  ])("waits until taint $taint.key is gone, as $reason", async ({ reason, taint, isStartup }) => {
    const startupTaints = isStartup ? [taint as { key: string; effect: "NoSchedule" }] : [];
    const world = await joined({ startupTaints }, { taints: [taint] });
    expect(await initialized(world)).toMatchObject({ status: "Unknown", reason });
    expect((await initialized(world))?.message).toContain(taint.key);
    await world.patchNode("node-1", { spec: { taints: [] } });
    expect(await initialized(world)).toMatchObject({ status: "True" });
  });

  it("an ephemeral key with another effect is an ordinary taint", async () => {
    const world = await joined({}, { taints: [{ key: "node.kubernetes.io/unreachable", effect: "NoExecute" }] });
    expect(await initialized(world)).toMatchObject({ status: "True" });
  });

  it("03:L-18 what was initialized stays so", async () => {
    const world = await joined();
    await world.patchNode("node-1", { status: { conditions: [{ type: "Ready", status: "False" }] } }, "status");
    await world.pass(60);
    expect(await initialized(world)).toMatchObject({ status: "True" });
  });

  it("says so when the Node went before it was initialized", async () => {
    const world = await joined({}, { isReady: false });
    await world.patchNode("node-1", { metadata: { finalizers: null } });
    await world.client.delete(builtInTypes.Node, { name: "node-1" });
    await world.pass(1);
    expect(await initialized(world)).toMatchObject({ status: "Unknown", reason: "NodeNotFound" });
  });
});

describe("03:L-16 devices", () => {
  function slice(name: string, changes: Readonly<Record<string, unknown>> = {}, pool: object = {}) {
    return {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceSlice",
      metadata: { name, ...(changes["metadata"] as object) },
      spec: {
        driver: "gpu.vendor.com",
        nodeName: "node-1",
        pool: { name: "main", generation: 1, resourceSliceCount: 1, ...pool },
        ...(changes["spec"] as object),
      },
    };
  }
  const type = {
    group: "resource.k8s.io",
    version: "v1",
    kind: "ResourceSlice",
    plural: "resourceslices",
    namespaced: false,
  };

  async function withSlices(
    slices: readonly ReturnType<typeof slice>[],
    {
      asked = "gpu.vendor.com",
      ignoreDraRequests = false,
    }: { asked?: string | undefined; ignoreDraRequests?: boolean },
  ): Promise<NodeClaimWorld> {
    const world = await nodeClaimWorld({ controllers, settings: { ignoreDraRequests } });
    for (const one of slices) await world.client.create(type, one);
    const told = asked === "" ? {} : { annotations: { [annotations.requestedDraDrivers]: asked } };
    const id = await world.launched("a", {}, told);
    await world.create(nodeWithId(id));
    await world.pass(6);
    return world;
  }

  const missing = { status: "Unknown", reason: "DRADriverPoolsNotPublished" };

  it("03:L-16 waits for a complete pool, and is woken by it", async () => {
    const world = await withSlices([], {});
    expect(await initialized(world)).toMatchObject(missing);
    await world.client.create(type, slice("one"));
    await world.pass(1);
    expect(await initialized(world)).toMatchObject({ status: "True" });
  });

  it.each([
    { what: "an incomplete pool", slices: [slice("one", {}, { resourceSliceCount: 2 })] },
    {
      what: "slices of an older generation",
      slices: [slice("one", {}, { resourceSliceCount: 1 }), slice("two", {}, { generation: 2, resourceSliceCount: 2 })],
    },
    { what: "slices for all nodes", slices: [slice("one", { spec: { nodeName: undefined, allNodes: true } })] },
    { what: "one driver of two", slices: [slice("one")], asked: "gpu.vendor.com, nic.vendor.com" },
  ])("$what is not enough", async ({ slices, asked }) => {
    expect(await initialized(await withSlices(slices, { asked }))).toMatchObject(missing);
  });

  it.each([
    {
      what: "a pool of two slices",
      slices: [slice("one", {}, { resourceSliceCount: 2 }), slice("two", {}, { resourceSliceCount: 2 })],
    },
    {
      what: "all drivers",
      slices: [slice("one"), slice("two", { spec: { driver: "nic.vendor.com" } })],
      asked: "gpu.vendor.com,nic.vendor.com",
    },
    {
      what: "a slice owned by the Node",
      slices: [
        slice("one", {
          metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "node-1", uid: "u" }] },
          spec: { nodeName: undefined, allNodes: true },
        }),
      ],
    },
    { what: "a claim that asks for no driver", slices: [], asked: "" },
    { what: "a setting that ignores devices", slices: [], ignoreDraRequests: true },
  ])("$what is enough", async ({ slices, ...options }) => {
    expect(await initialized(await withSlices(slices, options))).toMatchObject({ status: "True" });
  });
});
