import { describe, expect, it } from "vitest";
import { getCondition } from "../../../src/api/conditions/set-condition.ts";
import type { NodePool } from "../../../src/api/kinds/node-pool.ts";
import { CloudError } from "../../../src/cloud/cloud-error.ts";
import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { lifecycleController } from "../../../src/controllers/node-claim/lifecycle.ts";
import type { Settings } from "../../../src/controllers/settings.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { nodePool } from "../../builders/node-pool.ts";
import { startAt } from "../controller-world.ts";
import { claimNamed, foreignRef, type NodeClaimWorld, nodeClaimWorld, nodeWithId } from "./node-claim-world.ts";

const controllers = (dependencies: ControllerDependencies) => [lifecycleController(dependencies)];
const minute = 60;
const unauthorized = new CloudError("create-failed", "who are you", { reason: "Unauthorized" });

/** A cloud that never launches. */
function closed(settings: Partial<Settings> = {}): Promise<NodeClaimWorld> {
  const cloud = (provider: ControllerDependencies["cloud"]) => ({
    ...provider,
    create: () => Promise.reject(unauthorized),
  });
  return nodeClaimWorld({ controllers, settings, wrapProvider: cloud });
}

function reasons(world: NodeClaimWorld): readonly (string | undefined)[] {
  return world.counted
    .filter(({ name }) => name === "nodeclaims_disrupted_total")
    .map(({ labels: told }) => told["reason"]);
}

describe("liveness", () => {
  it("03:L-21 gives up on a machine that does not join within 15 minutes", async () => {
    const world = await nodeClaimWorld({ controllers });
    await world.launched("a");
    await world.pass(15 * minute - 2);
    expect(await world.claim("a")).toBeDefined();
    await world.pass(30);
    expect(await world.claim("a")).toBeUndefined();
    expect(world.cloud.records()).toEqual([]);
    expect(reasons(world)).toEqual(["registration_timeout"]);
    expect(world.logged("terminating due to timeout")).toMatchObject([
      { level: "debug", timeout: "15m0s", reason: "registration_timeout" },
    ]);
  });

  it("03:L-1 leaves claims of others alone", async () => {
    const world = await nodeClaimWorld({ controllers });
    await world.create(claimNamed("foreign", { nodeClassRef: foreignRef }));
    await world.pass(60 * minute);
    expect(await world.claim("foreign")).toBeDefined();
  });

  it("03:L-22 leaves what is registered alone", async () => {
    const world = await nodeClaimWorld({ controllers });
    const id = await world.launched("a");
    await world.create(nodeWithId(id, { isReady: false }));
    await world.pass(60 * minute);
    expect(await world.claim("a")).toBeDefined();
    expect(reasons(world)).toEqual([]);
  });

  it("03:L-20 03:L-23 gives up on a launch after 5 minutes, not before, and counts it once", async () => {
    const world = await closed();
    await world.create(claimNamed("a"));
    await world.pass(5 * minute - 1);
    expect(await world.claim("a")).toBeDefined();
    await world.pass(2 * minute);
    expect(await world.claim("a")).toBeUndefined();
    expect(reasons(world)).toEqual(["launch_timeout"]);
  });

  it("03:L-20 03:L-21 both timeouts can be set", async () => {
    const world = await closed({ launchTimeoutMs: 60_000 });
    await world.create(claimNamed("a"));
    await world.pass(50);
    expect(await world.claim("a")).toBeDefined();
    await world.pass(70);
    expect(await world.claim("a")).toBeUndefined();
    const other = await nodeClaimWorld({ controllers, settings: { registrationTimeoutMs: 60_000 } });
    await other.launched("b");
    await other.pass(90);
    expect(await other.claim("b")).toBeUndefined();
  });

  it.each([
    { type: "Launched", timeoutSeconds: 5 * minute, rule: "L-20" },
    { type: "Registered", timeoutSeconds: 15 * minute, rule: "L-21" },
  ])("03:$rule counts from when $type last moved, not from creation", async ({ type, timeoutSeconds }) => {
    const world = await (type === "Launched" ? closed() : nodeClaimWorld({ controllers }));
    await world.launched("a");
    const hour = 60 * minute;
    const lastTransitionTime = new Date(startAt + hour * 1_000).toISOString();
    const conditions = ((await world.requireClaim("a")).status?.conditions ?? []).map((one) =>
      one.type === type ? { ...one, lastTransitionTime } : one,
    );
    await world.patchClaim("a", { status: { conditions } }, "status");
    await world.pass(hour + timeoutSeconds - 10);
    expect(await world.claim("a")).toBeDefined();
    await world.pass(2 * minute);
    expect(await world.claim("a")).toBeUndefined();
  });
});

describe("03:P-22 the pool's health", () => {
  const type = "NodeRegistrationHealthy";

  async function fail(world: NodeClaimWorld, before: "True" | "Unknown", failures: number) {
    const pool = await world.create<NodePool>(nodePool().build([]).nodePool);
    const condition = { type, status: before, reason: "x", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
    await world.status(pool, { nodes: 0, conditions: [{ ...condition, observedGeneration: 1 }] });
    const uid = pool.metadata.uid ?? "";
    const owner = { apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "default", uid };
    for (let at = 1; at <= failures; at++) {
      await world.create(claimNamed(`a-${at}`, {}, { ownerReferences: [owner] }));
    }
    await world.pass(20 * minute);
    const found = await world.get<NodePool>(karpenterTypes.NodePool, "default");
    return found && getCondition(found, type);
  }

  it.each(["True", "Unknown"] as const)("is False after two failures, where it was %s", async (before) => {
    const world = await nodeClaimWorld({ controllers });
    expect(await fail(world, before, 2)).toMatchObject({ status: "False", reason: "RegistrationFailed" });
  });

  it("names why launches fail", async () => {
    const world = await closed();
    expect(await fail(world, "Unknown", 2)).toMatchObject({
      status: "False",
      reason: "Unauthorized",
      message: "who are you",
    });
  });

  it("stays as it is after one failure", async () => {
    const world = await nodeClaimWorld({ controllers });
    expect(await fail(world, "True", 1)).toMatchObject({ status: "True" });
  });

  it("is no matter where the pool is gone", async () => {
    const world = await nodeClaimWorld({ controllers });
    await world.launched("a");
    await world.pass(20 * minute);
    expect(await world.claim("a")).toBeUndefined();
    expect(world.failures).toEqual([]);
  });
});
