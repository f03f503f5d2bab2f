import { describe, expect, it } from "vitest";
import { getCondition } from "../../../src/api/conditions/set-condition.ts";
import type { NodePool } from "../../../src/api/kinds/node-pool.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { poolReadinessController } from "../../../src/controllers/node-pool/readiness.ts";
import { poolValidationController } from "../../../src/controllers/node-pool/validation.ts";
import { KubeError } from "../../../src/kube/kube-error.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { beforeWrites } from "../../world/intercept-calls.ts";
import { type ControllerWorld, controllerWorld } from "../controller-world.ts";
import { foreignClass, kwokClass, pool } from "../pool-objects.ts";

function judging(): Promise<ControllerWorld> {
  return controllerWorld({
    controllers: (dependencies) => [poolReadinessController(dependencies), poolValidationController(dependencies)],
  });
}

async function conditionOf(world: ControllerWorld, type: string, name = "default") {
  const found = (await world.get<NodePool>(karpenterTypes.NodePool, name)) as NodePool;
  const { status, reason } = getCondition(found, type) ?? {};
  return status === undefined ? undefined : `${status} ${reason}`;
}

const at = { lastTransitionTime: "2026-01-01T00:00:00Z", message: "subnets are missing" };

describe("nodepool.readiness", () => {
  it("03:P-3 leaves pools of a foreign node class alone", async () => {
    const world = await judging();
    await world.create(pool("foreign", { template: { nodeClassRef: foreignClass } }));
    expect((await world.get<NodePool>(karpenterTypes.NodePool, "foreign"))?.status?.conditions).toBeUndefined();
    await world.stop();
  });

  it("03:P-3 02:L-35 a missing class, then a ready one, then none again", async () => {
    const world = await judging();
    await world.create(pool());
    expect(await conditionOf(world, "NodeClassReady")).toBe("False NodeClassNotFound");
    expect(await conditionOf(world, "Ready")).toBe("False UnhealthyDependents");
    await world.create(kwokClass());
    expect(await conditionOf(world, "NodeClassReady")).toBe("True NodeClassReady");
    expect(await conditionOf(world, "Ready")).toBe("True Ready");
    await world.client.delete(karpenterTypes.KWOKNodeClass, { name: "default" });
    await world.clock.advance(0);
    expect(await conditionOf(world, "NodeClassReady")).toBe("False NodeClassNotFound");
    await world.stop();
  });

  it("03:S-10 a write that somebody else was faster with is made a moment later, and is no error", async () => {
    let hasRival = true;
    const world = await controllerWorld({
      controllers: (dependencies) => [poolReadinessController(dependencies)],
      wrapClient: beforeWrites(({ type, subresource }) => {
        if (type === karpenterTypes.NodePool && subresource === "status" && hasRival)
          throw new KubeError("conflict", "the object has been modified");
      }),
    });
    await world.create(kwokClass(), pool());
    expect(await conditionOf(world, "NodeClassReady")).toBeUndefined();
    hasRival = false;
    await world.pass(5);
    expect(await conditionOf(world, "NodeClassReady")).toBe("True NodeClassReady");
    expect(world.failures).toEqual([]);
    await world.stop();
  });

  it("03:P-3 a class that is not ready lends its own reason and message", async () => {
    const world = await judging();
    const nodeClass = await world.create<KubeObject>(pool(), kwokClass());
    await world.status(nodeClass, { conditions: [{ type: "Ready", status: "False", reason: "NoSubnets", ...at }] });
    const found = (await world.get<NodePool>(karpenterTypes.NodePool, "default")) as NodePool;
    expect(getCondition(found, "NodeClassReady")).toMatchObject({
      status: "False",
      reason: "NoSubnets",
      message: "subnets are missing",
    });
    await world.stop();
  });

  it("03:P-3 02:L-35 a class nobody has judged, or judged as unknown, is not ready", async () => {
    const world = await judging();
    const nodeClass = await world.create<KubeObject>(pool(), kwokClass());
    await world.status(nodeClass, { conditions: [] });
    expect(await conditionOf(world, "NodeClassReady")).toBe("False NodeClassReadinessUnknown");
    await world.status(nodeClass, { conditions: [{ type: "Ready", status: "Unknown", reason: "Waiting", ...at }] });
    expect(await conditionOf(world, "NodeClassReady")).toBe("False NodeClassReadinessUnknown");
    await world.stop();
  });

  it("03:P-3 a class that is being deleted is not ready", async () => {
    const world = await judging();
    const held = { ...kwokClass(), metadata: { name: "default", finalizers: ["example.com/hold"] } };
    await world.create(pool(), held);
    expect(await conditionOf(world, "NodeClassReady")).toBe("True NodeClassReady");
    await world.client.delete(karpenterTypes.KWOKNodeClass, { name: "default" });
    await world.clock.advance(0);
    expect(await conditionOf(world, "NodeClassReady")).toBe("False NodeClassTerminating");
    await world.stop();
  });

  it("03:P-3 classes of every kind the cloud serves count, each for its own pools", async () => {
    const world = await judging();
    const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
    await world.create(pool("kwok"), pool("ec2", { template: { nodeClassRef } }), kwokClass());
    expect(await conditionOf(world, "NodeClassReady", "kwok")).toBe("True NodeClassReady");
    expect(await conditionOf(world, "NodeClassReady", "ec2")).toBe("False NodeClassNotFound");
    await world.stop();
  });
});

