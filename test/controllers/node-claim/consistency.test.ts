import { describe, expect, it } from "vitest";
import { kwokLabels } from "../../../src/api/labels.ts";
import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { consistencyController } from "../../../src/controllers/node-claim/consistency.ts";
import { nodeClaimHydrationController } from "../../../src/controllers/node-claim/hydration.ts";
import type { Controller } from "../../../src/kube/controller.ts";
import { VirtualClock } from "../../../src/util/virtual-clock.ts";
import { beforeWrites } from "../../world/intercept-calls.ts";
import { startAt } from "../controller-world.ts";
import {
  claimNamed,
  foreignRef,
  type NodeChanges,
  type NodeClaimWorld,
  nodeClaimWorld,
  nodeWithId,
  type Spec,
} from "./node-claim-world.ts";

const requests = { cpu: "2", memory: "4Gi", "vendor.com/gpu": "0" };
const capacity = { cpu: "4", memory: "8Gi", "vendor.com/gpu": "1" };

async function joined(
  node: NodeChanges,
  { spec = {}, isInitialized = true }: { spec?: Spec; isInitialized?: boolean } = {},
): Promise<NodeClaimWorld> {
  const world = await nodeClaimWorld({
    controllers: (dependencies: ControllerDependencies) => [consistencyController(dependencies)],
  });
  const claim = await world.create(claimNamed("a", { resources: { requests }, ...spec }));
  const status = isInitialized ? "True" : "Unknown";
  const conditions = [
    { type: "Initialized", status, reason: "x", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
  ];
  await world.status(claim, { providerID: "kwok://1", capacity, conditions });
  await world.create(nodeWithId("kwok://1", node));
  await world.pass(1);
  return world;
}

const found = (world: NodeClaimWorld) => world.condition("a", "ConsistentStateFound");

/** A controller that ends after so many reconciles, and the count of them. */
function counted(controller: Controller, most: number) {
  const count = { runs: 0 };
  const ended = new AbortController();
  const runStarted = () => void (++count.runs >= most && ended.abort());
  const run: Controller["run"] = (context, signal) =>
    controller.run({ ...context, observe: { runStarted } }, AbortSignal.any([signal, ended.signal]));
  return { count, controller: { ...controller, run } };
}

describe("consistency", () => {
  it("03:C-1 is checked again after ten minutes, however long the write of the last check took", async () => {
    const clock = new VirtualClock({ startAt });
    let count = { runs: 0 };
    const world = await nodeClaimWorld({
      clock,
      wrapClient: beforeWrites(() => clock.sleep(200)),
      controllers: (dependencies) => {
        const own = counted(consistencyController(dependencies), 50);
        count = own.count;
        return [own.controller];
      },
    });
    const claim = await world.create(claimNamed("a", { resources: { requests } }));
    await world.status(claim, { providerID: "kwok://1", capacity });
    await world.create(nodeWithId("kwok://1"));
    await world.pass(25 * 60);
    expect(count.runs).toBeLessThan(10);
  });

  it("03:C-3 says when the Node is what was bought", async () => {
    const world = await joined({ capacity: { cpu: "4", memory: "7.3Gi" } });
    expect(await found(world)).toMatchObject({ status: "True" });
    expect(await world.events("a")).toEqual([]);
  });

  it("03:C-2 says when the Node is smaller by more than a tenth", async () => {
    const world = await joined({ capacity: { cpu: "4", memory: "7Gi" } });
    expect(await found(world)).toMatchObject({ status: "False", reason: "ConsistencyCheckFailed" });
    const issue = "expected 8Gi of resource memory, but found 7Gi (87.5% of expected)";
    expect(await world.events("a")).toMatchObject([
      { reason: "FailedConsistencyCheck", type: "Warning", message: issue },
    ]);
    expect(world.logged("failed consistency check")).toMatchObject([{ level: "info", issue }]);
  });

  it("03:C-2 looks at the shape only once the claim is initialized", async () => {
    const world = await joined({ capacity: { cpu: "1", memory: "1Gi" } }, { isInitialized: false });
    expect(await found(world)).toMatchObject({ status: "True" });
  });

  it("03:C-1 looks every ten minutes, whatever happens in between", async () => {
    const world = await joined({ capacity: { cpu: "4", memory: "8Gi" } });
    await world.patchNode("node-1", { status: { capacity: { memory: "1Gi" } } }, "status");
    await world.pass(590);
    expect(await found(world)).toMatchObject({ status: "True" });
    await world.pass(10);
    expect(await found(world)).toMatchObject({ status: "False" });
  });

  it("03:L-1 leaves claims of others alone", async () => {
    const world = await joined({}, { spec: { nodeClassRef: foreignRef } });
    expect(await found(world)).toBeUndefined();
  });

  it("03:C-1 says nothing where several Nodes say they are the machine", async () => {
    const world = await nodeClaimWorld({
      controllers: (dependencies: ControllerDependencies) => [consistencyController(dependencies)],
    });
    await world.create(nodeWithId("kwok://1", { name: "one" }), nodeWithId("kwok://1", { name: "two" }));
    await world.status(await world.create(claimNamed("a")), { providerID: "kwok://1" });
    await world.pass(1);
    expect(await found(world)).toBeUndefined();
  });
});

describe("hydration", () => {
  it("03:H-1 gives claims of older versions their class label, and only ours", async () => {
    const world = await nodeClaimWorld({
      controllers: (dependencies: ControllerDependencies) => [nodeClaimHydrationController(dependencies)],
    });
    await world.create(claimNamed("a"), claimNamed("foreign", { nodeClassRef: foreignRef }));
    await world.pass(1);
    expect((await world.requireClaim("a")).metadata.labels).toMatchObject({ [kwokLabels.nodeClass]: "default" });
    expect(Object.keys((await world.requireClaim("foreign")).metadata.labels ?? {})).toEqual(["karpenter.sh/nodepool"]);
    const { resourceVersion } = (await world.requireClaim("a")).metadata;
    await world.pass(600);
    expect((await world.requireClaim("a")).metadata.resourceVersion).toBe(resourceVersion);
  });
});
