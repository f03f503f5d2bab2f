import { describe, expect, it } from "vitest";
import { labels } from "../../../src/api/labels.ts";
import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { expirationController } from "../../../src/controllers/node-claim/expiration.ts";
import {
  claimNamed,
  foreignRef,
  type NodeClaimWorld,
  nodeClaimWorld,
  nodeWithId,
  type Spec,
} from "./node-claim-world.ts";

const controllers = (dependencies: ControllerDependencies) => [expirationController(dependencies)];
const held = { finalizers: ["example.com/hold"], labels: { [labels.capacityType]: "spot" } };

async function aged(spec: Spec): Promise<NodeClaimWorld> {
  const world = await nodeClaimWorld({ controllers });
  await world.create(claimNamed("a", spec, held));
  return world;
}

const isLeaving = async (world: NodeClaimWorld) =>
  (await world.requireClaim("a")).metadata.deletionTimestamp !== undefined;

describe("expiration", () => {
  it("03:E-1 03:E-2 03:E-4 deletes a claim at its age, exactly and once", async () => {
    const world = await aged({ expireAfter: "30s" });
    await world.pass(29);
    expect(await isLeaving(world)).toBe(false);
    await world.pass(1);
    expect(await isLeaving(world)).toBe(true);
    expect((await world.requireClaim("a")).metadata.deletionTimestamp).toBe("2026-01-01T00:00:30Z");
    await world.patchClaim("a", { metadata: { annotations: { touched: "1" } } });
    await world.pass(3_600);
    expect(world.counted).toEqual([
      {
        name: "nodeclaims_disrupted_total",
        labels: {
          reason: "expired",
          nodepool: "default",
          capacity_type: "spot",
          consolidation_policy: "",
          termination_mode: "graceful",
        },
        value: 1,
      },
    ]);
    expect(world.logged("deleting expired nodeclaim")).toMatchObject([{ level: "debug", NodeClaim: { name: "a" } }]);
  });

  it("03:E-1 Never is never", async () => {
    const world = await aged({ expireAfter: "Never" });
    await world.pass(100 * 3_600);
    expect(await isLeaving(world)).toBe(false);
  });

  it("03:L-1 claims of others are left alone", async () => {
    const world = await aged({ expireAfter: "30s", nodeClassRef: foreignRef });
    await world.pass(3_600);
    expect(await isLeaving(world)).toBe(false);
  });

  it("03:E-1 the age of the Node does not matter", async () => {
    const world = await nodeClaimWorld({ controllers });
    await world.create(nodeWithId("kwok://1"));
    await world.pass(60);
    await world.status(await world.create(claimNamed("a", { expireAfter: "30s" }, held)), { providerID: "kwok://1" });
    await world.pass(29);
    expect(await isLeaving(world)).toBe(false);
  });

  it.each([
    { terminationGracePeriod: "5m", mode: "eventual" },
    { terminationGracePeriod: "0s", mode: "forceful" },
  ])(
    "03:E-3 counts pods that need another place, as $mode with a grace period of $terminationGracePeriod",
    async ({ terminationGracePeriod, mode }) => {
      const world = await aged({ expireAfter: "30s", terminationGracePeriod });
      await world.status(await world.requireClaim("a"), { providerID: "kwok://1" });
      await world.create(nodeWithId("kwok://1"));
      const pod = (name: string, metadata: object = {}) => ({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace: "default", ...metadata },
        spec: { nodeName: "node-1", containers: [{ name: "app", image: "app" }] },
      });
      const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "u" };
      await world.create(pod("p"), pod("q"), pod("daemon", { ownerReferences: [owner] }));
      await world.pass(31);
      expect(world.counted.map(({ name, value }) => [name, value])).toEqual([
        ["nodeclaims_disrupted_total", 1],
        ["pods_disruption_initiated_total", 2],
      ]);
      for (const { labels: told } of world.counted) {
        expect(told).toMatchObject({ reason: "expired", termination_mode: mode });
      }
    },
  );
});
