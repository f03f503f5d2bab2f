import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/api/object.ts";
import { installCrds } from "../../src/control-plane/install-crds.ts";
import type { Controller } from "../../src/kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { ClusterState } from "../../src/state/cluster-state.ts";
import { clusterStateController } from "../../src/state/cluster-state-controller.ts";
import { viewProjections } from "../../src/state/view-projections.ts";
import { testWorld } from "../world/test-world.ts";
import { nominationMs, ourClass } from "./objects.ts";

const pod = (name: string, nodeName?: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default" },
  spec: { containers: [{ name: "app", image: "x", resources: { requests: { cpu: "1" } } }], nodeName },
});
const node: KubeObject = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n" },
  spec: { providerID: "sim://n" },
  status: { capacity: { cpu: "4", pods: "9" }, allocatable: { cpu: "4", pods: "9" } },
};
const claim: KubeObject = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodeClaim",
  metadata: { name: "c", labels: { "karpenter.sh/nodepool": "p" } },
  spec: { nodeClassRef: ourClass, requirements: [], expireAfter: "720h" },
};

async function fed({ hasCrds = true, loops = () => [] as readonly Controller[] } = {}) {
  const world = await testWorld({ seed: "feed", hasCrds });
  const { api, client, clock } = world;
  const cluster = new ClusterState({ clock, servedNodeClasses: [ourClass], nominationMs });
  const start = async () => {
    world.startControllers({
      controllers: [clusterStateController(cluster), ...loops()],
      projections: viewProjections(),
    });
    await world.pass(0);
    return world.stop;
  };
  return { api, client, clock, cluster, start };
}

describe("the feed of cluster state", () => {
  it("02:S-11 03:S-1 tells what existed, then says that it has begun, then what changes", async () => {
    const { client, clock, cluster, start } = await fed();
    await client.create(builtInTypes.Node, node);
    await client.create(builtInTypes.Pod, pod("early", "n"));
    expect(cluster.isSynced).toBe(false);
    const stop = await start();
    expect(cluster.isSynced).toBe(true);
    expect(cluster.nodeByName("n")?.pods.map(({ metadata }) => metadata.name)).toEqual(["early"]);

    await client.create(builtInTypes.Pod, pod("late", "n"));
    await client.create(builtInTypes.Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } });
    await client.delete(builtInTypes.Pod, { name: "early", namespace: "default" }, { gracePeriodSeconds: 0 });
    await clock.advance(1_000);
    expect(cluster.nodeByName("n")?.pods.map(({ metadata }) => metadata.name)).toEqual(["late"]);
    expect(cluster.snapshot().namespaces.map(({ metadata }) => metadata.name)).toContain("team");
    await client.delete(builtInTypes.Node, { name: "n" });
    await clock.advance(1_000);
    expect(cluster.nodes()).toEqual([]);
    await stop();
  });

  it("02:S-13 a claim a controller makes is known when the call returns", async () => {
    const seen: unknown[] = [];
    const maker: Controller = {
      name: "maker",
      kinds: [karpenterTypes.NodeClaim],
      run: async (world) => {
        await world.client.create(karpenterTypes.NodeClaim, claim);
        seen.push(cluster.unlaunchedClaims(), cluster.isSynced);
        const body = { status: { providerID: "sim://c" } };
        await world.client.patch(
          karpenterTypes.NodeClaim,
          { name: "c" },
          { kind: "merge", body },
          { subresource: "status" },
        );
        seen.push(cluster.unlaunchedClaims(), cluster.nodeByClaimName("c")?.providerId);
      },
    };
    const { cluster, start } = await fed({ loops: () => [maker] });
    const stop = await start();
    expect(seen).toEqual([["c"], false, [], "sim://c"]);
    await stop();
  });

  it("02:S-11 where the CRDs are not installed it waits for them", async () => {
    const { api, client, clock, cluster, start } = await fed({ hasCrds: false });
    await client.create(builtInTypes.Node, node);
    const stop = await start();
    await clock.advance(60_000);
    expect([cluster.isSynced, cluster.nodes()]).toEqual([false, []]);
    await installCrds(api, "all");
    await clock.advance(60_000);
    expect([cluster.isSynced, cluster.nodes().length]).toEqual([true, 1]);
    await stop();
  });

  it("03 §8.3 stops telling when it is stopped", async () => {
    const { client, clock, cluster, start } = await fed();
    const stop = await start();
    await stop();
    await client.create(builtInTypes.Node, node);
    await clock.advance(60_000);
    expect(cluster.nodes()).toEqual([]);
  });
});
