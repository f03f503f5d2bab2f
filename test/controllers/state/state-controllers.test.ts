import { describe, expect, it } from "vitest";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import { stateControllers } from "../../../src/controllers/state/state-controllers.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { claim as stateClaim } from "../../state/objects.ts";
import { recordingMetrics } from "../../world/recording-metrics.ts";
import { controllerWorld } from "../controller-world.ts";

const claim = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodeClaim",
  metadata: { name: "c", labels: { "karpenter.sh/nodepool": "p" } },
  spec: {
    nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
    requirements: [],
    expireAfter: "720h",
  },
};

async function stateWorld() {
  const metrics = recordingMetrics();
  const world = await controllerWorld({ controllers: stateControllers, metrics });
  const gauge = (name: string) => metrics.series.get(`cluster_state_${name}{}`);
  const complaints = () => world.lines.filter(({ message }) => message.startsWith("cluster is waiting on sync"));
  return { ...world, gauge, complaints };
}

describe("claims that nobody has (state.nodeclaimgc)", () => {
  it("02:S-14 03:G-5 a claim state still waits for, and that is gone, is forgotten after 15 s", async () => {
    const { client, cluster, create, pass, stop } = await stateWorld();
    const made = await create<NodeClaim>(claim);
    await client.delete(karpenterTypes.NodeClaim, { name: "c" });
    await pass(1);
    cluster.claimChanged(made); // as told by a write whose echo came too late
    expect(cluster.isSynced).toBe(false);
    await pass(13);
    expect(cluster.isSynced).toBe(false);
    await pass(2);
    expect([cluster.isSynced, cluster.unlaunchedClaims()]).toEqual([true, []]);
    await stop();
  });

  it("02:S-14 03:G-5 one that exists is waited for, however long it takes", async () => {
    const { cluster, create, pass, stop } = await stateWorld();
    await create(claim);
    await pass(120);
    expect(cluster.unlaunchedClaims()).toEqual(["c"]);
    await stop();
  });

  it("02:S-14 03:G-5 one that has a machine is left to others", async () => {
    const { client, cluster, create, pass, stop } = await stateWorld();
    await create(claim);
    await client.delete(karpenterTypes.NodeClaim, { name: "c" });
    await pass(1);
    cluster.claimChanged(stateClaim("c", { id: "a" }));
    await pass(60);
    expect(cluster.nodeByClaimName("c")?.providerId).toBe("a");
    await stop();
  });

  it("02:S-14 03:G-5 nothing happens where nothing is wrong", async () => {
    const { client, cluster, create, pass, stop } = await stateWorld();
    await create(claim);
    await client.delete(karpenterTypes.NodeClaim, { name: "c" });
    await pass(60);
    expect([cluster.isSynced, cluster.unlaunchedClaims()]).toEqual([true, []]);
    await stop();
  });
});

describe("how cluster state is (02:S-12)", () => {
  it("02:S-12 03 §6.1 gauges say whether it is complete, for how long it is not, and how many nodes it has", async () => {
    const { create, gauge, pass, status, stop } = await stateWorld();
    await create({ apiVersion: "v1", kind: "Node", metadata: { name: "n" }, spec: { providerID: "a" } });
    await pass(5);
    expect([gauge("synced"), gauge("unsynced_time_seconds"), gauge("node_count")]).toEqual([1, 0, 1]);
    const made = await create<NodeClaim>(claim);
    await pass(10);
    expect([gauge("synced"), gauge("unsynced_time_seconds")]).toEqual([0, 10]);
    await status(made, { providerID: "b" });
    await pass(5);
    expect([gauge("synced"), gauge("unsynced_time_seconds"), gauge("node_count")]).toEqual([1, 0, 2]);
    await stop();
  });

  it("02:S-12 03 §6.3 complains after 30 s, every 10 s, and starts over when it was complete", async () => {
    const { complaints, create, pass, status, stop } = await stateWorld();
    const made = await create<NodeClaim>(claim);
    await pass(30);
    expect(complaints()).toEqual([]);
    await pass(5);
    expect(complaints()).toEqual([
      {
        level: "error",
        controller: "state.sync",
        message: "cluster is waiting on sync for extended duration",
        duration: "35s",
        nodeClaims: ["c"],
      },
    ]);
    await pass(30);
    expect(complaints()).toHaveLength(4);
    await status(made, { providerID: "b" });
    await pass(60);
    expect(complaints()).toHaveLength(4);
    await create({ ...claim, metadata: { name: "d" } });
    await pass(30);
    expect(complaints()).toHaveLength(4);
    await pass(5);
    expect(complaints()).toHaveLength(5);
    await stop();
  });
});
