import type { InstanceTypeInfo } from "@aws-sdk/client-ec2";
import { describe, expect, it } from "vitest";
import type { Ec2NodeClass } from "../../src/api/kinds/ec2-node-class.ts";
import { awsLabels, awsZoneId, labels, resources } from "../../src/api/labels.ts";
import { compileExpression } from "../../src/api/validation/kubelet-expressions.ts";
import { type InstanceType, offeringCapacityType, offeringZone } from "../../src/core/instance-type.ts";
import { amountOf } from "../../src/core/resources.ts";
import { ec2InstanceTypes } from "../../src/providers/aws/catalogue.ts";
import { ec2InstanceTypeInfos } from "../../src/providers/aws/instance-type-info.ts";
import { describedInstanceTypeInfo } from "../../src/providers/aws/instance-types/described-instance-type.ts";
import { Ec2InstanceTypes } from "../../src/providers/aws/instance-types/ec2-instance-types.ts";
import { InstanceTypeDiscovery } from "../../src/providers/aws/instance-types/instance-type-discovery.ts";
import { LivePrices, onDemandPriceIn } from "../../src/providers/aws/instance-types/live-prices.ts";
import { ReservationCounts } from "../../src/providers/aws/instance-types/reservation-counts.ts";
import { SeenMemory } from "../../src/providers/aws/instance-types/seen-memory.ts";
import { UnavailableCapacity } from "../../src/providers/aws/instance-types/unavailable-capacity.ts";
import type { TypePlacementGroup } from "../../src/providers/aws/type-requirements.ts";
import { silentLogger } from "../../src/util/logger.ts";
import { Quantity } from "../../src/util/quantity.ts";
import { VirtualClock } from "../../src/util/virtual-clock.ts";
import { type FakeAws, populatedAws } from "./fake-aws.ts";
import { describedInstanceTypes } from "./fake-instance-types.ts";

const minute = 60_000;

function nodeClass(change: Partial<NonNullable<Ec2NodeClass["status"]>> = {}, spec: object = {}): Ec2NodeClass {
  return {
    metadata: { name: "default" },
    spec: { amiFamily: "AL2023", amiSelectorTerms: [{ alias: "al2023@latest" }], ...spec },
    status: {
      subnets: ["a", "b", "c"].map((letter, index) => ({
        id: `subnet-${index + 1}`,
        zone: `us-west-2${letter}`,
        zoneID: `usw2-az${index + 1}`,
      })),
      amis: [{ id: "ami-1", requirements: [] }],
      ...change,
    },
  } as unknown as Ec2NodeClass;
}

interface World {
  readonly clock: VirtualClock;
  readonly aws: FakeAws;
  readonly discovery: InstanceTypeDiscovery;
  readonly prices: LivePrices;
  readonly unavailable: UnavailableCapacity;
  readonly reservations: ReservationCounts;
  readonly seenMemory: SeenMemory;
  readonly shifted: Set<string>;
  /** Kubelet expressions that were asked for. */
  readonly compiled: readonly string[];
  readonly types: Ec2InstanceTypes;
  group: TypePlacementGroup | undefined;
  named(name: string, of?: Ec2NodeClass): InstanceType;
}

async function world(types?: (name: string) => boolean): Promise<World> {
  const clock = new VirtualClock();
  const aws = populatedAws({ clock, ...(types && { types }) });
  const discovery = new InstanceTypeDiscovery({ aws: aws.api, log: silentLogger });
  const prices = new LivePrices({ aws: aws.api, clock, isIsolatedVpc: false });
  const unavailable = new UnavailableCapacity({ clock });
  const reservations = new ReservationCounts({ clock });
  const seenMemory = new SeenMemory({ clock });
  const shifted = new Set<string>();
  const compiled: string[] = [];
  await discovery.start();
  const made: World = {
    clock,
    aws,
    discovery,
    prices,
    unavailable,
    reservations,
    seenMemory,
    shifted,
    compiled,
    group: undefined,
    types: new Ec2InstanceTypes({
      region: aws.region,
      discovery,
      prices,
      unavailable,
      reservations,
      seenMemory,
      placementGroupOf: () => made.group,
      shiftedZoneIds: () => shifted,
      nodeSettings: { vmMemoryOverheadPercent: 0.075, reservedEnis: 0 },
      usesReservations: true,
      allowsExpressions: true,
      compileExpression: (text) => {
        compiled.push(text);
        return compileExpression(text);
      },
    }),
    named: (name, of = nodeClass()) => {
      const found = made.types.list(of).find((type) => type.name === name);
      if (found === undefined) throw new Error(`no type ${name}`);
      return found;
    },
  };
  return made;
}

