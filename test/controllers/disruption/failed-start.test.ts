import { expect, it } from "vitest";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import type { Node } from "../../../src/api/kubernetes/cluster-objects.ts";
import { taints } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { defaultGates, defaultSettings } from "../../../src/controllers/settings.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { kwokClass, pool } from "../../stories/manifests.ts";
import { beforeWrites } from "../../world/intercept-calls.ts";
import { testWorld } from "../../world/test-world.ts";

const disruption = { consolidateAfter: "Never", budgets: [{ nodes: "100%" }] };

it("03:D-3 03:D-30 03:D-72 a command whose replacement cannot be created leaves no mark, and is tried again", async () => {
  const world = await testWorld({ seed: "failed start" });
  let isBusy = false;
  let refusals = 0;
  const client = beforeWrites(({ verb, type }) => {
    if (!isBusy || verb !== "create" || type.kind !== "NodeClaim") return;
    refusals++;
    throw new Error("the server is busy");
  })(world.client);
  world.startCluster();
  const settings = { ...defaultSettings, gates: { ...defaultGates, StaticCapacity: true } };
  const operator = world.startOperator("operator", { client, settings });
  const { nodePoolState } = operator.dependencies.cluster;
  await world.create(kwokClass);
  await world.create(pool({ spec: { replicas: 2, disruption } }));
  await world.pass(60);
  expect(nodePoolState.counts("default")).toEqual({ active: 2, deleting: 0, pendingDisruption: 0, reserved: 0 });
  const before = await world.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim);

  const label = (generation: string | null) =>
    world.client.patch(
      karpenterTypes.NodePool,
      { name: "default" },
      { kind: "merge", body: { spec: { template: { metadata: { labels: { generation } } } } } },
    );
  const asBefore = { active: 2, deleting: 0, pendingDisruption: 0, reserved: 0 };

  isBusy = true;
  await label("two");
  await world.pass(600);
  expect(refusals).toBeGreaterThan(0);
  expect(refusals).toBeLessThan(20); // it waits longer each time (03:D-32b)
  await label(null); // they have not drifted after all
  await world.pass(60);
  expect(nodePoolState.counts("default")).toEqual(asBefore);
  const nodes = await world.list<KubeObject & Node>(builtInTypes.Node);
  expect(nodes.flatMap(({ spec }) => spec?.taints ?? []).map(({ key }) => key)).not.toContain(taints.disrupted.key);

  isBusy = false;
  await label("two");
  await world.pass(1_800);
  const claims = await world.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim);
  const uids = claims.map(({ metadata }) => metadata.uid);
  expect(uids).toHaveLength(2);
  expect(uids).not.toContain(before[0]?.metadata.uid);
  expect(uids).not.toContain(before[1]?.metadata.uid);
  expect(nodePoolState.counts("default")).toEqual(asBefore);
  await world.stop();
});
