import type { CreateFleetCommandInput, CreateLaunchTemplateCommandInput } from "@aws-sdk/client-ec2";
import { describe, expect, it } from "vitest";
import { annotations, awsLabels, awsZoneId, labels, resources } from "../../src/api/labels.ts";
import { CloudError } from "../../src/cloud/cloud-error.ts";
import { type AwsWorld, opensAwsWorlds } from "./aws-world.ts";

const open = opensAwsWorlds();

const isIn = (key: string, ...values: string[]) => ({ key, operator: "In" as const, values });
const onDemand = isIn(labels.capacityType, "on-demand");
const m5Large = isIn(labels.instanceType, "m5.large");

const fleets = ({ aws }: AwsWorld) =>
  aws.inputsOf<CreateFleetCommandInput>("ec2:CreateFleet").filter(({ DryRun }) => DryRun !== true);

async function refusalOf(created: Promise<unknown>): Promise<CloudError> {
  const error = await created.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof CloudError)) throw new Error(`expected a CloudError, got ${String(error)}`);
  return error;
}

describe("launch", () => {
  it("04 §3.1 an instance is launched and described as its claim will be", async () => {
    const one = await open();
    const instance = await one.create("a", { requirements: [m5Large, onDemand, isIn(labels.zone, "us-west-2b")] });
    const [launched] = one.aws.running();
    expect(instance.providerId).toBe(`aws:///us-west-2b/${launched?.InstanceId}`);
    expect(instance.imageId).toBe("ami-amd64");
    expect(instance.labels).toMatchObject({
      [labels.instanceType]: "m5.large",
      [labels.zone]: "us-west-2b",
      [awsZoneId]: "usw2-az2",
      [labels.capacityType]: "on-demand",
      [labels.arch]: "amd64",
      [labels.nodePool]: "pool",
      [awsLabels.nodeClass]: "web",
      [awsLabels.instanceTenancy]: "default",
    });
    expect(instance.labels).not.toHaveProperty(awsLabels.capacityReservationId);
    const { metadata, status } = (await one.nodeClass()) ?? {};
    expect(instance.annotations).toEqual({
      [annotations.ec2NodeClassHash]: metadata?.annotations?.[annotations.ec2NodeClassHash],
      [annotations.ec2NodeClassHashVersion]: "v6",
      [annotations.awsInstanceProfileName]: status?.instanceProfile,
    });
    expect(instance.capacity["memory"]).toBe("7577Mi");
    expect(instance.allocatable["cpu"]).toBe("1930m");
    expect(launched?.SecurityGroups?.map(({ GroupId }) => GroupId)).toEqual(["sg-1"]);
    expect(Object.fromEntries((launched?.Tags ?? []).map(({ Key, Value }) => [Key, Value]))).toEqual({
      "eks:eks-cluster-name": "demo",
      "karpenter.k8s.aws/ec2nodeclass": "web",
      "karpenter.sh/nodepool": "pool",
      "kubernetes.io/cluster/demo": "owned",
    });
  });

  it("04 §3.3 the request: strategies, tags, and each type and zone once, the cheapest first", async () => {
    const one = await open();
    await one.create("a", { requirements: [isIn(awsLabels.instanceFamily, "m5", "c5"), onDemand] });
    const overlaid = { annotations: { [annotations.priceOverlayApplied]: "true" } };
    await one.create("b", { requirements: [m5Large, onDemand], metadata: overlaid });
    await one.create("c", { requirements: [m5Large] });
    await one.create("d", { requirements: [m5Large], metadata: overlaid });
    const [plain, prioritized, spot, spotPrioritized] = fleets(one);
    expect(plain?.Type).toBe("instant");
    expect(plain?.OnDemandOptions).toEqual({ AllocationStrategy: "lowest-price" });
    expect(plain?.TargetCapacitySpecification).toEqual({
      TotalTargetCapacity: 1,
      DefaultTargetCapacityType: "on-demand",
    });
    expect(plain?.TagSpecifications?.map(({ ResourceType }) => ResourceType)).toEqual(["instance", "volume", "fleet"]);
    const overrides = (plain?.LaunchTemplateConfigs ?? []).flatMap(({ Overrides = [] }) => Overrides);
    const places = overrides.map(({ InstanceType, AvailabilityZone }) => `${InstanceType} ${AvailabilityZone}`);
    expect(new Set(places).size).toBe(places.length);
    for (const { LaunchTemplateSpecification, Overrides = [] } of plain?.LaunchTemplateConfigs ?? []) {
      expect(LaunchTemplateSpecification?.Version).toBe("$Latest");
      const prices = Overrides.map(({ Priority = 0 }) => Priority);
      expect(prices).toEqual([...prices].sort((a, b) => a - b));
    }
    expect(prioritized?.OnDemandOptions).toEqual({ AllocationStrategy: "prioritized" });
    expect(spot?.SpotOptions).toEqual({ AllocationStrategy: "price-capacity-optimized" });
    expect(spotPrioritized?.SpotOptions).toEqual({ AllocationStrategy: "capacity-optimized-prioritized" });
  });

  it("04 §3.3 the class's context is sent, unless minValues were relaxed", async () => {
    const one = await open({ nodeClass: { context: "ctx" } });
    await one.create("a", { requirements: [m5Large] });
    const relaxed = { annotations: { [annotations.minValuesRelaxed]: "true" } };
    await one.create("b", { requirements: [m5Large], metadata: relaxed });
    expect(fleets(one).map(({ Context }) => Context)).toEqual(["ctx", undefined]);
  });

  it("04 §3.2 at most 60 types, none exotic while there are others", async () => {
    const one = await open({ types: () => true });
    await one.create("a", { requirements: [onDemand] });
    const [input] = fleets(one);
    const names = new Set(
      (input?.LaunchTemplateConfigs ?? []).flatMap(({ Overrides = [] }) => Overrides.map((own) => own.InstanceType)),
    );
    expect(names.size).toBe(60);
    expect([...names].filter((name) => /metal|^(g|p|inf|trn)\d/.test(name ?? ""))).toEqual([]);
    await one.create("b", { requirements: [isIn(awsLabels.instanceFamily, "g4dn"), onDemand] });
    expect(one.aws.running().map(({ InstanceType }) => InstanceType?.split(".")[0])).toContain("g4dn");
  });

  it("04 §3.1 a class that is missing or not ready is refused each in its way", async () => {
    const one = await open();
    expect(await refusalOf(one.create("a", { nodeClass: "none" }))).toMatchObject({ code: "insufficient-capacity" });
    one.aws.subnets.splice(0);
    await one.pass(3 * 60);
    const refusal = await refusalOf(one.create("b"));
    expect(refusal.code).toBe("node-class-not-ready");
    expect(refusal.message).toContain("SubnetsReady");
    expect(await refusalOf(one.create("c", { requirements: [isIn(labels.instanceType, "none.such")] }))).toBeDefined();
  });

  it("04 §3.2 nothing to launch is insufficient capacity", async () => {
    const one = await open();
    expect(await refusalOf(one.create("a", { requirements: [isIn(labels.instanceType, "x9.large")] }))).toMatchObject({
      code: "insufficient-capacity",
    });
    expect(fleets(one)).toEqual([]);
  });

  it("04 §2.3 EFA is advertised only to those who ask for it", async () => {
    const one = await open({ types: (name) => name === "c5n.18xlarge" });
    const plain = await one.create("a", { requirements: [onDemand] });
    expect(plain.capacity).not.toHaveProperty(resources.efa);
    const asking = await one.create("b", { requirements: [onDemand], requests: { [resources.efa]: "1" } });
    expect(asking.capacity[resources.efa]).toBe("1");
  });
});