function available(type: InstanceType): string[] {
  return type.offerings
    .filter((offering) => offering.available)
    .map((offering) => `${offeringCapacityType(offering)} ${offeringZone(offering)}`);
}

/** EC2 describes a type otherwise from now on. */
async function describeAs({ aws, discovery }: World, name: string, change: Partial<InstanceTypeInfo>): Promise<void> {
  aws.instanceTypes = aws.instanceTypes.map((one) => (one.InstanceType === name ? { ...one, ...change } : one));
  await discovery.refresh();
}

describe("discovery of instance types", () => {
  it("04 §2.2 what EC2 describes is what the embedded catalogue says", () => {
    const embedded = new Map(ec2InstanceTypeInfos().map((one) => [one.name, one]));
    for (const described of describedInstanceTypes()) {
      const known = embedded.get(described.InstanceType ?? "");
      if (known === undefined) throw new Error(`no type ${described.InstanceType}`);
      const { zoneDigits, isRetired, networkCards, nitroSandbox, placementStrategies, ...facts } = known;
      const info = describedInstanceTypeInfo(described, known);
      expect(info).toMatchObject({ ...facts, supportsNestedVirtualization: false });
      expect(info?.networkCards).toHaveLength(networkCards.length);
    }
  });

  it("04 §2.1 types and offerings are those of the offline catalogue, where subnets are", async () => {
    const { types } = await world();
    const offline = ec2InstanceTypes({ zones: ["us-west-2a", "us-west-2b", "us-west-2c"] });
    if ("problem" in offline) throw new Error(offline.problem.message);
    const byName = new Map(offline.types.map((type) => [type.name, type]));
    for (const live of types.list(nodeClass())) {
      const known = byName.get(live.name);
      expect(live.capacity).toEqual(known?.capacity);
      expect(live.overhead).toEqual(known?.overhead);
      expect(available(live)).toEqual(known && available(known));
    }
  });

  it("04 §9.7-4 an empty or failed answer keeps what was known", async () => {
    const { aws, discovery } = await world();
    const before = discovery.known;
    aws.instanceTypes = [];
    await expect(discovery.refresh()).rejects.toThrow("no instance types");
    aws.failNext("ec2:DescribeInstanceTypeOfferings", { code: "RequestLimitExceeded" });
    await expect(discovery.refresh()).rejects.toThrow("RequestLimitExceeded");
    expect(discovery.known).toBe(before);
    expect(discovery.revision).toBe(1);
  });

  it("04 §2.1 equal answers change nothing, another one rebuilds the types", async () => {
    const { aws, discovery, types } = await world();
    const before = types.list(nodeClass());
    aws.instanceTypes = [...aws.instanceTypes].reverse();
    await discovery.refresh();
    expect(types.list(nodeClass())).toBe(before);
    aws.instanceTypes = aws.instanceTypes.slice(1);
    await discovery.refresh();
    expect(types.list(nodeClass())).toHaveLength(before.length - 1);
  });

  it("04 §5.2 at the start the embedded catalogue stands in, by ids of zones", async () => {
    const clock = new VirtualClock();
    const aws = populatedAws({ clock });
    aws.failNext("ec2:DescribeInstanceTypes", { code: "InternalError", status: 500 }, 5);
    const discovery = new InstanceTypeDiscovery({ aws: aws.api, log: silentLogger });
    await discovery.start();
    const known = discovery.known;
    expect(known?.typeInfos.length).toBeGreaterThan(800);
    expect(known?.isOffered({ name: "m5.large" }, { name: "us-west-2z", id: "usw2-az1" })).toBe(true);
    const elsewhere = new InstanceTypeDiscovery({ aws: { ...aws.api, region: "eu-west-1" }, log: silentLogger });
    await expect(elsewhere.start()).rejects.toThrow("cannot discover instance types");
  });

  it("04 §2.1 without subnets there are no types", async () => {
    const { types } = await world();
    expect(() => types.list(nodeClass({ subnets: [] }))).toThrow("has no subnets");
  });
});

