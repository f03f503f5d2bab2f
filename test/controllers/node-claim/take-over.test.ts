import { describe, expect, it } from "vitest";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import { annotations, finalizers, kwokLabels, labels } from "../../../src/api/labels.ts";
import type { Instance } from "../../../src/cloud/cloud-provider.ts";
import type { NodeKubeObject } from "../../../src/controllers/node-claim/claim-lookups.ts";
import { nodeClaimControllers } from "../../../src/controllers/node-claim/node-claim-controllers.ts";
import { startControllers } from "../../../src/kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { nodePool } from "../../builders/node-pool.ts";
import { claimNamed, type NodeClaimWorld, nodeClaimWorld, nodeWithId, recordedProvider } from "./node-claim-world.ts";

const at = "2025-12-31T12:00:00Z";
const id = "kwok://legacy";
const told = {
  [labels.instanceType]: "c-4x-amd64-linux",
  [labels.zone]: "test-zone-a",
  [labels.capacityType]: "on-demand",
  [labels.arch]: "amd64",
  [labels.os]: "linux",
  [kwokLabels.nodeClass]: "default",
  [labels.nodePool]: "default",
};
const notes = { [annotations.nodePoolHash]: "6821555240594823858", [annotations.nodePoolHashVersion]: "v3" };
const capacity = { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" };

/** What Go's library leaves; objects of its older versions lack the generation. */
function conditions({ observedGeneration }: { observedGeneration?: number }) {
  const types = ["Launched", "Registered", "Initialized", "Consolidatable", "ConsistentStateFound", "Ready"];
  return types.map((type) => ({
    type,
    status: "True",
    reason: type,
    message: "",
    lastTransitionTime: at,
    ...(observedGeneration !== undefined && { observedGeneration }),
  }));
}

/** Objects as upstream's v1.14 leaves them behind, on a cloud that has the machine. */
async function leftBehind(generation: { observedGeneration?: number }) {
  const legacy: Instance = {
    providerId: id,
    labels: told,
    capacity,
    allocatable: capacity,
    createdAt: Date.parse(at),
    isTerminating: false,
  };
  const counting = recordedProvider();
  const world = await nodeClaimWorld({
    controllers: () => [],
    wrapProvider: (provider) => counting.cloud({ ...provider, list: async () => [...(await provider.list()), legacy] }),
  });
  const pool = nodePool().requires(labels.arch, "In", "amd64").build([]).nodePool;
  await world.create({ ...pool, metadata: { ...pool.metadata, annotations: notes } });
  const poolUid = (await world.get(karpenterTypes.NodePool, "default"))?.metadata.uid ?? "";
  const owner = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    name: "default",
    uid: poolUid,
    blockOwnerDeletion: true,
  };
  const claim = await world.create(
    claimNamed(
      "legacy",
      { resources: { requests: { cpu: "1", memory: "1Gi" } } },
      { labels: told, annotations: notes, finalizers: [finalizers.termination], ownerReferences: [owner] },
    ),
  );
  await world.status(claim, {
    providerID: id,
    nodeName: "node-1",
    capacity,
    allocatable: capacity,
    lastPodEventTime: at,
    conditions: conditions(generation),
  });
  const node = nodeWithId(id, {
    labels: { ...told, [labels.registered]: "true", [labels.initialized]: "true" },
    annotations: notes,
    taints: [],
    capacity,
    allocatable: capacity,
  });
  const claimed = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "legacy", uid: claim.metadata.uid ?? "" };
  await world.create({
    ...node,
    metadata: {
      ...node.metadata,
      finalizers: [finalizers.termination],
      ownerReferences: [{ ...claimed, blockOwnerDeletion: true }],
    },
  });
  return { world, calls: counting.calls };
}

async function takeOver(world: NodeClaimWorld): Promise<void> {
  const { client, clock, random, dependencies, log } = world;
  startControllers({
    client,
    clock,
    random: random.fork("ours"),
    controllers: nodeClaimControllers(dependencies),
    log,
    onFailure: (failure) => world.failures.push(failure),
  });
  await world.pass(3 * 3_600);
}

describe("taking over from the Go implementation", () => {
  it.each([
    { what: "as v1.14 leaves them", generation: { observedGeneration: 1 } },
    { what: "without observedGeneration", generation: {} },
  ])("objects $what are adopted, and nothing is disrupted, launched or deleted", async ({ generation }) => {
    const { world, calls } = await leftBehind(generation);
    const nodeBefore = await world.node();
    const before = await world.requireClaim("legacy");
    await takeOver(world);
    const after: NodeClaim = await world.requireClaim("legacy");
    expect(after.metadata).toMatchObject({ labels: told, annotations: notes, finalizers: before.metadata.finalizers });
    expect(after.metadata.deletionTimestamp).toBeUndefined();
    const types = conditions({}).map(({ type }) => type);
    expect((after.status?.conditions ?? []).map(({ type }) => type).sort()).toEqual([...types].sort());
    for (const { type, status, lastTransitionTime, observedGeneration } of after.status?.conditions ?? []) {
      expect([type, status, observedGeneration]).toEqual([type, "True", 1]);
      if (type !== "Ready") expect([type, lastTransitionTime]).toEqual([type, at]); // the sum of others moves with them
    }
    expect(after.status?.lastPodEventTime).toBe(at);
    expect((await world.node())?.metadata.resourceVersion).toBe(nodeBefore?.metadata.resourceVersion);
    expect(calls).toEqual([]);
    expect(world.counted).toEqual([]);
    expect(world.failures).toEqual([]);
  });
});

describe("a claim's life on a living cluster", () => {
  it("03 §1.1 goes from a claim to a node that is ready, by itself", async () => {
    const world = await nodeClaimWorld({ controllers: nodeClaimControllers, runsCluster: true });
    await world.create(nodePool().build([]).nodePool);
    await world.create(claimNamed("a", { resources: { requests: { cpu: "1" } } }));
    await world.pass(60);
    const claim = await world.requireClaim("a");
    for (const type of ["Launched", "Registered", "Initialized", "Ready", "ConsistentStateFound", "Consolidatable"]) {
      expect([type, (await world.condition("a", type))?.status]).toEqual([type, "True"]);
    }
    const [node] = await world.list<NodeKubeObject>(builtInTypes.Node);
    expect(node?.metadata.name).toBe(claim.status?.nodeName);
    expect(node?.metadata.labels).toMatchObject({
      ...claim.metadata.labels,
      [labels.registered]: "true",
      [labels.initialized]: "true",
    });
    expect(node?.spec?.taints ?? []).toEqual([]);
    expect(world.failures).toEqual([]);
    expect(world.counted.map(({ name }) => name)).toEqual(["nodes_created_total"]);
    await world.stop();
  });

  it("is the same every time", async () => {
    const run = async () => {
      const world = await nodeClaimWorld({ controllers: nodeClaimControllers, runsCluster: true });
      for (const name of ["a", "b", "c"]) await world.create(claimNamed(name));
      await world.pass(120);
      await world.removeClaim("b");
      await world.pass(60);
      const claims = await world.list(karpenterTypes.NodeClaim);
      await world.stop();
      return JSON.stringify([claims, world.lines, world.counted]);
    };
    expect(await run()).toBe(await run());
  });
});
