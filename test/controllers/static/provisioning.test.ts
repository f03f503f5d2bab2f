import { describe, expect, it } from "vitest";
import { nodePoolHashVersion } from "../../../src/api/hash/hash-drift.ts";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import { annotations, labels } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { lifecycleController } from "../../../src/controllers/node-claim/lifecycle.ts";
import { defaultGates } from "../../../src/controllers/settings.ts";
import { staticProvisioningController } from "../../../src/controllers/static/provisioning.ts";
import { staticControllers } from "../../../src/controllers/static/static-controllers.ts";
import type { KubeClient } from "../../../src/kube/client.ts";
import type { Controller } from "../../../src/kube/controller.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import type { SimulationSettings } from "../../../src/providers/sim/simulation-settings.ts";
import { interceptCalls } from "../../world/intercept-calls.ts";
import { recordingMetrics } from "../../world/recording-metrics.ts";
import { type ControllerWorld, controllerWorld } from "../controller-world.ts";
import { claim, foreignClass, kwokClass, machine, type PoolDraft, pool } from "../pool-objects.ts";
import { beforeCreateAndDelete, restart } from "./static-world.ts";

const lastTransitionTime = "2026-01-01T00:00:00Z";

/** As its own controllers would leave it. */
async function setReady(world: ControllerWorld, name = "default", isReady = true): Promise<void> {
  const found = (await world.get(karpenterTypes.NodePool, name)) as KubeObject;
  const status = isReady ? "True" : "False";
  const ready = { type: "Ready", status, reason: "Ready", message: "", lastTransitionTime };
  await world.status(found, { conditions: [ready] });
}

interface Setting {
  readonly controllers?: (dependencies: ControllerDependencies) => readonly Controller[];
  readonly metrics?: ReturnType<typeof recordingMetrics>;
  readonly simulation?: Partial<SimulationSettings>;
}

async function keeping(setting: Setting = {}): Promise<ControllerWorld> {
  const world = await controllerWorld({
    controllers: (dependencies) => [staticProvisioningController(dependencies)],
    ...setting,
  });
  await world.create(kwokClass());
  return world;
}

async function withPool(draft: PoolDraft, setting: Setting = {}): Promise<ControllerWorld> {
  const world = await keeping(setting);
  await world.create(pool("default", draft));
  await setReady(world);
  return world;
}

async function claimsOf(world: ControllerWorld, name = "default"): Promise<readonly NodeClaim[]> {
  const all = await world.list<NodeClaim>(karpenterTypes.NodeClaim);
  return all.filter(({ metadata }) => metadata.labels?.[labels.nodePool] === name);
}

async function setReplicas(world: ControllerWorld, replicas: number): Promise<void> {
  await world.client.patch(
    karpenterTypes.NodePool,
    { name: "default" },
    { kind: "merge", body: { spec: { replicas } } },
  );
  await world.clock.advance(0);
}