describe("what EC2 says about a type", () => {
  it.each([
    ["supported", "true"],
    ["unsupported", "false"],
    [undefined, "false"],
  ] as const)("04 §2.2 with enclaves %s its label of nitro sandboxes is %s", async (NitroEnclavesSupport, value) => {
    const made = await world((name) => name === "m5.large");
    await describeAs(made, "m5.large", { NitroEnclavesSupport });
    expect(made.named("m5.large").requirements.get(awsLabels.nitroSandbox).singleValue).toBe(value);
  });

  it("04 §2.3 Gaudi cards are a resource of their own, and a GPU by their labels", async () => {
    const made = await world((name) => name === "m5.large");
    const Gpus = [{ Name: "Gaudi HL-205", Manufacturer: "Habana", Count: 8, MemoryInfo: { SizeInMiB: 32_768 } }];
    await describeAs(made, "m5.large", { GpuInfo: { Gpus } });
    const { capacity, requirements } = made.named("m5.large");
    expect(amountOf(capacity, resources.gaudi).toString()).toBe("8");
    expect(resources.gaudi).toBe("habana.ai/gaudi");
    expect(Object.keys(capacity).filter((name) => name.endsWith("/gpu"))).toEqual([]);
    expect(requirements.get(awsLabels.instanceGpuManufacturer).singleValue).toBe("habana");
    expect(requirements.get(awsLabels.instanceGpuName).singleValue).toBe("gaudi-hl-205");
  });

  it("04 §5.4 an expression is asked for again with each list, so that it has to be remembered", async () => {
    const { types, compiled } = await world((name) => name === "m5.large");
    const expressive = nodeClass({}, { kubelet: { maxPods: "vcpus * 10" } });
    for (let times = 0; times < 3; times++) types.list(expressive);
    expect(new Set(compiled)).toEqual(new Set(["vcpus * 10"]));
  });
});

describe("local zones", () => {
  const local = { id: "subnet-lax", zone: "us-west-2-lax-1a", zoneID: "usw2-lax1-az1" };
  const inLocalZone = () => nodeClass({ subnets: [...(nodeClass().status?.subnets ?? []), local] });

  it("04 §2.5 a type can be had in a local zone that it is offered in and the class has a subnet in", async () => {
    const made = await world((name) => /^(m5|c5)\.large$/.test(name));
    made.aws.typeOfferings.push({
      InstanceType: "m5.large",
      LocationType: "availability-zone",
      Location: local.zone,
    });
    await made.discovery.refresh();
    const type = made.named("m5.large", inLocalZone());
    expect(available(type)).toContain(`on-demand ${local.zone}`);
    expect(type.requirements.get(labels.zone).has(local.zone)).toBe(true);
    expect(type.requirements.get(awsZoneId).has(local.zoneID)).toBe(true);
    const other = made.named("c5.large", inLocalZone());
    expect(available(other).filter((one) => one.endsWith(local.zone))).toEqual([]);
    expect(other.requirements.get(labels.zone).has(local.zone)).toBe(false);
    const withoutSubnet = made.named("m5.large");
    expect(available(withoutSubnet).filter((one) => one.endsWith(local.zone))).toEqual([]);
    expect(withoutSubnet.requirements.get(labels.zone).has(local.zone)).toBe(false);
  });

  it("04 §2.6 spot in a local zone has no price until EC2 names one", async () => {
    const made = await world((name) => name === "m5.large");
    made.aws.typeOfferings.push({ InstanceType: "m5.large", Location: local.zone });
    await made.discovery.refresh();
    made.aws.spotPrices = [{ InstanceType: "m5.large", AvailabilityZone: "us-west-2a", SpotPrice: "0.03" }];
    await made.prices.refresh().catch(() => {}); // there is no price list
    const inLocal = () => available(made.named("m5.large", inLocalZone())).filter((one) => one.endsWith(local.zone));
    expect(inLocal()).toEqual([`on-demand ${local.zone}`]);
    made.aws.spotPrices.push({ InstanceType: "m5.large", AvailabilityZone: local.zone, SpotPrice: "0.05" });
    await made.prices.refresh().catch(() => {});
    expect(inLocal()).toEqual([`on-demand ${local.zone}`, `spot ${local.zone}`]);
  });
});

