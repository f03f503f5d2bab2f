import { describe, expect, it } from "vitest";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import { awsLabels, labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { InstanceType } from "../../src/core/instance-type.ts";
import { amountOf } from "../../src/core/resources.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { type AwsWorld, type AwsWorldOptions, awsPool, inLarge, joined, opensAwsWorlds } from "./aws-world.ts";
import type { FakeAws } from "./fake-aws.ts";

const open = opensAwsWorlds({ types: (name) => /^m5\.(large|xlarge)$/.test(name) });

type Claim = KubeObject & NodeClaim;
const reservation = (changes: object = {}) => ({
  CapacityReservationId: "cr-1",
  OwnerId: "123456789012",
  InstanceType: "m5.large",
  AvailabilityZone: "us-west-2a",
  State: "active" as const,
  AvailableInstanceCount: 2,
  TotalInstanceCount: 2,
  InstanceMatchCriteria: "targeted" as const,
  ...changes,
});
const reserving = (changes: object = {}): AwsWorldOptions => ({
  nodeClass: { capacityReservationSelectorTerms: [{ id: "cr-1" }] },
  account: (aws) => void aws.capacityReservations.push(reservation(changes)),
});

describe("instances in reservations", () => {
  it("04 §9.4 claim and Node of an instance that outlived its reservation are relabelled on-demand", async () => {
    const one = await open(reserving());
    await joined(one, inLarge("us-west-2a", "reserved"));
    const labelsOf = async () => [
      (await one.get<Claim>(karpenterTypes.NodeClaim, "a"))?.metadata.labels,
      (await one.get(builtInTypes.Node, "node-a"))?.metadata.labels,
    ];
    for (const own of await labelsOf()) {
      expect(own).toMatchObject({ [labels.capacityType]: "reserved", [awsLabels.capacityReservationId]: "cr-1" });
    }
    await one.pass(120);
    expect((await labelsOf())[0]?.[labels.capacityType]).toBe("reserved"); // as long as EC2 says so
    const [instance] = [...one.aws.instances.values()];
    if (instance === undefined) throw new Error("no instance");
    const { CapacityReservationId: _, CapacityReservationSpecification: __, ...rest } = instance;
    one.aws.instances.set(instance.InstanceId ?? "", rest);
    await one.pass(61);
    for (const own of await labelsOf()) {
      expect(own?.[labels.capacityType]).toBe("on-demand");
      const left = Object.keys(own ?? {}).filter((key) => key.includes("capacity-reservation"));
      expect(left).toEqual([]);
    }
  });

  it("04 §9.4 claims in a capacity block are deleted 40 minutes before its end, in others they are not", async () => {
    const one = await open(reserving({ ReservationType: "capacity-block" }));
    await joined(one, inLarge("us-west-2a", "reserved"));
    const block = one.aws.capacityReservations[0];
    if (block === undefined) throw new Error("no reservation");
    block.EndDate = new Date(one.clock.now() + 45 * 60_000);
    await one.pass(4 * 60);
    expect(await one.get(karpenterTypes.NodeClaim, "a")).toBeDefined();
    await one.pass(4 * 60);
    expect(await one.get(karpenterTypes.NodeClaim, "a")).toBeUndefined();
  });

  it("04 §9.4 the end of an ordinary reservation deletes nothing", async () => {
    const one = await open(reserving({}));
    await joined(one, inLarge("us-west-2a", "reserved"));
    const plain = one.aws.capacityReservations[0];
    if (plain === undefined) throw new Error("no reservation");
    plain.EndDate = new Date(one.clock.now() + 10 * 60_000);
    await one.pass(8 * 60);
    expect(await one.get(karpenterTypes.NodeClaim, "a")).toBeDefined();
  });
});

describe("zonal shift", () => {
  it("04 §9.4 pools that could use the zone hear when a shift begins and ends, once each; others do not", async () => {
    const one = await open({ settings: { hasZonalShift: true } });
    const inB = [{ key: labels.zone, operator: "In", values: ["us-west-2b"] }];
    await one.store(awsPool("anywhere"), awsPool("in-b", "web", inB));
    const told = async (pool: string) => (await one.events(pool)).map(({ type, reason }) => `${type} ${reason}`);
    one.aws.shiftedZoneIds = ["usw2-az1"];
    await one.pass(95);
    expect(await told("anywhere")).toEqual(["Warning ZonalShiftActive"]);
    expect(await told("in-b")).toEqual([]);
    one.aws.shiftedZoneIds = [];
    await one.pass(95);
    expect(await told("anywhere")).toEqual(["Warning ZonalShiftActive", "Normal ZonalShiftCleared"]);
    expect(await told("in-b")).toEqual([]);
  });

  it("04 §2.9 nothing is launched, terminated or tagged in a zone the cluster is shifted away from", async () => {
    const one = await open({ settings: { hasZonalShift: true } });
    await joined(one);
    one.aws.shiftedZoneIds = ["usw2-az1"];
    await one.pass(35);
    const requirements = inLarge("us-west-2a", "on-demand");
    await expect(one.create("b", { requirements })).rejects.toThrow(/insufficient capacity/);
    const claim = await one.get<Claim>(karpenterTypes.NodeClaim, "a");
    if (claim === undefined) throw new Error("no claim");
    await expect(one.during(one.provider.delete(claim), 2)).rejects.toThrow(/shifted away from zone us-west-2a/);
    expect(one.aws.inputsOf("ec2:TerminateInstances")).toEqual([]);
    one.aws.shiftedZoneIds = [];
    await one.pass(35);
    await one.during(one.provider.delete(claim), 2);
    expect(one.aws.running()).toEqual([]);
  });
});

const memoryOf = async (one: AwsWorld, pool = "pool"): Promise<string> => {
  const types = await one.provider.instanceTypes(awsPool(pool) as never);
  const large = types.find(({ name }) => name === "m5.large") as InstanceType;
  return amountOf(large.capacity, "memory").toString();
};

describe("memory seen on nodes", () => {
  it("04 §9.3 the memory of a registered Node with a current image counts from then on", async () => {
    const one = await open();
    expect(await memoryOf(one)).toBe("7577Mi");
    await joined(one, inLarge("us-west-2a", "on-demand"), { memory: "7500Mi" });
    expect(await memoryOf(one)).toBe("7500Mi");
  });

  it("04 §9.3 that of a Node whose image the class no longer has does not", async () => {
    const one = await open();
    one.aws.images.push({ ...one.aws.images[0], ImageId: "ami-newer" });
    const beforeNode = async () => {
      const patch = { kind: "merge", body: { spec: { amiSelectorTerms: [{ id: "ami-newer" }] } } } as const;
      await one.client.patch(karpenterTypes.EC2NodeClass, { name: "web" }, patch);
      await one.pass(2);
      expect((await one.nodeClass())?.status?.amis?.map(({ id }) => id)).toEqual(["ami-newer"]);
    };
    await joined(one, inLarge("us-west-2a", "on-demand"), { memory: "7000Mi", beforeNode });
    expect(await memoryOf(one)).toBe("7577Mi");
  });
});

describe("versions", () => {
  it("04 §9.3 the version is read again every five minutes; one that is not supported is logged once", async () => {
    let version = "1.33";
    const one = await open({ start: { serverVersion: async () => version } });
    const warned = () => one.lines.filter(({ message }) => message.includes("version of Kubernetes is not supported"));
    version = "1.99+";
    await one.pass(5 * 60 + 1);
    expect(warned()).toHaveLength(1);
    await one.pass(20 * 60);
    expect(warned()).toHaveLength(1);
    version = "1.36";
    await one.pass(5 * 60);
    expect(warned()).toHaveLength(1);
  });

  it("04 §9.3 with EKS_CONTROL_PLANE the version is EKS's", async () => {
    const paths = (one: AwsWorld) => one.aws.inputsOf<{ name: string }>("ssm:GetParameter").map(({ name }) => name);
    const one = await open({
      settings: { hasEksControlPlane: true },
      account: (aws) => void aws.clusters.set("demo", { ...aws.clusters.get("demo"), version: "1.31" }),
      nodeClass: { amiSelectorTerms: [{ alias: "al2023@latest" }] },
    });
    expect(paths(one).every((path) => path.includes("/1.31/"))).toBe(true);
    expect(paths(one).length).toBeGreaterThan(0);
  });
});

const grouped = (Strategy: "partition" | "spread" | "cluster"): AwsWorldOptions => ({
  nodeClass: { placementGroupSelector: { name: "group" } },
  account: (aws: FakeAws) =>
    void aws.placementGroups.push({
      GroupId: "pg-1",
      GroupName: "group",
      State: "available",
      Strategy,
      ...(Strategy === "partition" && { PartitionCount: 3 }),
    }),
});

describe("placement groups", () => {
  const hookOf = (one: AwsWorld) => {
    const hook = one.provider.registrationHooks?.find(({ name }) => name === "PlacementGroupRegistrationHook");
    if (hook === undefined) throw new Error("no hook");
    return hook;
  };
  const claimWith = (one: AwsWorld, partition: string | undefined, providerID?: string) => {
    const own = partition === undefined ? {} : { [awsLabels.placementGroupPartition]: partition };
    return { ...one.claimOf("a", { metadata: { labels: own } }), status: { providerID } } as NodeClaim;
  };

  it("04 §9.4 registration waits for the partition EC2 picked, and fills its label", async () => {
    const one = await open(grouped("partition"));
    const hook = hookOf(one);
    const asked = (claim: NodeClaim) => one.during(hook.registered(claim), 2);
    expect(await asked(claimWith(one, undefined))).toEqual({ isPending: false });
    expect(await asked(claimWith(one, "2"))).toEqual({ isPending: false });
    expect(await asked(claimWith(one, ""))).toMatchObject({ isPending: true });
    const { providerId } = await one.create("a", { requirements: inLarge("us-west-2a", "on-demand") });
    const id = providerId.split("/").at(-1) ?? "";
    const instance = one.aws.instances.get(id);
    if (instance === undefined) throw new Error("no instance");
    const { PartitionNumber: _, ...Placement } = instance.Placement ?? {};
    one.aws.instances.set(id, { ...instance, Placement });
    expect(await asked(claimWith(one, "", providerId))).toMatchObject({ isPending: true });
    one.aws.instances.set(id, { ...instance, Placement: { ...Placement, PartitionNumber: 3 } });
    expect(await asked(claimWith(one, "", providerId))).toEqual({
      isPending: false,
      labels: { [awsLabels.placementGroupPartition]: "3" },
    });
    await expect(asked(claimWith(one, "", "aws:///us-west-2a/i-missing"))).rejects.toThrow(/does not exist/);
  });

  it("04 §2.7 a spread group that is full in a zone is avoided there with every type, elsewhere not", async () => {
    const one = await open(grouped("spread"));
    const message = "You have reached the limit of instances in this spread placement group for the zone";
    one.aws.poolErrors.set("on-demand:m5.large:us-west-2a", { code: "PlacementGroupLimit", message });
    const requirements = inLarge("us-west-2a", "on-demand");
    const anyType = [{ ...requirements[0], values: ["m5.large", "m5.xlarge"] }, ...requirements.slice(1)] as never;
    // The dearer type is launched before EC2 counts again; the group is full for it, too.
    expect((await one.create("a", { requirements: anyType })).labels[labels.instanceType]).toBe("m5.xlarge");
    const types = await one.provider.instanceTypes(awsPool("pool") as never);
    const available = types.flatMap(({ name, offerings }) =>
      offerings
        .filter((offering) => offering.available)
        .map(
          ({ requirements: own }) =>
            `${name} ${own.get(labels.capacityType).singleValue} ${own.get(labels.zone).singleValue}`,
        ),
    );
    expect(available.filter((text) => text.endsWith("on-demand us-west-2a"))).toEqual([]);
    expect(available).toContain("m5.large on-demand us-west-2b");
    expect(available).toContain("m5.large spot us-west-2a");
  });

  it("04 §2.8 a process that has just started asks for the group before it says what can be had", async () => {
    const one = await open(grouped("partition"));
    const again = await one.start();
    const before = one.aws.inputsOf("ec2:DescribePlacementGroups").length;
    const [type] = await again.instanceTypes(awsPool("pool") as never);
    expect(one.aws.inputsOf("ec2:DescribePlacementGroups")).toHaveLength(before + 1);
    expect([...(type?.requirements.get(awsLabels.placementGroupPartition).values ?? [])]).toEqual(["1", "2", "3"]);
    one.aws.failNext("ec2:DescribePlacementGroups", { code: "RequestLimitExceeded" });
    const third = await one.start();
    await expect(third.instanceTypes(awsPool("pool") as never)).rejects.toThrow("RequestLimitExceeded");
  });
});

describe("prices of types AWS names none for", () => {
  const overlay = (name: string, requirements: object[], price: string) => ({
    apiVersion: "karpenter.sh/v1alpha1",
    kind: "NodeOverlay",
    metadata: { name },
    spec: { requirements, price },
  });
  const ofLarge = { key: labels.instanceType, operator: "In", values: ["m5.large"] };
  /** As EC2 describes it, under a name nobody has a price for. */
  const account = (aws: FakeAws) => {
    const like = <T extends { InstanceType?: unknown }>(rows: T[]): T[] =>
      rows
        .filter(({ InstanceType }) => InstanceType === "m5.large")
        .map((row) => ({ ...row, InstanceType: "m99.large" }));
    aws.instanceTypes.push(...like(aws.instanceTypes));
    aws.typeOfferings.push(...like(aws.typeOfferings));
  };
  const offeringsOf = async (one: AwsWorld, name: string) => {
    const types = await one.provider.instanceTypes(awsPool("pool") as never);
    return (types.find((type) => type.name === name)?.offerings ?? []).filter(({ available }) => available);
  };

  it("04 §2.5 come from an overlay that names exactly the type, while it is there", async () => {
    const one = await open({ account });
    expect(await offeringsOf(one, "m99.large")).toEqual([]);
    const ofUnknown = { ...ofLarge, values: ["m99.large"] };
    await one.store(overlay("two-types", [{ ...ofLarge, values: ["m99.large", "m5.large"] }], "0.5"));
    await one.store(overlay("zonal", [ofUnknown, { key: labels.zone, operator: "In", values: ["us-west-2a"] }], "0.5"));
    await one.pass(1);
    expect(await offeringsOf(one, "m99.large")).toEqual([]);
    await one.store(overlay("own", [ofUnknown], "0.25"), overlay("known", [ofLarge], "0.01"));
    await one.pass(1);
    const offerings = await offeringsOf(one, "m99.large");
    expect(offerings.length).toBeGreaterThan(3);
    expect(new Set(offerings.map(({ price }) => price))).toEqual(new Set([0.25]));
    expect((await offeringsOf(one, "m5.large"))[0]?.price).toBe(0.096); // AWS's own price stays the base
    await one.client.delete(karpenterTypes.NodeOverlay, { name: "own" });
    await one.pass(1);
    expect(await offeringsOf(one, "m99.large")).toEqual([]);
  });

  it("04 §2.5 without the gate NodeOverlay there are none", async () => {
    const one = await open({ account, start: { usesOverlays: false } });
    await one.store(overlay("own", [{ ...ofLarge, values: ["m99.large"] }], "0.25"));
    await one.pass(1);
    expect(await offeringsOf(one, "m99.large")).toEqual([]);
  });
});
