import { expect, it } from "vitest";
import { annotations, taints } from "../../../src/api/labels.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { instanceType } from "../../builders/instance-type.ts";
import { pod } from "../../builders/pod.ts";
import { type Claim, type ProvisioningWorld, provisioningWorld } from "./provisioning-world.ts";

const types = [instanceType("four").cpu(4).memory("16Gi")];

/** Nodes of earlier rounds that are on their way out, each with a pod. */
async function leaving(names: readonly string[]): Promise<ProvisioningWorld> {
  const scene = await provisioningWorld({ types });
  const { provision, launchAll, claims, join, cluster, client, bind } = scene;
  await provision(...names.map((name) => pod().named(`of-${name}`).cpu("3")));
  await launchAll();
  for (const [index, claim] of (await claims()).entries()) {
    await join(claim, { taints: [taints.disrupted] });
    await bind(pod().named(`on-${names[index]}`).cpu("1"), `node-of-${claim.metadata.name}`);
    cluster.markForDeletion(`test:///${claim.metadata.name}`);
  }
  for (const name of names) {
    await client.delete(builtInTypes.Pod, { name: `of-${name}`, namespace: "default" }, { gracePeriodSeconds: 0 });
  }
  return scene;
}

async function madeSince(scene: ProvisioningWorld, before: readonly Claim[]): Promise<readonly Claim[]> {
  const known = new Set(before.map(({ metadata }) => metadata.name));
  return (await scene.claims()).filter(({ metadata }) => !known.has(metadata.name));
}

it("02:P-31 03:I-6 pods of several nodes that leave share one new node, and no more is bought for them", async () => {
  const scene = await leaving(["a", "b", "c"]);
  const before = await scene.claims();
  expect(before).toHaveLength(3);

  await scene.pass(2);
  expect(await madeSince(scene, before)).toHaveLength(1);

  await scene.launchAll();
  await scene.pass(25);
  expect(await madeSince(scene, before)).toHaveLength(1);
  expect(scene.cluster.isNominated(`test:///${(await madeSince(scene, before))[0]?.metadata.name}`)).toBe(true);
});

it("02:P-8 pods that cannot leave have nothing bought for them", async () => {
  const { create, bind, cluster, client, trigger, round, claims, logged } = await provisioningWorld({ types });
  await create({ apiVersion: "v1", kind: "Node", metadata: { name: "old" }, spec: { providerID: "test:///old" } });
  await bind(pod().named("blocked").label("app", "blocked"), "old");
  await bind(pod().named("held"), "old");
  await create({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "never", namespace: "default" },
    spec: { maxUnavailable: 0, selector: { matchLabels: { app: "blocked" } } },
  });
  const body = { metadata: { annotations: { [annotations.doNotDisrupt]: "true" } } };
  await client.patch(builtInTypes.Pod, { name: "held", namespace: "default" }, { kind: "merge", body });
  cluster.markForDeletion("test:///old");

  trigger.fire("somebody");
  await round();
  expect(await claims()).toEqual([]);
  expect(logged("computing scheduling decision for provisionable pod(s)")).toEqual([]);

  await bind(pod().named("free"), "old");
  trigger.fire("somebody");
  await round();
  expect(await claims()).toHaveLength(1);
});