describe("capacity that runs out", () => {
  it("04 §3.6 the fleet falls back, and what was empty is remembered for three minutes", async () => {
    const one = await open();
    const requirements = [
      isIn(labels.instanceType, "m5.large", "m5.xlarge"),
      onDemand,
      isIn(labels.zone, "us-west-2a"),
    ];
    one.aws.pools.set("on-demand:m5.large:us-west-2a", 0);
    const first = await one.create("a", { requirements });
    expect(first.labels[labels.instanceType]).toBe("m5.xlarge");
    const series = [...one.metrics.series.keys()].filter((name) => name.includes("launch_failures"));
    expect(series).toEqual([
      'cloudprovider_instance_launch_failures_total{capacity_type="on-demand",reason="InsufficientInstanceCapacity",zone="us-west-2a",zone_id="usw2-az1"}',
    ]);
    await one.create("b", { requirements });
    const types = (index: number) =>
      fleets(one)[index]?.LaunchTemplateConfigs?.flatMap(({ Overrides = [] }) => Overrides.map((o) => o.InstanceType));
    expect(types(1)).toEqual(["m5.xlarge"]);
    one.aws.pools.delete("on-demand:m5.large:us-west-2a");
    await one.pass(3 * 60);
    expect((await one.create("c", { requirements })).labels[labels.instanceType]).toBe("m5.large");
  });

  it.each([
    "InsufficientInstanceCapacity",
    "MaxSpotInstanceCountExceeded",
    "VcpuLimitExceeded",
    "UnfulfillableCapacity",
    "Unsupported",
    "InsufficientFreeAddressesInSubnet",
    "MaxFleetCountExceeded",
    "ReservationCapacityExceeded",
    "AuthFailure.ServiceLinkedRoleCreationNotPermitted",
  ])("04 §2.7 %s everywhere is insufficient capacity", async (code) => {
    const one = await open();
    for (const zone of ["a", "b", "c", "d"]) {
      one.aws.poolErrors.set(`spot:m5.large:us-west-2${zone}`, { code, message: "no" });
    }
    const refusal = await refusalOf(one.create("a", { requirements: [m5Large, isIn(labels.capacityType, "spot")] }));
    expect(refusal.code).toBe("insufficient-capacity");
    expect(refusal.message).toContain(code);
    // The next launch does not try what was refused.
    const next = await refusalOf(one.create("b", { requirements: [m5Large, isIn(labels.capacityType, "spot")] }));
    expect(next.code).toBe("insufficient-capacity");
    expect(fleets(one)).toHaveLength(1);
  });

  it("04 §3.6 another error among them is a failed launch with its reason", async () => {
    const one = await open();
    one.aws.poolErrors.set("on-demand:m5.large:us-west-2a", { code: "InsufficientInstanceCapacity", message: "no" });
    const message = "not eligible for Free Tier";
    one.aws.poolErrors.set("on-demand:m5.large:us-west-2b", { code: "InvalidParameterCombination", message });
    const requirements = [m5Large, onDemand, isIn(labels.zone, "us-west-2a", "us-west-2b")];
    expect(await refusalOf(one.create("a", { requirements }))).toMatchObject({
      code: "create-failed",
      reason: "FreeTierIneligible",
    });
  });

  it("04 §1.5 a subnet without addresses is avoided, its zone while there is another subnet is not", async () => {
    const one = await open({
      account: (aws) => {
        const [first] = aws.subnets;
        if (first) aws.subnets.push({ ...first, SubnetId: "subnet-9", AvailableIpAddressCount: 9 });
      },
    });
    const requirements = [m5Large, onDemand, isIn(labels.zone, "us-west-2a")];
    const code = "InsufficientFreeAddressesInSubnet";
    one.aws.poolErrors.set("on-demand:m5.large:us-west-2a", { code, message: "no addresses" });
    expect(await refusalOf(one.create("a", { requirements }))).toMatchObject({ code: "insufficient-capacity" });
    one.aws.poolErrors.clear();
    const subnet = () => fleets(one).at(-1)?.LaunchTemplateConfigs?.[0]?.Overrides?.[0]?.SubnetId;
    expect(subnet()).toBe("subnet-1");
    const before = fleets(one).length;
    // No time passes: subnets are not read again in between.
    const created = one.provider.create(one.claimOf("b", { requirements }));
    await one.pass(1);
    await created;
    expect(fleets(one)).toHaveLength(before + 1);
    expect(["subnet-1", "subnet-9"]).toContain(subnet());
  });

  it("04 §2.7 without the role for spot, spot is avoided and the claim says what to do", async () => {
    const one = await open();
    const code = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";
    for (const zone of ["a", "b", "c", "d"]) {
      one.aws.poolErrors.set(`spot:m5.large:us-west-2${zone}`, { code, message: "no" });
    }
    await refusalOf(one.create("a", { requirements: [m5Large] }));
    const second = await one.create("b", { requirements: [m5Large] });
    expect(second.labels[labels.capacityType]).toBe("on-demand");
    const events = await one.client.list({
      group: "",
      version: "v1",
      kind: "Event",
      plural: "events",
      namespaced: true,
    });
    expect(JSON.stringify(events.items)).toContain("create-service-linked-role");
  });
});

