import { afterEach, describe, expect, it } from "vitest";
import { simulationAnnotations } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { ec2NodeClass, kwokNodeClass } from "../builders/node-class.ts";
import { type ProviderWorld, providerWorld } from "./provider-world.ts";

let open: ProviderWorld | undefined;
afterEach(async () => {
  await open?.stop();
  open = undefined;
});

const controllers = ["simulation.node", "simulation.nodeclass"];

async function launched() {
  open = await providerWorld({ controllers });
  const world = open;
  await world.create(kwokNodeClass());
  const { instance } = await world.launchClaim();
  const name = world.cloud.find(instance.providerId)?.instance.nodeName ?? "";
  await world.create({ apiVersion: "v1", kind: "Node", metadata: { name }, spec: { providerID: instance.providerId } });
  const annotate = async (key: string, value: string | null) => {
    const body = { metadata: { annotations: { [key]: value } } };
    await world.client.patch(builtInTypes.Node, { name }, { kind: "merge", body });
    await world.clock.advance(1_000);
  };
  const node = () => world.get(builtInTypes.Node, name);
  return { world, name, annotate, node };
}

describe("02:K-12 annotations", () => {
  it("02:K-12 interrupt a node, and can be set again", async () => {
    const { world, name, annotate, node } = await launched();
    await annotate(simulationAnnotations.interrupt, "rebalance_recommendation");
    await annotate(simulationAnnotations.interrupt, "true");
    expect(world.cloud.interruptionQueue.messages().map(({ kind }) => kind)).toEqual([
      "rebalance_recommendation",
      "spot_interrupted",
    ]);
    expect((await node())?.metadata.annotations?.[simulationAnnotations.interrupt]).toBeUndefined();
    await world.clock.advance(121_000);
    expect(world.cloud.find(name)).toBeUndefined();
  });

  it("02:K-12 break and heal a machine, or end it", async () => {
    const { world, name, annotate } = await launched();
    const health = () => world.cloud.find(name)?.instance.kubelet;
    await annotate(simulationAnnotations.machine, "not-ready");
    expect(health()).toBe("not-ready");
    await annotate(simulationAnnotations.machine, "healthy");
    expect(health()).toBe("healthy");
    await annotate(simulationAnnotations.machine, "gone");
    expect(world.cloud.find(name)).toBeUndefined();
  });

  it("02:K-12 say in an event what they may be", async () => {
    const { world, annotate } = await launched();
    await annotate(simulationAnnotations.machine, "broken");
    await annotate(simulationAnnotations.interrupt, "now");
    await world.clock.advance(5_000);
    const { items } = await world.client.list<KubeObject & { message: string }>(builtInTypes.Event);
    expect(items.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        'sim.karpenter.sh/machine: "broken" is unknown; use one of healthy, not-ready, slow, silent, gone',
        expect.stringContaining('sim.karpenter.sh/interrupt: "now" is unknown; use one of true, spot_interrupted,'),
      ]),
    );
  });

  it("02:K-12 empty a stock until they are removed, or their class is", async () => {
    const { world } = await launched();
    await world.create(ec2NodeClass("other"));
    const key = { instanceType: "c-1x-amd64-linux", zone: "test-zone-a", capacityType: "spot" };
    const hasStock = () => {
      const isAvailable = world.cloud.supply.allocate(key);
      if (isAvailable) world.cloud.supply.release(key);
      return isAvailable;
    };
    const annotate = async (type: typeof karpenterTypes.KWOKNodeClass, name: string, value: string | null) => {
      const body = { metadata: { annotations: { [simulationAnnotations.outOfStock]: value } } };
      await world.client.patch(type, { name }, { kind: "merge", body });
      await world.clock.advance(1_000);
    };
    const { KWOKNodeClass, EC2NodeClass } = karpenterTypes;
    await annotate(KWOKNodeClass, "default", "c-1x-amd64-linux/*/spot, m5.large");
    expect(hasStock()).toBe(false);
    expect(world.cloud.supply.allocate({ ...key, capacityType: "on-demand" })).toBe(true);
    await annotate(EC2NodeClass, "other", "c-1x-amd64-linux/*/spot");
    await annotate(KWOKNodeClass, "default", null);
    expect(hasStock()).toBe(false);
    await world.client.delete(EC2NodeClass, { name: "other" });
    await world.clock.advance(1_000);
    expect(hasStock()).toBe(true);
  });
});