describe("compatibility of types and classes", () => {
  const places = (made: World, of: Ec2NodeClass) => available(made.named("m5.large", of)).length;

  it.each([
    [["cluster", "partition", "spread"], "cluster", true],
    [["partition", "spread"], "cluster", false],
    [["cluster"], "spread", false],
    [["partition"], "partition", true],
    [undefined, "cluster", false],
  ] as const)("04 §2.5 a type that supports groups %j in one of strategy %s: %s", async (...row) => {
    const [strategies, strategy, isAvailable] = row;
    const made = await world((name) => name === "m5.large");
    const PlacementGroupInfo = strategies && { SupportedStrategies: [...strategies] };
    await describeAs(made, "m5.large", { PlacementGroupInfo });
    expect(places(made, nodeClass())).toBeGreaterThan(0);
    made.group = { id: "pg-1", strategy, partitionCount: 2 };
    expect(places(made, nodeClass()) > 0).toBe(isAvailable);
  });

  it.each([
    [["nested-virtualization"], true],
    [["amd-sev-snp"], false],
    [undefined, false],
  ])("04 §2.5 a processor with %j and nested virtualization: %s", async (features, isAvailable) => {
    const made = await world((name) => name === "m5.large");
    const { ProcessorInfo } = made.aws.instanceTypes[0] ?? {};
    await describeAs(made, "m5.large", {
      ProcessorInfo: { ...ProcessorInfo, ...(features && { SupportedFeatures: features as never[] }) },
    });
    const nested = nodeClass({}, { cpuOptions: { nestedVirtualization: "enabled" } });
    expect(places(made, nested) > 0).toBe(isAvailable);
    expect(places(made, nodeClass({}, { cpuOptions: { nestedVirtualization: "disabled" } }))).toBeGreaterThan(0);
  });

  const interfaces = [{ networkCardIndex: 0, deviceIndex: 0, interfaceType: "interface" }];

  it.each([
    ["required", true],
    ["supported", true],
    ["unsupported", false],
    [undefined, false],
  ] as const)("04 §2.5 ENA %s and network interfaces of the class: %s", async (EnaSupport, isAvailable) => {
    const made = await world((name) => name === "m5.large");
    const { NetworkInfo } = made.aws.instanceTypes[0] ?? {};
    await describeAs(made, "m5.large", { NetworkInfo: { ...NetworkInfo, EnaSupport } });
    expect(places(made, nodeClass({}, { networkInterfaces: interfaces })) > 0).toBe(isAvailable);
    expect(places(made, nodeClass())).toBeGreaterThan(0);
  });

  it("04 §2.5 interfaces beyond the type's cards, devices or EFAs make it incompatible", async () => {
    const made = await world((name) => name === "m5.large");
    const { NetworkInfo } = made.aws.instanceTypes[0] ?? {};
    await describeAs(made, "m5.large", { NetworkInfo: { ...NetworkInfo, EfaInfo: { MaximumEfaInterfaces: 1 } } });
    const withMore = (...more: readonly object[]) =>
      places(made, nodeClass({}, { networkInterfaces: [...interfaces, ...more] })) > 0;
    const at = (networkCardIndex: number, deviceIndex: number, interfaceType = "interface") => ({
      networkCardIndex,
      deviceIndex,
      interfaceType,
    });
    expect(withMore(at(0, 2))).toBe(true); // of three
    expect(withMore(at(0, 3))).toBe(false);
    expect(withMore(at(1, 1))).toBe(false);
    expect(withMore(at(0, 1, "efa-only"))).toBe(true);
    expect(withMore(at(0, 1, "efa-only"), at(0, 2, "efa-only"))).toBe(false);
  });
});

