import { expect, it } from "vitest";
import { taints } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { provisioningControllers } from "../../../src/controllers/provisioning/provisioning-controllers.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { instanceType } from "../../builders/instance-type.ts";
import { pod } from "../../builders/pod.ts";
import { stepBudget } from "../../world/step-budget.ts";
import { provisioningWorld, unschedulable } from "./provisioning-world.ts";

const computing = "computing scheduling decision for provisionable pod(s)";

it("02:P-10 a pod asks for a round at once, and again every ten seconds until it does not wait any more", async () => {
  const { pend, pass, logged, launchAll, podsOf, clock, client } = await provisioningWorld();
  await pend(pod().named("web"));
  const seenAt = clock.now();
  await pass(2);
  await launchAll();
  expect(logged(computing)).toHaveLength(1);

  await pass(10);
  expect(logged(computing)).toHaveLength(2);
  await pass(10);
  expect(logged(computing)).toHaveLength(3);
  expect(podsOf("web").ack).toBe(seenAt);

  await client.delete(builtInTypes.Pod, { name: "web", namespace: "default" }, { gracePeriodSeconds: 0 });
  await pass(30);
  expect(logged(computing)).toHaveLength(3);
});

it("02:P-10a a pod that never takes the nodes it is given gets fewer and fewer, also when it changes all the time", async () => {
  const { pend, pass, logged, launchAll, client, status } = await provisioningWorld();
  await pend(pod().named("web"));
  const change = async (count: number) => {
    const stored = await client.get<KubeObject>(builtInTypes.Pod, { name: "web", namespace: "default" });
    const [condition] = unschedulable.conditions;
    await status(stored, { conditions: [{ ...condition, message: `0/${count} nodes are available` }] });
  };

  for (let second = 1; second <= 60; second++) {
    await pass(1);
    await launchAll();
    await change(second);
  }

  // After 1, 2, 4 and 8 s, and then every ten seconds.
  expect(logged(computing).length).toBeGreaterThanOrEqual(8);
  expect(logged(computing).length).toBeLessThanOrEqual(10);
});

it("02:P-20 pods that come within a second of each other are one round", async () => {
  const { pend, pass, logged } = await provisioningWorld();

  for (const name of ["a", "b", "c"]) {
    await pend(pod().named(name));
    await pass(0.7);
  }
  await pass(3);

  expect(logged(computing)).toMatchObject([{ "pending-pods": 3 }]);
});

it("02:P-11 03:I-8 a node with the disruption taint asks for a round every ten seconds", async () => {
  const { create, pass, cluster, logged, bind, client } = await provisioningWorld();
  const node = await create<KubeObject>({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "old" },
    spec: { providerID: "test:///old", taints: [{ ...taints.disrupted, value: "whatever" }] },
  });
  await bind(pod().named("web"), "old");
  cluster.markForDeletion("test:///old");

  await pass(2);
  expect(logged(computing)).toMatchObject([{ "pending-pods": 0, "deleting-pods": 1 }]);

  await client.patch(
    builtInTypes.Node,
    { name: node.metadata.name ?? "" },
    { kind: "merge", body: { spec: { taints: null } } },
  );
  await pass(30);
  expect(logged(computing)).toHaveLength(1);
});

it("02:P-12 anybody who has the trigger can ask for a round", async () => {
  const { trigger, round, logged, bind, create, cluster } = await provisioningWorld();
  const spec = { providerID: "test:///old" };
  await create({ apiVersion: "v1", kind: "Node", metadata: { name: "old" }, spec });
  await bind(pod().named("web"), "old");
  cluster.markForDeletion("test:///old");
  await round();
  expect(logged(computing)).toEqual([]);

  trigger.fire("uid-of-a-buffer");
  await round();
  expect(logged(computing)).toHaveLength(1);
});

it("02:P-21 §11.8-1 a trigger consumed while the state is not synced is back within ten seconds", async () => {
  const { provision, pass, pend, launchAll, logged, claims } = await provisioningWorld();
  await provision(pod().named("first").cpu("20"));
  expect(await claims()).toHaveLength(1);

  // Its claim is not launched: no decision may be taken. (02:S-13)
  await pend(pod().named("second").cpu("20"));
  await pass(5);
  expect(logged(computing)).toHaveLength(1);

  await launchAll();
  await pass(10);
  expect(logged(computing).length).toBeGreaterThan(1);
  expect(await claims()).toHaveLength(2);
});

it("02:Q-9 §11.8-2 a round that runs out of time buys what it has decided, and goes on as soon as it can", async () => {
  const { provision, pass, claims, launchAll, logged, events } = await provisioningWorld({
    types: [instanceType("m").cpu(4)],
    settings: { packing: "plain" },
    openBudget: stepBudget(60),
  });
  const pods = Array.from({ length: 120 }, (_, index) => pod().named(`web-${index}`).cpu("3"));

  const first = await provision(...pods);
  expect(first.length).toBeGreaterThan(0);
  expect(first.length).toBeLessThan(120);
  expect(logged("scheduling simulation timed out")).toMatchObject([{ level: "debug" }]);
  expect((await events("web-119")).map(({ reason }) => reason)).not.toContain("FailedScheduling");

  await launchAll();
  await pass(2.5); // not the ten seconds its pods would take
  expect((await claims()).length).toBeGreaterThan(first.length);
});

it("02:P-3 a pod that stops waiting is not asked about again", async () => {
  const { pend, pass, logged, client, status, launchAll } = await provisioningWorld();
  await pend(pod().named("web"));
  await pass(2);
  await launchAll();
  const stored = await client.get<KubeObject>(builtInTypes.Pod, { name: "web", namespace: "default" });
  await status(stored, { ...unschedulable, nominatedNodeName: "somewhere" });

  await pass(30);

  expect(logged(computing)).toHaveLength(1);
});

it("a round that fails is told, and the next one is tried", async () => {
  let isDown = true;
  const { provision, pass, claims, failures } = await provisioningWorld({
    wrapProvider: (cloud) => ({
      ...cloud,
      instanceTypes: (pool) =>
        isDown ? Promise.reject(new DOMException("too slow", "TimeoutError")) : cloud.instanceTypes(pool),
    }),
  });

  expect(await provision(pod().named("web"))).toEqual([]);
  expect(failures).toMatchObject([{ kind: "reconcile-failed", controller: "provisioner" }]);

  isDown = false;
  await pass(10);
  expect(await claims()).toHaveLength(1);
});

it("02 §1.2 the controllers have the names dashboards know them by, and stop when they are told to", async () => {
  const { provision, stop, dependencies, trigger, clock } = await provisioningWorld();
  await provision(pod().named("web"));

  expect(provisioningControllers({ ...dependencies, trigger }).map(({ name }) => name)).toEqual([
    "provisioner",
    "provisioner.trigger.pod",
    "provisioner.trigger.node",
    "pod.nomination",
  ]);
  await stop();
  expect(clock.pending).toBe(0);
});