describe("launch templates", () => {
  const templates = ({ aws }: AwsWorld) => [...aws.launchTemplates.keys()];
  const created = ({ aws }: AwsWorld) => aws.inputsOf<CreateLaunchTemplateCommandInput>("ec2:CreateLaunchTemplate");

  it("04 §3.4 equal launches share a template, which is deleted a minute after its last use", async () => {
    const one = await open({ settings: { isDryRunDisabled: true } });
    await one.during(one.provider.create(one.claimOf("a", { requirements: [m5Large, onDemand] })), 5);
    await one.during(one.provider.create(one.claimOf("b", { requirements: [m5Large, onDemand] })), 5);
    expect(created(one)).toHaveLength(1);
    expect(templates(one)).toHaveLength(1);
    await one.pass(50);
    expect(templates(one)).toHaveLength(1);
    await one.pass(30);
    expect(templates(one)).toEqual([]);
  });

  it("04 §3.4 templates of an earlier process are deleted too, those of other clusters are not", async () => {
    const one = await open({
      account: (aws) => {
        for (const cluster of ["demo", "other"]) {
          const tags = [{ Key: "eks:eks-cluster-name", Value: cluster }];
          aws.launchTemplates.set(cluster, { id: cluster, name: cluster, data: {}, tags });
        }
      },
    });
    await one.pass(5 * 60);
    expect(templates(one)).toEqual(["other"]);
  });

  it("04 §3.1-8 a template that EC2 no longer knows is made again, once", async () => {
    const one = await open({ settings: { isDryRunDisabled: true } });
    await one.during(one.provider.create(one.claimOf("a", { requirements: [m5Large, onDemand] })), 1);
    one.aws.launchTemplates.clear();
    await one.during(one.provider.create(one.claimOf("b", { requirements: [m5Large, onDemand] })), 1);
    expect(one.aws.running()).toHaveLength(2);
    expect(created(one)).toHaveLength(2);
    const code = "InvalidLaunchTemplateName.NotFoundException";
    one.aws.failNext("ec2:CreateFleet", { code }, 2);
    expect(await refusalOf(one.create("c", { requirements: [m5Large, onDemand] }))).toMatchObject({
      code: "create-failed",
    });
  });

  it("04 §3.4 another user data, group or tag is another template", async () => {
    const one = await open({ settings: { isDryRunDisabled: true } });
    await one.create("a", { requirements: [m5Large, onDemand] });
    await one.create("b", { requirements: [m5Large, onDemand], metadata: { labels: { [labels.nodePool]: "other" } } });
    await one.create("c", { requirements: [m5Large] });
    expect(new Set(created(one).map(({ LaunchTemplateName }) => LaunchTemplateName)).size).toBe(3);
  });

  it.each([
    [14_745, []],
    [14_746, [{ EC2NodeClass: "web", bytes: 14_746, limit: 16_384 }]],
  ])("04 §1.9 user data of %i bytes is logged as too close to the limit: %j", async (bytes, logged) => {
    const terms = { amiFamily: "Custom", amiSelectorTerms: [{ tags: { "karpenter.sh/discovery": "demo" } }] } as const;
    const one = await open({
      types: (name) => name === "m5.large",
      settings: { isDryRunDisabled: true },
      nodeClass: { ...terms, userData: "x".repeat(bytes) },
    });
    await one.create("a", { requirements: [m5Large, onDemand] });
    await one.create("b", { requirements: [m5Large, onDemand] });
    const found = one.lines.filter(({ message }) => message === "user data is close to what EC2 accepts");
    expect(found.map(({ EC2NodeClass, bytes: own, limit }) => ({ EC2NodeClass, bytes: own, limit }))).toEqual(logged);
    expect(JSON.stringify(one.lines)).not.toContain("xxxx");
  });
});

