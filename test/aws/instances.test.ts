import { describe, expect, it } from "vitest";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import { annotations, awsLabels, labels, resources } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { CloudError } from "../../src/cloud/cloud-error.ts";
import type { Instance } from "../../src/cloud/cloud-provider.ts";
import { karpenterTypes } from "../../src/kube/resources.ts";
import { launchedClaim, opensAwsWorlds, storeClaim } from "./aws-world.ts";
import { nodeClassManifest } from "./node-class-world.ts";

const open = opensAwsWorlds();

const requirements = [
  { key: labels.instanceType, operator: "In" as const, values: ["m5.large"] },
  { key: labels.capacityType, operator: "In" as const, values: ["on-demand"] },
  { key: labels.zone, operator: "In" as const, values: ["us-west-2a"] },
];

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "done";
  } catch (error) {
    return error instanceof CloudError ? error.code : String(error);
  }
}

describe("instances", () => {
  it("04 §3.8 a deletion succeeds until EC2 no longer lists the instance, and terminates it once", async () => {
    const one = await open();
    one.aws.shutdownMs = 60_000;
    const instance = await one.create("a", { requirements });
    const claim = launchedClaim(one, instance, { requirements });
    const remove = () => codeOf(one.during(one.provider.delete(claim), 2));
    expect([await remove(), await remove()]).toEqual(["done", "done"]);
    expect(one.aws.inputsOf("ec2:TerminateInstances")).toHaveLength(1);
    await one.pass(60);
    expect(await remove()).toBe("not-found");
    expect(await codeOf(one.during(one.provider.get(instance.providerId), 2))).toBe("not-found");
  });

  it("04 §3.5 deletions are one call, and one unknown id fails only itself", async () => {
    const one = await open();
    const names = ["a", "b", "c"];
    const claims: NodeClaim[] = [];
    for (const name of names)
      claims.push(launchedClaim(one, await one.create(name, { requirements }), { name, requirements }));
    const missing = { ...claims[0], status: { providerID: "aws:///us-west-2a/i-0123" } } as NodeClaim;
    const outcomes = Promise.all([...claims, missing].map((claim) => codeOf(one.provider.delete(claim))));
    await one.pass(3);
    expect(await outcomes).toEqual(["done", "done", "done", "not-found"]);
    expect(one.aws.inputsOf("ec2:TerminateInstances")).toHaveLength(1);
  });

  it("04 §3.8 all instances of this cluster are listed, and of no other", async () => {
    const one = await open();
    const instance = await one.create("a", { requirements });
    const [own] = [...one.aws.instances.values()];
    const Tags = (own?.Tags ?? []).map((tag) =>
      tag.Key === "eks:eks-cluster-name" ? { ...tag, Value: "other" } : tag,
    );
    one.aws.instances.set("i-0999", { ...own, InstanceId: "i-0999", Tags });
    const listed = await one.during(one.provider.list(), 1);
    expect(listed.map(({ providerId }) => providerId)).toEqual([instance.providerId]);
    expect(listed[0]?.labels).toMatchObject({ [labels.capacityType]: "on-demand", [labels.zone]: "us-west-2a" });
    expect(listed[0]?.capacity["cpu"]).toBe("2");
  });

  it("04 §3.8 an instance has the EFA interfaces it was launched with, not all its type could have", async () => {
    const one = await open({ types: (name) => name === "p5.48xlarge" });
    const efaOnly = (networkCardIndex: number) =>
      ({ networkCardIndex, deviceIndex: 1, interfaceType: "efa-only" }) as const;
    const primary = { networkCardIndex: 0, deviceIndex: 0, interfaceType: "interface" } as const;
    await one.store(nodeClassManifest("efas", { networkInterfaces: [primary, efaOnly(1), efaOnly(2)] }));
    await one.pass(5);
    const onDemand = [{ key: labels.capacityType, operator: "In" as const, values: ["on-demand"] }];
    const asking = { [resources.efa]: "1" };
    const launched = [
      await one.create("plain", { requirements: onDemand }),
      await one.create("asking", { requirements: onDemand, requests: asking }),
      await one.create("asking-for-none", { requirements: onDemand, requests: { [resources.efa]: "0" } }),
      await one.create("configured", { requirements: onDemand, nodeClass: "efas" }),
    ];
    const efas = (all: readonly Instance[]) =>
      all.map(({ capacity, allocatable }) => [capacity[resources.efa], allocatable[resources.efa]]);
    const expected = [
      [undefined, undefined],
      ["32", "32"],
      [undefined, undefined],
      ["2", "2"],
    ];
    expect(efas(launched)).toEqual(expected);
    expect(efas(await one.during(one.provider.list(), 1))).toEqual(expected);
    // Somebody detached one: EC2 knows better than class and type.
    const id = launched[3]?.providerId.split("/").at(-1) ?? "";
    const NetworkInterfaces = one.aws.instances.get(id)?.NetworkInterfaces?.slice(0, 2);
    one.aws.instances.set(id, { ...one.aws.instances.get(id), NetworkInterfaces });
    expect(efas(await one.during(one.provider.list(), 1)).at(-1)).toEqual(["1", "1"]);
    expect((await one.during(one.provider.get(launched[0]?.providerId ?? ""), 1)).capacity).toMatchObject({
      "nvidia.com/gpu": "8",
    });
  });

  it.each([
    ["a reservation it was launched into", true, "capacity-reservations-only", "reserved"],
    ["an open reservation it happened to match", true, "open", "on-demand"],
    ["a reservation nobody chose", true, undefined, "on-demand"],
    ["a reservation, without the gate", false, "capacity-reservations-only", "on-demand"],
  ] as const)("04 §3.8 an instance in %s is read back as such (%s, %s): %s", async (...row) => {
    const [, usesReservations, CapacityReservationPreference, capacityType] = row;
    const one = await open({ types: (name) => name === "m5.large", usesReservations });
    await one.create("a", { requirements });
    const [own] = [...one.aws.instances.values()];
    one.aws.instances.set(own?.InstanceId ?? "", {
      ...own,
      CapacityReservationId: "cr-1",
      CapacityReservationSpecification: { CapacityReservationPreference },
    });
    const [listed] = await one.during(one.provider.list(), 1);
    expect(listed?.labels[labels.capacityType]).toBe(capacityType);
    const id = capacityType === "reserved" ? "cr-1" : undefined;
    expect(listed?.labels[awsLabels.capacityReservationId]).toBe(id);
  });

  it("04 §3.8 an instance without a claim is terminated once it is older than half a minute", async () => {
    const one = await open();
    await one.create("a", { requirements });
    await one.pass(20);
    expect(one.aws.running()).toHaveLength(1);
    await one.pass(30);
    expect(one.aws.running()).toEqual([]);
  });

  it("04 §3.8 many instances without a claim are terminated together", async () => {
    const one = await open({ settings: { isDryRunDisabled: true } });
    const claims = Array.from({ length: 250 }, (_, index) => one.claimOf(`c${index}`, { requirements }));
    await one.during(Promise.all(claims.map((claim) => one.provider.create(claim))), 5);
    await one.pass(45);
    expect(await one.during(one.provider.list(), 1)).toEqual([]);
    expect(one.aws.inputsOf("ec2:TerminateInstances").length).toBeLessThan(10);
  });

  it("04 §3.8 an instance is tagged with node and claim once, and the user's Name stays", async () => {
    const one = await open({ nodeClass: { tags: { Name: "mine" } } });
    const claim = launchedClaim(one, await one.create("a", { requirements }), { requirements });
    await storeClaim(one, claim, { nodeName: "node-a" });
    await one.pass(5);
    const [instance] = one.aws.running();
    expect(Object.fromEntries((instance?.Tags ?? []).map(({ Key, Value }) => [Key, Value]))).toMatchObject({
      Name: "mine",
      "karpenter.sh/nodeclaim": "a",
    });
    const stored = await one.get<KubeObject & NodeClaim>(karpenterTypes.NodeClaim, "a");
    expect(stored?.metadata.annotations?.[annotations.awsTagged]).toBe("true");
    await one.pass(60);
    expect(one.aws.inputsOf("ec2:CreateTags")).toHaveLength(1);
  });

  it("04 §2.9 instances in a zone the cluster is shifted away from are not tagged until the shift ends", async () => {
    const one = await open({ types: (name) => name === "m5.large", settings: { hasZonalShift: true } });
    const claim = launchedClaim(one, await one.create("a", { requirements }), { requirements });
    await one.during(one.provider.list(), 1);
    one.aws.shiftedZoneIds = ["usw2-az1"];
    await one.pass(35);
    await storeClaim(one, claim, { nodeName: "node-a" });
    await one.pass(5);
    expect(one.aws.inputsOf("ec2:CreateTags")).toEqual([]);
    const [event] = (await one.events("a")).filter(({ reason }) => reason === "InstanceTaggingFailed");
    expect(event?.message).toContain("the cluster is shifted away from zone us-west-2a");
    one.aws.shiftedZoneIds = [];
    await one.pass(5 * 60);
    expect(one.aws.inputsOf("ec2:CreateTags")).toHaveLength(1);
  });
});

