import { expect, it } from "vitest";
import { nodePoolHash } from "../../../src/api/hash/node-pool-hash.ts";
import { annotations, labels } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { instanceType } from "../../builders/instance-type.ts";
import { nodePool } from "../../builders/node-pool.ts";
import { pod } from "../../builders/pod.ts";
import { condition, provisioningWorld, requirementOf } from "./provisioning-world.ts";

it("02:P-30 one pod that waits gets one node", async () => {
  const { provision, failures } = await provisioningWorld();

  const claims = await provision(pod().named("web").cpu("1"));

  expect(claims).toHaveLength(1);
  expect(requirementOf(claims[0], labels.instanceType)).toEqual(["large", "medium", "small"]);
  expect(failures).toEqual([]);
});

it("02:P-30 pods that come together share nodes", async () => {
  const { provision, logged } = await provisioningWorld({ types: [instanceType("m").cpu(4)] });

  const claims = await provision(...Array.from({ length: 10 }, (_, index) => pod().named(`web-${index}`).cpu("1")));

  expect(claims).toHaveLength(3);
  expect(logged("found provisionable pod(s)")[0]?.Pods).toBe(
    "default/web-0, default/web-1, default/web-2, default/web-3, default/web-4 and 5 other(s)",
  );
  expect(logged("computed new nodeclaim(s) to fit pod(s)")).toMatchObject([{ level: "info", nodeclaims: 3, pods: 10 }]);
});

it("02:P-1 a pod no scheduler has given up on gets nothing", async () => {
  const { create, round, claims } = await provisioningWorld();

  await create({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "young", namespace: "default" },
    spec: { containers: [{ name: "app", image: "app" }] },
  });
  await round();

  expect(await claims()).toEqual([]);
});

it("02:P-33 a pool that is being deleted is not used", async () => {
  const { client, create, provision, events, logged } = await provisioningWorld({ pools: [] });
  const pool = { ...nodePool().build([]).nodePool, metadata: { name: "default", finalizers: ["example.com/stay"] } };
  const stored = await create<KubeObject>(pool);
  await client.patch(
    karpenterTypes.NodePool,
    { name: "default" },
    { kind: "merge", body: { status: { conditions: [condition("Ready")] } } },
    { subresource: "status" },
  );
  await client.delete(karpenterTypes.NodePool, { name: stored.metadata.name ?? "" });

  expect(await provision(pod().named("web"))).toEqual([]);
  expect(await events("web")).toEqual([]);
  expect(logged("no dynamic nodepools found")).toHaveLength(1);
});

it("02:P-32 without a pool pods are remembered as refused, and no event tells them", async () => {
  const { provision, events, podsOf, logged, metrics } = await provisioningWorld({ pools: [] });

  expect(await provision(pod().named("web"))).toEqual([]);

  expect(logged("no dynamic nodepools found")).toMatchObject([{ level: "info" }]);
  expect(await events("web")).toEqual([]);
  expect(podsOf("web").decision).toBeDefined();
  expect(podsOf("web").schedulable).toBeUndefined();
  expect(metrics.observed("pods_scheduling_decision_duration_seconds")).toHaveLength(1);
});

it("02:P-33 a pool that is not ready is passed over, and the log says so", async () => {
  const { makePool, provision, logged } = await provisioningWorld({ pools: [nodePool("good")] });
  await makePool(nodePool("late"), [condition("Ready", "False")]);

  const claims = await provision(pod().named("web"));

  expect(claims.map(({ metadata }) => metadata.labels?.[labels.nodePool])).toEqual(["good"]);
  expect(logged("ignoring nodepool, not ready")).toMatchObject([{ level: "error", NodePool: { name: "late" } }]);
});

it("02:P-33 a pool of another provider's class is not used", async () => {
  const foreign = nodePool().build([]).nodePool;
  const { create, status, provision, logged } = await provisioningWorld({ pools: [] });
  const nodeClassRef = { group: "karpenter.azure.com", kind: "AKSNodeClass", name: "default" };
  const { template } = foreign.spec;
  const stored = await create<KubeObject>({
    ...foreign,
    spec: { ...foreign.spec, template: { ...template, spec: { ...template.spec, nodeClassRef } } },
  });
  await status(stored, { conditions: [condition("Ready")] });

  expect(await provision(pod().named("web"))).toEqual([]);
  expect(logged("no dynamic nodepools found")).toHaveLength(1);
});