describe("reservations", () => {
  const reservation = (id: string, change: object = {}) => ({
    CapacityReservationId: id,
    AvailabilityZone: "us-west-2a",
    InstanceType: "m5.large",
    InstanceMatchCriteria: "targeted" as const,
    OwnerId: "000000000000",
    State: "active" as const,
    AvailableInstanceCount: 1,
    Tags: [{ Key: "karpenter.sh/discovery", Value: "demo" }],
    ...change,
  });
  const selecting = { capacityReservationSelectorTerms: [{ tags: { "karpenter.sh/discovery": "demo" } }] };

  it("04 §3.2 the largest reservation is launched into first, and counted down", async () => {
    const one = await open({
      nodeClass: selecting,
      account: ({ capacityReservations }) =>
        capacityReservations.push(reservation("cr-1"), reservation("cr-2", { AvailableInstanceCount: 2 })),
    });
    const launched: string[] = [];
    for (const name of ["a", "b", "c", "d"]) {
      const creating = one.provider.create(one.claimOf(name, { requirements: [m5Large] }));
      await one.pass(1);
      const { labels: own } = await creating;
      launched.push(own[awsLabels.capacityReservationId] ?? own[labels.capacityType] ?? "");
    }
    expect(launched).toEqual(["cr-2", "cr-1", "cr-2", "spot"]);
    const [first] = one.aws.running();
    expect(first?.CapacityReservationSpecification?.CapacityReservationPreference).toBe("capacity-reservations-only");
    expect(one.aws.running().at(-1)?.CapacityReservationSpecification?.CapacityReservationPreference).toBe("none");
  });

  it("04 §2.7 a reservation that refuses is not tried until EC2 was asked again", async () => {
    const one = await open({
      nodeClass: selecting,
      account: (aws) => {
        aws.capacityReservations.push(reservation("cr-1"));
        aws.poolErrors.set("cr-1", { code: "ReservationCapacityExceeded", message: "full" });
      },
    });
    const requirements = [m5Large, isIn(labels.capacityType, "reserved", "on-demand")];
    const creating = refusalOf(one.provider.create(one.claimOf("a", { requirements })));
    await one.pass(1);
    expect((await creating).code).toBe("insufficient-capacity");
    const next = one.provider.create(one.claimOf("b", { requirements }));
    await one.pass(1);
    expect((await next).labels[labels.capacityType]).toBe("on-demand");
  });

  it("04 §2.7 an error that is no stock-out leaves the count of a reservation", async () => {
    const one = await open({
      nodeClass: selecting,
      account: (aws) => {
        aws.capacityReservations.push(reservation("cr-1"));
        aws.poolErrors.set("cr-1", { code: "InvalidParameterValue", message: "something else" });
      },
    });
    const requirements = [m5Large, isIn(labels.capacityType, "reserved", "on-demand")];
    const creating = refusalOf(one.provider.create(one.claimOf("a", { requirements })));
    await one.pass(1);
    expect((await creating).code).toBe("create-failed");
    one.aws.poolErrors.clear();
    const next = one.provider.create(one.claimOf("b", { requirements }));
    await one.pass(1); // the reservations are not read again in between
    expect((await next).labels[awsLabels.capacityReservationId]).toBe("cr-1");
  });

  it("04 §3.3 capacity blocks and interruptible reservations are asked for as such", async () => {
    const one = await open({
      nodeClass: selecting,
      account: ({ capacityReservations }) =>
        capacityReservations.push(
          reservation("cr-block", { ReservationType: "capacity-block", InstanceType: "m5.large" }),
          reservation("cr-int", { Interruptible: true, InstanceType: "m5.xlarge" }),
        ),
    });
    await one.create("a", { requirements: [m5Large] });
    await one.create("b", { requirements: [isIn(labels.instanceType, "m5.xlarge")] });
    const [block, interruptible] = fleets(one);
    expect(block?.TargetCapacitySpecification?.DefaultTargetCapacityType).toBe("capacity-block");
    expect(block?.OnDemandOptions).toBeUndefined();
    expect(interruptible?.TargetCapacitySpecification?.DefaultTargetCapacityType).toBe("reserved-capacity");
    expect(interruptible?.ReservedCapacityOptions).toEqual({
      ReservationTypes: ["interruptible-capacity-reservation"],
    });
  });

  it("04 §2.5 with the gate off there are none", async () => {
    const one = await open({
      nodeClass: selecting,
      usesReservations: false,
      account: ({ capacityReservations }) => capacityReservations.push(reservation("cr-1")),
    });
    expect((await one.create("a", { requirements: [m5Large] })).labels[labels.capacityType]).toBe("spot");
    expect(one.aws.running()[0]?.CapacityReservationSpecification?.CapacityReservationPreference).toBeUndefined();
  });
});