describe("offerings", () => {
  it("04 §2.7 an offering is avoided for three minutes, and types that did not change stay the same", async () => {
    const { types, unavailable, clock, named } = await world();
    const before = types.list(nodeClass());
    const m5 = named("m5.large");
    unavailable.offerings.markUnavailable({ instanceType: "m5.large", zone: "us-west-2a", capacityType: "spot" });
    expect(available(named("m5.large"))).not.toContain("spot us-west-2a");
    expect(available(named("m5.large"))).toContain("on-demand us-west-2a");
    const changed = types.list(nodeClass()).filter((type, index) => type !== before[index]);
    expect(changed.map(({ name }) => name)).toEqual(["m5.large"]);
    await clock.advance(3 * minute);
    expect(available(named("m5.large"))).toEqual(available(m5));
  });

  it("04 §2.7 a capacity type, and a zone all of whose subnets are out of addresses, are avoided", async () => {
    const { unavailable, named } = await world();
    unavailable.markCapacityType("spot");
    expect(available(named("m5.large")).filter((one) => one.startsWith("spot"))).toEqual([]);
    const second = { id: "subnet-9", zone: "us-west-2b", zoneID: "usw2-az2" };
    const twoInB = nodeClass({ subnets: [...(nodeClass().status?.subnets ?? []), second] });
    unavailable.markSubnet("subnet-2");
    expect(available(named("m5.large", twoInB))).toContain("on-demand us-west-2b");
    unavailable.markSubnet("subnet-9");
    expect(available(named("m5.large", twoInB))).not.toContain("on-demand us-west-2b");
  });

  it("04 §2.7 marks of capacity types and subnets end after three minutes, too, unless they are made again", async () => {
    const { unavailable, clock, named } = await world((name) => name === "m5.large");
    const all = available(named("m5.large"));
    const without = (text: string) => all.filter((one) => !one.includes(text));
    unavailable.markCapacityType("spot");
    await clock.advance(minute);
    unavailable.markSubnet("subnet-2");
    await clock.advance(2 * minute - 1);
    expect(available(named("m5.large"))).toEqual(without("spot").filter((one) => !one.endsWith("2b")));
    await clock.advance(1);
    expect(available(named("m5.large"))).toEqual(without("us-west-2b"));
    await clock.advance(minute - 1);
    unavailable.markSubnet("subnet-2");
    await clock.advance(3 * minute - 1);
    expect(available(named("m5.large"))).toEqual(without("us-west-2b"));
    await clock.advance(1);
    expect(available(named("m5.large"))).toEqual(all);
  });

  it.each([
    ["no group", undefined],
    ["partitions", { id: "pg-1", strategy: "partition" as const, partitionCount: 3 }],
  ])("04 §2.5 no offering of a type is there twice, with %s", async (_, group) => {
    const made = await world();
    made.group = group;
    made.aws.typeOfferings.push(...made.aws.typeOfferings);
    await made.discovery.refresh();
    const second = { id: "subnet-9", zone: "us-west-2b", zoneID: "usw2-az2" };
    const ofLarge = ["cr-1", "cr-2"].map((id) => ({
      id,
      availabilityZone: "us-west-2b",
      instanceType: "m5.large",
      instanceMatchCriteria: "targeted" as const,
      ownerID: "000000000000",
      reservationType: "default" as const,
      interruptible: false,
      state: "active" as const,
    }));
    const of = nodeClass({ subnets: [...(nodeClass().status?.subnets ?? []), second], capacityReservations: ofLarge });
    for (const { name, offerings } of made.types.list(of)) {
      const keys = offerings.map(({ requirements }) =>
        [...requirements]
          .map((one) => `${one.key}=${[...one.values].join()}`)
          .sort()
          .join(" "),
      );
      expect([name, new Set(keys).size]).toEqual([name, offerings.length]);
    }
    expect(made.named("m5.large", of).offerings).toHaveLength((4 * 2 + 2) * (group === undefined ? 1 : 3));
  });

  it("04 §2.7 capacity of a placement group is its own", async () => {
    const made = await world();
    made.group = { id: "pg-1", strategy: "cluster" };
    const key = { instanceType: "m5.large", zone: "us-west-2a", capacityType: "on-demand", placementGroupId: "pg-1" };
    made.unavailable.offerings.markUnavailable(key);
    expect(available(made.named("m5.large"))).not.toContain("on-demand us-west-2a");
    made.group = undefined;
    expect(available(made.named("m5.large"))).toContain("on-demand us-west-2a");
  });

  it("04 §2.5 partitions multiply offerings", async () => {
    const made = await world();
    made.group = { id: "pg-1", strategy: "partition", partitionCount: 3 };
    const type = made.named("m5.large");
    const partitions = type.offerings.map(({ requirements }) => requirements.get(awsLabels.placementGroupPartition));
    expect(new Set(partitions.map(({ singleValue }) => singleValue))).toEqual(new Set(["1", "2", "3"]));
    expect(type.requirements.get(awsLabels.placementGroupId).singleValue).toBe("pg-1");
  });

  it("04 §2.9 zones the cluster is shifted away from are avoided", async () => {
    const { shifted, named } = await world();
    shifted.add("usw2-az1");
    expect(available(named("m5.large"))).toEqual([
      "on-demand us-west-2b",
      "spot us-west-2b",
      "on-demand us-west-2c",
      "spot us-west-2c",
    ]);
  });

  it("04 §2.5 a reservation is an offering, nearly free, for as long as it has instances left", async () => {
    const { reservations, clock, named } = await world();
    const reservation = {
      id: "cr-1",
      availabilityZone: "us-west-2b",
      instanceType: "m5.large",
      instanceMatchCriteria: "targeted" as const,
      ownerID: "000000000000",
      reservationType: "default" as const,
      interruptible: false,
      state: "active" as const,
    };
    const of = nodeClass({ capacityReservations: [reservation] });
    reservations.sync([{ CapacityReservationId: "cr-1", AvailableInstanceCount: 1 }]);
    const reserved = () => named("m5.large", of).offerings.find((one) => offeringCapacityType(one) === "reserved");
    expect(reserved()).toMatchObject({ available: true, reservationCapacity: 1, price: 0.096 / 10_000_000 });
    expect(reserved()?.requirements.get(awsZoneId).singleValue).toBe("usw2-az2");
    expect(named("m5.large", of).requirements.get(labels.capacityType).has("reserved")).toBe(true);
    expect(named("m5.xlarge", of).requirements.get(labels.capacityType).has("reserved")).toBe(false);
    reservations.launched("cr-1");
    expect(reserved()).toMatchObject({ available: false, reservationCapacity: 0 });
    reservations.terminated("cr-1");
    expect(reserved()).toMatchObject({ available: true });
    await clock.advance(24 * 60 * minute - 1);
    expect(reserved()).toMatchObject({ available: true });
    await clock.advance(1); // EC2 has not confirmed it for a day
    expect(reserved()).toMatchObject({ available: false, reservationCapacity: 0 });
    reservations.sync([{ CapacityReservationId: "cr-1", AvailableInstanceCount: 1 }]);
    expect(reserved()).toMatchObject({ available: true });
    const expiring = nodeClass({ capacityReservations: [{ ...reservation, state: "expiring" as const }] });
    const last = named("m5.large", expiring).offerings.find((one) => offeringCapacityType(one) === "reserved");
    expect(last?.available).toBe(false);
  });

  it("04 §2.5 types a node class cannot use have no available offering", async () => {
    const { named } = await world();
    const tracking = nodeClass({}, { connectionTracking: { tcpEstablishedTimeout: 60 } });
    expect(available(named("m5.large", tracking)).length).toBeGreaterThan(0);
    expect(available(named("m5.metal", tracking))).toEqual([]);
    const nested = nodeClass({}, { cpuOptions: { nestedVirtualization: "enabled" } });
    expect(available(named("m5.large", nested))).toEqual([]);
    const cards = [0, 1].map((networkCardIndex) => ({ networkCardIndex, deviceIndex: 0, interfaceType: "interface" }));
    expect(available(named("m5.large", nodeClass({}, { networkInterfaces: cards })))).toEqual([]);
  });

  it("04 §2.3 memory seen on nodes counts instead of the estimate, the least of it", async () => {
    const { seenMemory, clock, named } = await world();
    seenMemory.record("m5.large", ["ami-1"], Quantity.parse("7700Mi"));
    seenMemory.record("m5.large", ["ami-1"], Quantity.parse("7600Mi"));
    seenMemory.record("m5.large", ["ami-1"], Quantity.parse("7800Mi"));
    expect(amountOf(named("m5.large").capacity, resources.memory).canonical()).toBe("7600Mi");
    const other = nodeClass({ amis: [{ id: "ami-2", requirements: [] }] });
    expect(amountOf(named("m5.large", other).capacity, resources.memory).canonical()).toBe("7577Mi");
    const day = 24 * 60 * minute;
    await clock.advance(30 * day);
    seenMemory.record("m5.large", ["ami-1"], Quantity.parse("7900Mi")); // not raised, but seen again
    await clock.advance(60 * day - 1);
    expect(amountOf(named("m5.large").capacity, resources.memory).canonical()).toBe("7600Mi");
    await clock.advance(1);
    expect(amountOf(named("m5.large").capacity, resources.memory).canonical()).toBe("7577Mi");
  });
});