describe("static.provisioning", () => {
  it("03:SP-3 makes as many claims as the pool has replicas, and says so", async () => {
    const metrics = recordingMetrics();
    const world = await withPool({ replicas: 3 }, { metrics });
    expect(await claimsOf(world)).toHaveLength(3);
    expect(world.lines.map(({ message, current, desired }) => [message, current, desired])).toContainEqual([
      "provisioning nodeclaims to satisfy replica count",
      0,
      3,
    ]);
    expect(world.lines.filter(({ message }) => message === "created nodeclaim")).toHaveLength(3);
    const made = 'nodeclaims_created_total{min_values_relaxed="false",nodepool="default",reason="provisioned"}';
    expect([...metrics.series]).toEqual([[made, 3]]);
    await world.stop();
  });

  it("02:Z-2 a claim says what the template says, and no more", async () => {
    const world = await withPool({
      replicas: 1,
      labels: { team: "a" },
      annotations: { note: "b" },
      requirements: [{ key: labels.zone, operator: "In", values: ["z-a", "z-b"], minValues: 2 }],
      template: {
        taints: [{ key: "only", value: "batch", effect: "NoSchedule" }],
        startupTaints: [{ key: "boot", effect: "NoExecute" }],
        expireAfter: "10h",
        terminationGracePeriod: "5m",
      },
    });
    const [made] = await claimsOf(world);
    const owner = (await world.get(karpenterTypes.NodePool, "default")) as KubeObject;
    expect(made?.metadata).toMatchObject({
      name: expect.stringMatching(/^default-/),
      labels: { [labels.nodePool]: "default", "karpenter.kwok.sh/kwoknodeclass": "default", team: "a" },
      annotations: { note: "b", [annotations.nodePoolHashVersion]: nodePoolHashVersion },
      ownerReferences: [
        {
          apiVersion: "karpenter.sh/v1",
          kind: "NodePool",
          name: "default",
          uid: owner.metadata.uid,
          blockOwnerDeletion: true,
        },
      ],
    });
    expect(made?.spec).toEqual({
      taints: [{ key: "only", value: "batch", effect: "NoSchedule" }],
      startupTaints: [{ key: "boot", effect: "NoExecute" }],
      requirements: [
        { key: "karpenter.kwok.sh/kwoknodeclass", operator: "In", values: ["default"] },
        { key: labels.nodePool, operator: "In", values: ["default"] },
        { key: "team", operator: "In", values: ["a"] },
        { key: labels.zone, operator: "In", values: ["z-a", "z-b"], minValues: 2 },
      ],
      nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
      expireAfter: "10h",
      terminationGracePeriod: "5m",
    });
    await world.stop();
  });

  it("03:SP-3 makes only what is missing", async () => {
    const world = await keeping();
    await machine(world, "a");
    await machine(world, "b");
    await world.create(pool("default", { replicas: 5 }));
    await setReady(world);
    expect(await claimsOf(world)).toHaveLength(5);
    await world.stop();
  });

  it.each([0, 1])("03:SP-3 makes nothing for %i replicas where there are enough", async (replicas) => {
    const world = await keeping();
    await machine(world, "a");
    await machine(world, "b");
    await world.create(pool("default", { replicas }));
    await setReady(world);
    await world.pass(120);
    expect(await claimsOf(world)).toHaveLength(2);
    await world.stop();
  });

  it("03:SP-3 a pool of no replicas gets nothing", async () => {
    const world = await withPool({ replicas: 0 });
    await world.pass(120);
    expect(await claimsOf(world)).toEqual([]);
    await world.stop();
  });

  it("03:SP-3 pools that are dynamic, foreign, not ready or being deleted get nothing", async () => {
    const world = await keeping();
    const held = { finalizers: ["example.com/hold"] };
    await world.create(
      pool("dynamic"),
      pool("foreign", { replicas: 2, template: { nodeClassRef: foreignClass } }),
      pool("unready", { replicas: 2 }),
      pool("going", { replicas: 2, metadata: held }),
    );
    await world.client.delete(karpenterTypes.NodePool, { name: "going" });
    for (const name of ["dynamic", "foreign", "going"]) await setReady(world, name);
    await setReady(world, "unready", false);
    await world.pass(120);
    expect(await world.list(karpenterTypes.NodeClaim)).toEqual([]);
    await world.stop();
  });

  it("03:SP-3 is woken by more replicas, and by a pool that becomes ready", async () => {
    const world = await keeping();
    await world.create(pool("default", { replicas: 1 }));
    await setReady(world, "default", false);
    expect(await claimsOf(world)).toEqual([]);
    await setReady(world);
    const [first] = await claimsOf(world);
    await world.status(first as KubeObject, { providerID: "kwok://first" });
    await setReplicas(world, 3);
    expect(await claimsOf(world)).toHaveLength(3);
    await world.stop();
  });

  it("03:SP-3 is woken by a claim that begins to go, and by one that is gone", async () => {
    const world = await keeping();
    await machine(world, "a", { isHeld: true });
    await machine(world, "b");
    await world.create(pool("default", { replicas: 2 }));
    await setReady(world);
    expect(await claimsOf(world)).toHaveLength(2);
    await world.client.delete(karpenterTypes.NodeClaim, { name: "a" });
    await world.clock.advance(0);
    expect(await claimsOf(world)).toHaveLength(3);
    await world.client.delete(karpenterTypes.NodeClaim, { name: "b" });
    await world.clock.advance(0);
    expect((await claimsOf(world)).filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toHaveLength(2);
    await world.stop();
  });

  it("03:SP-3 where nothing can be bought it tries once a minute, not without end", async () => {
    const world = await keeping({
      controllers: (dependencies) => [staticProvisioningController(dependencies), lifecycleController(dependencies)],
    });
    world.cloud.setAvailableCount({}, 0);
    await world.create(pool("default", { replicas: 2 }));
    await setReady(world);
    await world.pass(150);
    const made = world.lines.filter(({ message }) => message === "created nodeclaim");
    expect(made).toHaveLength(6); // at the start, and after one and two minutes
    world.cloud.setAvailableCount({}, 100);
    await world.pass(240); // offerings that were sold out are believed to be so for a while
    expect(world.cloud.records()).toHaveLength(2);
    await world.stop();
  });

  it("03:SP-3 looks again every minute", async () => {
    const world = await keeping();
    await machine(world, "a");
    await world.create(pool("default", { replicas: 1 }));
    await setReady(world);
    // State says so, and nobody else does.
    world.cluster.nodePoolState.observe("default", "a", { isBeingDeleted: true });
    await world.pass(30);
    expect(await claimsOf(world)).toHaveLength(1);
    await world.pass(31);
    expect(await claimsOf(world)).toHaveLength(2);
    await world.stop();
  });

  it("03:SP-3 a node that is about to be replaced counts: its replacement is on its way", async () => {
    const world = await keeping();
    await machine(world, "a");
    await machine(world, "b");
    world.cluster.nodePoolState.markPendingDisruption("default", "a");
    await world.create(pool("default", { replicas: 2 }));
    await setReady(world);
    await world.pass(61);
    expect(await claimsOf(world)).toHaveLength(2);
    await world.stop();
  });

  it("03:SP-2 limits.nodes is a limit, whatever the replicas; deleting nodes still count", async () => {
    const world = await keeping();
    await machine(world, "a", { isHeld: true });
    await machine(world, "b");
    await world.client.delete(karpenterTypes.NodeClaim, { name: "a" });
    await world.create(pool("default", { replicas: 5, limits: { nodes: "3" } }));
    await setReady(world);
    expect(await claimsOf(world)).toHaveLength(3);
    await world.stop();
  });

  it("03:SP-3 at the limit it says so, and looks again in half a minute", async () => {
    const world = await keeping();
    await machine(world, "a", { isHeld: true });
    await world.create(pool("default", { replicas: 2, limits: { nodes: "1" } }));
    await setReady(world);
    const reached = () => world.lines.filter(({ message }) => message === "nodepool node limit reached").length;
    expect(reached()).toBe(1);
    await world.pass(29);
    expect(reached()).toBe(1);
    await world.pass(1);
    expect(reached()).toBe(2);
    expect(await claimsOf(world)).toHaveLength(1);
    await world.stop();
  });

  it("03:SP-2 places are kept while claims are made, and free afterwards", async () => {
    const reserved: number[] = [];
    const controllers = (dependencies: ControllerDependencies) => [
      beforeCreateAndDelete(staticProvisioningController(dependencies), () =>
        reserved.push(dependencies.cluster.nodePoolState.counts("default").reserved),
      ),
    ];
    const world = await withPool({ replicas: 2, limits: { nodes: "4" } }, { controllers });
    expect(reserved).toEqual([2, 2]);
    const { nodePoolState } = world.cluster;
    expect(nodePoolState.counts("default")).toEqual({ active: 2, deleting: 0, pendingDisruption: 0, reserved: 0 });
    await world.stop();
  });

  it("03:SP-2 a claim that cannot be made gives its place back, is tried again, and does not hold up others", async () => {
    let failures = 2;
    const controllers = (dependencies: ControllerDependencies) => [
      beforeCreateAndDelete(staticProvisioningController(dependencies), () => {
        if (failures-- > 0) throw new Error("the server is busy");
      }),
    ];
    const world = await withPool({ replicas: 3 }, { controllers });
    expect(await claimsOf(world)).toHaveLength(1);
    expect(world.cluster.nodePoolState.counts("default")).toMatchObject({ active: 1, reserved: 0 });
    expect(world.failures).toMatchObject([
      { kind: "reconcile-failed", controller: "static.provisioning", key: "default" },
    ]);
    await world.pass(1);
    expect(await claimsOf(world)).toHaveLength(3);
    await world.stop();
  });

  it("03:SP-2 two at once do not go beyond the limit", async () => {
    const world = await withPool(
      { replicas: 10, limits: { nodes: "10" } },
      {
        controllers: (dependencies) => [
          staticProvisioningController(dependencies),
          staticProvisioningController(dependencies),
        ],
      },
    );
    await world.pass(120);
    expect(await claimsOf(world)).toHaveLength(10);
    await world.stop();
  });

  it("03:SP-3 three hundred are three hundred", async () => {
    const world = await withPool({ replicas: 300 });
    expect(await claimsOf(world)).toHaveLength(300);
    await world.stop();
  });

  it("03:SP-3 a hundred million are created in batches, each after the one before was launched", async () => {
    let inFlight = 0;
    let most = 0;
    const countCalls = (client: KubeClient): KubeClient =>
      interceptCalls(client, async (_, proceed) => {
        most = Math.max(most, ++inFlight);
        return proceed().finally(() => inFlight--);
      });
    const counted = (controller: Controller): Controller => ({
      ...controller,
      run: (context, signal) => controller.run({ ...context, client: countCalls(context.client) }, signal),
    });
    const world = await withPool(
      { replicas: 100_000_000 },
      { controllers: (dependencies) => [counted(staticProvisioningController(dependencies))] },
    );
    await world.pass(10);
    const first = await claimsOf(world);
    expect([first.length, most <= 100]).toEqual([1_000, true]);
    expect(world.cluster.nodePoolState.counts("default")).toMatchObject({ active: 1_000, reserved: 0 });

    for (const one of first.slice(0, 5)) await world.status(one, { providerID: `kwok://${one.metadata.name}` });
    await world.pass(2);
    expect(await claimsOf(world)).toHaveLength(1_005);
    await world.stop();
  });

  it("03:SP-3 where the cloud's quota ends, ten are tried a minute, and more once they are launched again", async () => {
    const world = await keeping({
      simulation: { maxInstances: 20 },
      controllers: (dependencies) => [staticProvisioningController(dependencies), lifecycleController(dependencies)],
    });
    await world.create(pool("default", { replicas: 60 }));
    await setReady(world);
    const created = () => world.lines.filter(({ message }) => message === "created nodeclaim").length;
    await world.pass(125);
    const before = created();
    expect([world.cloud.records().length, await claimsOf(world).then(({ length }) => length)]).toEqual([20, 20]);
    await world.pass(300);
    expect(created() - before).toBe(50);
    for (const { instance } of world.cloud.records()) world.cloud.vanish(instance.id); // their claims stay
    await world.pass(125);
    expect(world.cloud.records()).toHaveLength(20);
    await world.stop();
  });

  it("03:SP-2 batches stay within the limit of nodes", async () => {
    const world = await withPool({ replicas: 100_000_000, limits: { nodes: "1001" } });
    const first = await claimsOf(world);
    for (const one of first.slice(0, 5)) await world.status(one, { providerID: `kwok://${one.metadata.name}` });
    await world.pass(120);
    expect(await claimsOf(world)).toHaveLength(1_001);
    await world.stop();
  });

  it("02:Z-2 after a restart waits until the state has been synced once", async () => {
    const world = await keeping({ controllers: () => [] });
    const unlaunched = await world.create<KubeObject>(claim("a"), pool("default", { replicas: 3 }), claim("b"));
    await setReady(world);
    const stop = restart(world, (dependencies) => [staticProvisioningController(dependencies)]);
    await world.pass(5);
    expect(await claimsOf(world)).toHaveLength(2);
    await world.client.delete(karpenterTypes.NodeClaim, { name: "a" });
    await world.status(unlaunched, { providerID: "kwok://b" });
    await world.pass(1);
    expect(await claimsOf(world)).toHaveLength(3);
    await stop();
    await world.stop();
  });

  it("02:Z-2 is there only with its gate", async () => {
    const world = await keeping();
    const names = (isOn: boolean): readonly string[] => {
      const settings = { ...world.dependencies.settings, gates: { ...defaultGates, StaticCapacity: isOn } };
      return staticControllers({ ...world.dependencies, settings }).map(({ name }) => name);
    };
    expect(names(false)).toEqual([]);
    expect(names(true)).toEqual(["static.provisioning", "static.deprovisioning"]);
    await world.stop();
  });
});