describe("drift", () => {
  it("04 §1.13 each reason, and none while all is as it was launched", async () => {
    const one = await open();
    const claim = launchedClaim(one, await one.create("a", { requirements }), { requirements });
    await storeClaim(one, claim);
    const drift = () => one.during(one.provider.driftReason(claim), 2);
    expect(await drift()).toBeUndefined();

    const [instance] = [...one.aws.instances.values()];
    if (instance === undefined) throw new Error("no instance");
    one.aws.instances.set(instance.InstanceId ?? "", { ...instance, SecurityGroups: [{ GroupId: "sg-9" }] });
    await one.during(one.provider.list(), 1);
    expect(await drift()).toBe("SecurityGroupDrift");
    one.aws.instances.set(instance.InstanceId ?? "", { ...instance, SubnetId: "subnet-9" });
    await one.during(one.provider.list(), 1);
    expect(await drift()).toBe("SubnetDrift");

    const otherImage = { ...claim, status: { ...claim.status, imageID: "ami-old" } } as NodeClaim;
    expect(await one.during(one.provider.driftReason(otherImage), 1)).toBe("AMIDrift");
    const hashed = { ...claim.metadata.annotations, [annotations.ec2NodeClassHash]: "1" };
    const otherHash = { ...claim, metadata: { ...claim.metadata, annotations: hashed } };
    expect(await one.during(one.provider.driftReason(otherHash), 1)).toBe("NodeClassDrift");
    const versioned = { ...hashed, [annotations.ec2NodeClassHashVersion]: "v1" };
    const otherVersion = { ...claim, metadata: { ...claim.metadata, annotations: versioned } };
    expect(await one.during(one.provider.driftReason(otherVersion), 1)).not.toBe("NodeClassDrift");

    one.aws.instances.set(instance.InstanceId ?? "", instance);
    await one.during(one.provider.list(), 1);
    const grouped = { ...claim.metadata.labels, [awsLabels.placementGroupId]: "pg-1" };
    const otherGroup = { ...claim, metadata: { ...claim.metadata, labels: grouped } };
    expect(await one.during(one.provider.driftReason(otherGroup), 1)).toBe("PlacementGroupDrift");
    const unpooled = { ...otherGroup, metadata: { ...otherGroup.metadata, labels: {} } };
    expect(await one.during(one.provider.driftReason(unpooled), 1)).toBeUndefined();
  });
});

describe("start", () => {
  it("04 §5.2 what cannot be done without is named with what to do", async () => {
    const one = await open();
    one.aws.failNext("ec2:DescribeInstanceTypes", { code: "UnauthorizedOperation", message: "no" });
    await expect(one.start()).rejects.toThrow(/cannot reach EC2 in region us-west-2: no; check the region/);
    one.aws.failNext("eks:DescribeCluster", { code: "ResourceNotFoundException", message: "no cluster" });
    await expect(one.start()).rejects.toThrow(/set --cluster-endpoint, or allow eks:DescribeCluster/);
    await expect(one.start({ connectionCa: undefined })).rejects.toThrow(/set --cluster-ca-bundle/);
  });

  it("04 §2.9 zonal shift needs a cluster that ARC manages", async () => {
    const one = await open();
    one.aws.failNext("arc-zonal-shift:GetManagedResource", {
      code: "ResourceNotFoundException",
      message: "not managed",
    });
    const settings = { ...one.settings, hasZonalShift: true };
    await expect(one.start({ settings })).rejects.toThrow(/run without --enable-zonal-shift/);
    await expect(one.start({ settings })).resolves.toMatchObject({ name: "aws" });
  });
});