describe("prices", () => {
  const price = (type: InstanceType, capacityType: string, zone: string) =>
    type.offerings.find((one) => offeringCapacityType(one) === capacityType && offeringZone(one) === zone);

  function product(instanceType: string, amount: string, currency = "USD"): string {
    const priceDimensions = { d: { pricePerUnit: { [currency]: amount } } };
    return JSON.stringify({
      product: { attributes: { instanceType } },
      terms: { OnDemand: { t: { priceDimensions } } },
    });
  }

  it("04 §2.6 spot costs as much as on demand until there are spot prices, then zones without one have none", async () => {
    const { aws, prices, named } = await world();
    expect(price(named("m5.large"), "spot", "us-west-2a")?.price).toBe(0.096);
    aws.products = [product("m5.large", "0.2")];
    aws.spotPrices = [{ InstanceType: "m5.large", AvailabilityZone: "us-west-2a", SpotPrice: "0.03" }];
    await prices.refresh();
    expect(price(named("m5.large"), "on-demand", "us-west-2b")?.price).toBe(0.2);
    expect(price(named("m5.large"), "spot", "us-west-2a")).toMatchObject({ price: 0.03, available: true });
    expect(price(named("m5.large"), "spot", "us-west-2b")).toMatchObject({ price: 0, available: false });
    expect(price(named("c5.large"), "on-demand", "us-west-2b")?.price).toBe(0.085);
  });

  it("04 §2.6 a failure of one list keeps its prices and does not stop the other", async () => {
    const { aws, prices, named } = await world();
    aws.spotPrices = [{ InstanceType: "m5.large", AvailabilityZone: "us-west-2a", SpotPrice: "0.03" }];
    await expect(prices.refresh()).rejects.toThrow("cannot read all prices"); // the price list is empty
    expect(price(named("m5.large"), "spot", "us-west-2a")?.price).toBe(0.03);
    expect(price(named("m5.large"), "on-demand", "us-west-2a")?.price).toBe(0.096);
  });

  it("04 §2.6 the price list is not asked in isolated VPCs and GovCloud", async () => {
    const { aws, clock } = await world();
    aws.spotPrices = [{ InstanceType: "m5.large", AvailabilityZone: "us-west-2a", SpotPrice: "0.03" }];
    await new LivePrices({ aws: aws.api, clock, isIsolatedVpc: true }).refresh();
    await new LivePrices({ aws: { ...aws.api, region: "us-gov-west-1" }, clock, isIsolatedVpc: false }).refresh();
    expect(aws.inputsOf("pricing:GetProducts")).toEqual([]);
  });

  it("04 §2.6 prices say that they are live once AWS was asked, and what stands in for them before", async () => {
    const { aws, prices, named } = await world((name) => name === "m5.large");
    const sources = () => named("m5.large").offerings.map(({ priceSource }) => priceSource?.kind);
    expect(new Set(sources())).toEqual(new Set(["list", "estimate"]));
    aws.spotPrices = [{ InstanceType: "m5.large", AvailabilityZone: "us-west-2a", SpotPrice: "0.03" }];
    aws.products = [product("m5.large", "0.2")];
    await prices.refresh();
    expect(new Set(sources())).toEqual(new Set(["live"]));
  });

  it("04 §2.6 a live price that is the embedded one is live all the same", async () => {
    const { aws, prices, named } = await world((name) => name === "m5.large");
    const source = () => price(named("m5.large"), "on-demand", "us-west-2a");
    expect(source()).toMatchObject({ price: 0.096, priceSource: { kind: "list" } });
    aws.products = [product("m5.large", "0.096")];
    await prices.refresh().catch(() => {}); // there are no spot prices
    expect(source()).toMatchObject({ price: 0.096, priceSource: { kind: "live" } });
  });

  it.each([
    ["cn-north-1", 3.5],
    ["us-west-2", 0.5],
  ])("04 §2.6 of prices in two currencies, %s uses its own: %f", async (region, expected) => {
    const { aws, clock } = await world((name) => name === "m5.large");
    const pricePerUnit = { CNY: "3.5", USD: "0.5" };
    const terms = { OnDemand: { t: { priceDimensions: { d: { pricePerUnit } } } } };
    aws.products = [JSON.stringify({ product: { attributes: { instanceType: "m5.large" } }, terms })];
    aws.spotPrices = [{ InstanceType: "m5.large", AvailabilityZone: "us-west-2a", SpotPrice: "0.03" }];
    const prices = new LivePrices({ aws: { ...aws.api, region }, clock, isIsolatedVpc: false });
    await prices.refresh();
    expect(prices.onDemand({ name: "m5.large" } as never)).toBe(expected);
    const [query] = aws.inputsOf<{ Filters: readonly { Field: string; Value: string }[] }>("pricing:GetProducts");
    expect(query?.Filters.find(({ Field }) => Field === "regionCode")?.Value).toBe(region);
  });

  it("04 §2.6 prices are in the region's currency; zero and nonsense are skipped", () => {
    expect(onDemandPriceIn(product("m5.large", "0.5", "CNY"), "CNY")).toEqual(["m5.large", 0.5]);
    expect(onDemandPriceIn(product("m5.large", "0.5", "CNY"), "USD")).toBeUndefined();
    expect(onDemandPriceIn(product("m5.large", "0.0000"), "USD")).toBeUndefined();
    expect(onDemandPriceIn("{", "USD")).toBeUndefined();
    expect(onDemandPriceIn("{}", "USD")).toBeUndefined();
  });
});
