import { expect, it } from "vitest";
import type { Condition } from "../../../src/api/conditions/condition.ts";
import type { CapacityBuffer } from "../../../src/api/kinds/capacity-buffer.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { defaultGates } from "../../../src/controllers/settings.ts";
import { virtualPods } from "../../../src/core/virtual-pods.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { instanceType } from "../../builders/instance-type.ts";
import { pod } from "../../builders/pod.ts";
import { condition, type ProvisioningWorldOptions, provisioningWorld } from "./provisioning-world.ts";

type Buffer = KubeObject & CapacityBuffer;

const template = {
  spec: { containers: [{ name: "app", image: "app", resources: { requests: { cpu: "1" } } }] },
};

/** A buffer of so many pods of one cpu, as its controller would leave it. */
async function buffered(replicas: number, options: ProvisioningWorldOptions = {}) {
  const scene = await provisioningWorld({
    types: [instanceType("four").cpu(4)],
    settings: { gates: { ...defaultGates, CapacityBuffer: true } },
    ...options,
  });
  const { create, status, dependencies, trigger, round, get } = scene;
  const stored = await create<Buffer>({
    apiVersion: "autoscaling.x-k8s.io/v1beta1",
    kind: "CapacityBuffer",
    metadata: { name: "warm", namespace: "default" },
    spec: { podTemplateRef: { name: "app" }, replicas },
  });
  await status(stored, { replicas, conditions: [condition("ReadyForProvisioning")] });
  dependencies.bufferPods.set("default/warm", virtualPods(stored, { template }));
  return {
    ...scene,
    fire: async (): Promise<void> => {
      trigger.fire(stored.metadata.uid ?? "");
      await round();
    },
    provisioning: async (): Promise<Condition | undefined> => {
      const buffer = await get<Buffer>(karpenterTypes.CapacityBuffer, "warm", "default");
      const conditions = (buffer?.status?.conditions ?? []) as readonly Condition[];
      return conditions.find(({ type }) => type === "Provisioning");
    },
  };
}

it("02:B-5 to B-8 a buffer gets nodes of its own, and holds them once they are there", async () => {
  const { fire, provisioning, claims, launchAll, join, cluster, events, podsOf } = await buffered(3);

  await fire();
  const [claim] = await claims();
  expect(await claims()).toHaveLength(1);
  expect(await provisioning()).toMatchObject({
    status: "False",
    reason: "RequiresNewCapacity",
    message: "3/3 virtual pods required new capacity, 0 failed",
  });

  await launchAll();
  await join(claim as never);
  await fire();
  expect(await claims()).toHaveLength(1);
  expect(await provisioning()).toMatchObject({
    status: "True",
    reason: "FitsExistingCapacity",
    message: "All 3 virtual pods fit on existing capacity",
  });
  const id = `test:///${claim?.metadata.name}`;
  expect(cluster.bufferPodCount(id)).toBe(3);
  // Pods that do not exist nominate nothing, are told nothing, and have no times. (02:S-30, §12.2-18)
  expect(cluster.isNominated(id)).toBe(false);
  expect(await events("capacity-buffer-warm-1")).toEqual([]);
  expect(podsOf("capacity-buffer-warm-1")).toEqual({});
});

it("02:B-7 the round after the one that made its nodes finds a buffer provisioned, and nothing else asks for it", async () => {
  const { fire, provisioning, claims, launchAll, join, round } = await buffered(3);
  await fire();
  await launchAll();
  await join((await claims())[0] as never);
  await round();
  expect(await provisioning()).toMatchObject({ status: "True", reason: "FitsExistingCapacity" });
});

it("02:P-21 a buffer's round that finds the state not synced is tried again, as its pods trigger none", async () => {
  const { fire, provisioning, claims, launchAll, join, pass } = await buffered(3);
  await fire();
  await pass(5); // the claim is not launched: the next round must wait (02:S-13)
  expect(await provisioning()).toMatchObject({ status: "False" });
  await launchAll();
  await join((await claims())[0] as never);
  await pass(3);
  expect(await provisioning()).toMatchObject({ status: "True", reason: "FitsExistingCapacity" });
});

it("02:B-7 a buffer that cannot be kept says so, and no event does", async () => {
  const { fire, provisioning, events, logged, metrics } = await buffered(2, { types: [instanceType("tiny").cpu(0.5)] });

  await fire();

  expect(await provisioning()).toMatchObject({ message: "0/2 virtual pods required new capacity, 2 failed" });
  expect(await events("capacity-buffer-warm-1")).toEqual([]);
  expect(logged("could not schedule pod")).toEqual([]);
  expect(metrics.value("scheduler_unschedulable_pods_count", { controller: "provisioner" })).toBe(2);
});

it("02:B-6 real pods and those of buffers share nodes; real ones nominate", async () => {
  const { fire, pend, claims, launchAll, cluster, events } = await buffered(2);
  await pend(pod().named("web").cpu("1"));

  await fire();
  expect(await claims()).toHaveLength(1);
  expect((await events("web")).map(({ reason }) => reason)).toEqual(["Nominated"]);

  await launchAll();
  await fire();
  const id = `test:///${(await claims())[0]?.metadata.name}`;
  expect(cluster.bufferPodCount(id)).toBe(2);
  expect(cluster.isNominated(id)).toBe(true);
});

it("02:B-7 without the gate buffers are not looked at", async () => {
  const { fire, provisioning, claims } = await buffered(2, { settings: {} });

  await fire();

  expect(await claims()).toEqual([]);
  expect(await provisioning()).toBeUndefined();
});

it("02:B-8 machines that hold no buffer pods any more are forgotten", async () => {
  const { fire, claims, launchAll, cluster, dependencies } = await buffered(2);
  await fire();
  await launchAll();
  await fire();
  const id = `test:///${(await claims())[0]?.metadata.name}`;
  expect(cluster.bufferPodCount(id)).toBe(2);

  dependencies.bufferPods.remove("default/warm");
  await fire();

  expect(cluster.bufferPodCount(id)).toBe(0);
});