it.each([
  { of: "the pool's before the provider's", pool: "30s", provider: "5m", want: "30s" },
  { of: "the provider's where the pool has none", pool: undefined, provider: "5m", want: "5m" },
  { of: "none where nobody sets one", pool: undefined, provider: undefined, want: undefined },
])("02:L-5 the termination grace period is $of", async ({ pool, provider, want }) => {
  const { provision } = await provisioningWorld({
    pools: [pool === undefined ? nodePool() : nodePool().gracePeriod(pool)],
    wrapProvider: (cloud) => ({ ...cloud, defaultTerminationGracePeriod: provider }),
  });

  const [claim] = await provision(pod().named("web"));

  expect(claim?.spec.terminationGracePeriod).toBe(want);
});

it("02:S-45 the time a pod was placed counts as healthy only while its pool's nodes register", async () => {
  const { makePool, provision, podsOf, launchAll, pool, status, pass, pend } = await provisioningWorld({ pools: [] });
  await makePool(nodePool("default"), [condition("Ready"), condition("NodeRegistrationHealthy")]);

  await provision(pod().named("web").cpu("20"));
  expect(podsOf("web")).toMatchObject({ schedulable: expect.any(Number), healthySchedulable: expect.any(Number) });

  const stored = await pool();
  await status(stored as KubeObject, {
    conditions: [condition("Ready"), condition("NodeRegistrationHealthy", "False")],
  });
  await launchAll();
  await pend(pod().named("other").cpu("20"));
  await pass(11);
  expect(podsOf("web").schedulable).toBeDefined();
  expect(podsOf("web").healthySchedulable).toBeUndefined();
});

it("02:L-6 hash and template are those of the round's start, though the pool changes meanwhile", async () => {
  let change: () => Promise<unknown> = async () => {};
  const pools = [nodePool().label("team", "a")];
  const { provision, client, pool } = await provisioningWorld({
    pools,
    wrapProvider: (cloud) => ({
      ...cloud,
      instanceTypes: async (asked) => {
        const types = await cloud.instanceTypes(asked);
        await change();
        return types;
      },
    }),
  });
  const before = nodePoolHash((await pool())?.spec.template as never);
  const body = { spec: { template: { metadata: { labels: { team: "b" } } } } };
  change = () => client.patch(karpenterTypes.NodePool, { name: "default" }, { kind: "merge", body });

  const [claim] = await provision(pod().named("web"));

  expect((await pool())?.spec.template.metadata?.labels).toEqual({ team: "b" });
  expect(claim?.metadata.labels?.team).toBe("a");
  expect(claim?.metadata.annotations?.[annotations.nodePoolHash]).toBe(before);
});

it("02:Z-1 static pools make no nodes for pods, dynamic ones beside them do", async () => {
  const { create, status, provision, round, claims, logged } = await provisioningWorld({
    pools: [],
    settings: { gates: { ...gates, StaticCapacity: true } },
  });
  const { nodePool: template } = nodePool("static").build([]);
  const stored = await create<KubeObject>({ ...template, spec: { ...template.spec, replicas: 2 } });
  await status(stored, { conditions: [condition("Ready")] });
  expect(await provision(pod().named("web"))).toEqual([]);
  expect(logged("no dynamic nodepools found")).toHaveLength(1);

  const dynamic = await create<KubeObject>(nodePool("dynamic").build([]).nodePool);
  await status(dynamic, { conditions: [condition("Ready")] });
  await provision(pod().named("second"));
  await round();

  expect((await claims()).map(({ metadata }) => metadata.labels?.[labels.nodePool])).toEqual(["dynamic"]);
});

const gates = {
  ExpectedPods: true,
  NodeRepair: false,
  ReservedCapacity: true,
  SpotToSpotConsolidation: false,
  MultiReplacement: false,
  NodeOverlay: false,
  StaticCapacity: false,
  CapacityBuffer: false,
};

it("02 §11.8-11 the same seed gives the same claims, another one may not", async () => {
  const story = async (seed: string) => {
    const { provision } = await provisioningWorld({
      seed,
      pools: [nodePool().requires("example.com/shard", "Exists")],
    });
    const made = await provision(...Array.from({ length: 6 }, (_, index) => pod().named(`p${index}`).cpu("20")));
    return made.map(({ metadata, spec }) => ({ name: metadata.name, labels: metadata.labels, spec }));
  };

  expect(await story("one")).toEqual(await story("one"));
  expect(await story("one")).not.toEqual(await story("two"));
});
