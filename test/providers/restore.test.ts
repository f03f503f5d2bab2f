import { afterEach, describe, expect, it } from "vitest";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import type { Node } from "../../src/api/kubernetes/cluster-objects.ts";
import { labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { restoredInstances } from "../../src/providers/sim/restored-instances.ts";
import { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { Random } from "../../src/util/random.ts";
import { instanceType } from "../builders/instance-type.ts";
import { ec2NodeClass, kwokNodeClass } from "../builders/node-class.ts";
import { ec2, type ProviderWorld, providerWorld } from "./provider-world.ts";

let open: ProviderWorld | undefined;
afterEach(() => open?.stop());

describe("a cloud that was switched off", () => {
  it("finds its machines again from Nodes and NodeClaims, under the same names", async () => {
    open = await providerWorld({ controllers: ["nodeclass"], runsCluster: true });
    const { create, launchClaim, claimed, clock, client, cloud, provider, answer } = open;
    await create(kwokNodeClass());
    await create(ec2NodeClass());
    await clock.advance(1_000);
    const kwok = { wants: { [labels.instanceType]: ["c-2x-amd64-linux"] } };
    const { claim: ended } = await launchClaim(kwok);
    await launchClaim(kwok);
    await launchClaim({ nodeClass: ec2, wants: { [labels.instanceType]: ["m5.large"] } });
    await clock.advance(30_000);
    await launchClaim({ nodeClass: ec2, wants: { [labels.instanceType]: ["m5.large"] } }); // has not joined yet
    const { metadata } = await claimed(kwok);
    await client.delete(karpenterTypes.NodeClaim, { name: ended.metadata.name ?? "" }); // its Node is all that is left of it

    const again = new SimulatedCloud({ clock, random: new Random("later") });
    const nodes = (await client.list<KubeObject & Node>(builtInTypes.Node)).items;
    const claims = (await client.list<KubeObject & NodeClaim>(karpenterTypes.NodeClaim)).items;
    again.restore(restoredInstances({ nodes, claims }));

    const facts = (one: SimulatedCloud) =>
      one.records().map(({ instance: { id, providerId, nodeName, capacity, allocatable }, key, imageId, ...rest }) => ({
        ...{ id, providerId, nodeName, capacity, allocatable, key, imageId },
        claimName: rest.claimName === ended.metadata.name ? "" : rest.claimName,
      }));
    expect(again.records()).toHaveLength(4);
    expect(facts(again)).toEqual(facts(cloud));
    expect(again.recordOf(metadata.uid ?? "")).toBeUndefined();
    await answer(provider.list());
  });

  it("02:L-33 counts them in their reservations and against what is available", async () => {
    const kwokTypes = [instanceType("m.large").reserved("cr-1", { zone: "a", capacity: 1 }).build()];
    open = await providerWorld({ provider: { kwokTypes } });
    const { create, launchClaim: launched, clock } = open;
    await create(kwokNodeClass());
    const { claim } = await launched();
    expect(claim.metadata.labels).toMatchObject({ [labels.capacityType]: "reserved" });

    const again = new SimulatedCloud({ clock, random: new Random("later") });
    again.setAvailableCount({ capacityType: "reserved" }, 1);
    again.restore(restoredInstances({ nodes: [], claims: [claim] }));
    const key = again.records()[0]?.key;
    expect(key).toMatchObject({ capacityType: "reserved", reservationId: "cr-1" });
    expect(key && again.supply.reservationUsage(key)).toBe(1);
    expect(key && again.supply.allocate(key)).toBe(false);
    const { providerID = "" } = claim.status ?? {};
    again.vanish(providerID);
    expect(key && again.supply.allocate(key)).toBe(true);
  });

  it("goes on ending what was ending", async () => {
    open = await providerWorld({});
    const { create, launchClaim: launched, clock, client } = open;
    await create(kwokNodeClass());
    const { claim } = await launched({ wants: { [labels.instanceType]: ["c-2x-amd64-linux"] } });
    const conditions = [
      { type: "InstanceTerminating", status: "True", reason: "x", lastTransitionTime: "2026-01-01T00:00:00Z" },
    ];
    const ending = { ...claim, status: { ...claim.status, conditions } } as NodeClaim;
    const again = new SimulatedCloud({ clock, random: new Random("later") });
    again.restore(restoredInstances({ nodes: [], claims: [ending] }));
    expect(again.records()).toMatchObject([{ isTerminating: true }]);
    await clock.advance(5_000);
    expect(again.records()).toEqual([]);
    expect((await client.list(builtInTypes.Node)).items).toEqual([]);
  });
});