describe("nodepool.validation", () => {
  const capacityTypes = (...values: readonly string[]) => ({
    requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values }],
  });

  it("03:P-4 leaves pools of a foreign node class alone", async () => {
    const world = await judging();
    await world.create(pool("foreign", { template: { nodeClassRef: foreignClass }, ...capacityTypes("no-such") }));
    expect((await world.get<NodePool>(karpenterTypes.NodePool, "foreign"))?.status?.conditions).toBeUndefined();
    await world.stop();
  });

  it("03:P-4 a template that means something passes, an edit that breaks it does not", async () => {
    const world = await judging();
    await world.create(kwokClass(), pool("default", capacityTypes("spot", "on-demand")));
    expect(await conditionOf(world, "ValidationSucceeded")).toBe("True ValidationSucceeded");
    const taint = { key: "a", effect: "NoSchedule" };
    const body = { spec: { template: { spec: { taints: [taint], startupTaints: [taint] } } } };
    await world.client.patch(karpenterTypes.NodePool, { name: "default" }, { kind: "merge", body });
    await world.clock.advance(0);
    expect(await conditionOf(world, "ValidationSucceeded")).toBe("False NodePoolValidationFailed");
    expect(await conditionOf(world, "Ready")).toBe("False UnhealthyDependents");
    await world.stop();
  });

  it("03:P-4 only unknown capacity types fail", async () => {
    const world = await judging();
    await world.create(pool("default", capacityTypes("no-such", "nor-this")));
    const found = (await world.get<NodePool>(karpenterTypes.NodePool, "default")) as NodePool;
    const { status, reason, message } = getCondition(found, "ValidationSucceeded") ?? {};
    expect([status, reason]).toEqual(["False", "NodePoolValidationFailed"]);
    expect(message).toContain("karpenter.sh/capacity-type");
    await world.stop();
  });

  it("03:P-4 some unknown capacity types are let through, with a line in the log, once", async () => {
    const world = await judging();
    await world.create(pool("default", capacityTypes("spot", "no-such")));
    expect(await conditionOf(world, "ValidationSucceeded")).toBe("True ValidationSucceeded");
    await world.create(kwokClass()); // changes the pool's status
    const lines = world.lines.filter(({ notices }) => String(notices).includes("no-such"));
    expect(lines.map(({ level, NodePool }) => [level, NodePool])).toEqual([["error", { name: "default" }]]);
    await world.stop();
  });
});