describe("batches", () => {
  it("04 §3.5 a thousand equal claims are one call, and each gets an instance of its own", async () => {
    const one = await open({ settings: { isDryRunDisabled: true } });
    const startedAt = one.clock.now();
    const requirements = [m5Large, onDemand];
    const claims = Array.from({ length: 1_000 }, (_, index) => one.claimOf(`c${index}`, { requirements }));
    const creating = Promise.all(claims.map((claim) => one.provider.create(claim)));
    await one.pass(30);
    const instances = await creating;
    expect(one.clock.now() - startedAt).toBeLessThanOrEqual(30_000);
    expect(new Set(instances.map(({ providerId }) => providerId)).size).toBe(1_000);
    expect(fleets(one).map(({ TargetCapacitySpecification: wanted }) => wanted?.TotalTargetCapacity)).toEqual([1_000]);
  });

  it("04 §3.5 who gets no instance of a batch gets its errors", async () => {
    const one = await open({ settings: { isDryRunDisabled: true } });
    one.aws.pools.set("on-demand:m5.large:us-west-2a", 1);
    const requirements = [m5Large, onDemand, isIn(labels.zone, "us-west-2a")];
    const both = Promise.allSettled(["a", "b"].map((name) => one.provider.create(one.claimOf(name, { requirements }))));
    await one.pass(2);
    expect((await both).map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(fleets(one)).toHaveLength(1);
  });
});
