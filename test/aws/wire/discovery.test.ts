import { expect, it } from "vitest";
import { motoImages } from "./images.ts";
import { describeOnMoto } from "./shared.ts";

describeOnMoto("what we read from AWS", (account) => {
  it("04 §7.2 DescribeInstanceTypes has every type with its details, and a dry run is answered", async () => {
    const { ec2 } = account().api;
    const Filters = [
      { Name: "supported-virtualization-type", Values: ["hvm"] },
      { Name: "processor-info.supported-architecture", Values: ["x86_64", "arm64"] },
    ];
    const types = await ec2.describeInstanceTypes({ Filters });
    expect(types.length).toBeGreaterThan(1_000);
    const byName = new Map(types.map((type) => [type.InstanceType as string, type]));
    expect(byName.get("m5.large")).toMatchObject({
      VCpuInfo: { DefaultVCpus: 2 },
      MemoryInfo: { SizeInMiB: 8_192 },
      NetworkInfo: { MaximumNetworkInterfaces: 3, Ipv4AddressesPerInterface: 10 },
      SupportedUsageClasses: expect.arrayContaining(["on-demand", "spot"]),
    });
    expect(byName.get("g4dn.xlarge")?.GpuInfo?.Gpus?.[0]).toMatchObject({ Manufacturer: "NVIDIA", Count: 1 });
    expect(byName.get("p4d.24xlarge")?.NetworkInfo?.NetworkCards).toHaveLength(4);
    const dryRun = await ec2.describeInstanceTypes({ DryRun: true }).then(
      () => "answered",
      (error: { code: string }) => error.code,
    );
    expect(["answered", "DryRunOperation"]).toContain(dryRun);
  });

  it("04 §7.2 DescribeInstanceTypeOfferings has the zones of each type", async () => {
    const { ec2 } = account().api;
    const offerings = await ec2.describeInstanceTypeOfferings({ LocationType: "availability-zone" });
    expect(offerings.length).toBeGreaterThan(3_000);
    const zones = offerings.filter(({ InstanceType }) => InstanceType === "m5.large").map(({ Location }) => Location);
    expect(zones.sort()).toEqual(["us-west-2a", "us-west-2b", "us-west-2c", "us-west-2d"]);
  });

  it("04 §7.2 DescribeSpotPriceHistory: moto's constant prices, and those of the shim", async () => {
    const { api, shim } = account();
    const input = { InstanceTypes: ["m5.large" as const], StartTime: new Date() };
    const constant = await api.ec2.describeSpotPriceHistory(input);
    expect(new Set(constant.map(({ SpotPrice }) => Number(SpotPrice)))).toEqual(new Set([0.00001]));
    shim.tables.spotPrices.set("m5.large us-west-2a", 0.035).set("c5.large us-west-2a", 0.03);
    const [row, ...others] = await api.ec2.describeSpotPriceHistory(input);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ InstanceType: "m5.large", AvailabilityZone: "us-west-2a", SpotPrice: "0.035000" });
  });

  it("04 §7.2 DescribeSubnets selects by tag, key and id, and tells zone, zone id and free addresses", async () => {
    const { api, cluster } = account();
    const byTag = await api.ec2.describeSubnets({
      Filters: [{ Name: "tag:karpenter.sh/discovery", Values: [cluster] }],
    });
    expect(byTag.map(({ AvailabilityZone }) => AvailabilityZone).sort()).toEqual([
      "us-west-2a",
      "us-west-2b",
      "us-west-2c",
      "us-west-2d",
    ]);
    for (const { AvailabilityZoneId, AvailableIpAddressCount } of byTag) {
      expect(AvailabilityZoneId).toMatch(/^usw2-az\d$/);
      expect(AvailableIpAddressCount).toBeGreaterThan(1_000);
    }
    const byKey = await api.ec2.describeSubnets({ Filters: [{ Name: "tag-key", Values: ["karpenter.sh/discovery"] }] });
    expect(byKey).toHaveLength(4);
    const id = byTag[0]?.SubnetId ?? "";
    const byId = await api.ec2.describeSubnets({ Filters: [{ Name: "subnet-id", Values: [id] }] });
    expect(byId.map(({ SubnetId }) => SubnetId)).toEqual([id]);
    expect(await api.ec2.describeSubnets({ Filters: [{ Name: "tag:none", Values: ["x"] }] })).toEqual([]);
  });

  it("04 §7.2 DescribeSecurityGroups selects by id, name and tag", async () => {
    const { api, cluster } = account();
    const [group] = await api.ec2.describeSecurityGroups({
      Filters: [{ Name: "tag:karpenter.sh/discovery", Values: [cluster] }],
    });
    expect(group?.GroupName).toBe("default");
    const byId = { Filters: [{ Name: "group-id", Values: [group?.GroupId ?? ""] }] };
    expect(await api.ec2.describeSecurityGroups(byId)).toHaveLength(1);
    const byName = { Filters: [{ Name: "group-name", Values: ["default"] }] };
    expect(await api.ec2.describeSecurityGroups(byName)).toHaveLength(1);
  });

  it("04 §7.2 DescribeImages selects by id, and by name with wildcards", async () => {
    const { ec2 } = account().api;
    const [first] = motoImages;
    const state = { Name: "state", Values: ["available"] };
    const byId = await ec2.describeImages({
      Filters: [state, { Name: "image-id", Values: [first?.ami_id ?? ""] }],
      IncludeDeprecated: true,
    });
    expect(byId.map(({ Name, Architecture }) => [Name, Architecture])).toEqual([[first?.name, "x86_64"]]);
    const byName = await ec2.describeImages({
      Filters: [state, { Name: "name", Values: ["amazon-eks-node-al2023-arm64-standard-1.33-*"] }],
    });
    expect(byName.map(({ Architecture }) => Architecture)).toEqual(["arm64", "arm64"]);
  });

  it("04 §7.2 DescribeImages selects by tag and by owners: each of several, and none of ours", async () => {
    const { ec2 } = account().api;
    const [first, second] = motoImages.map(({ ami_id }) => ami_id);
    const state = { Name: "state", Values: ["available"] };
    const found = async (input: object) =>
      (await ec2.describeImages({ Filters: [state], ...input })).map(({ ImageId }) => ImageId ?? "").sort();
    await ec2.createTags({ Resources: [first ?? ""], Tags: [{ Key: "team", Value: "a" }] });
    await ec2.createTags({ Resources: [second ?? ""], Tags: [{ Key: "team", Value: "b" }] });
    expect(await found({ Filters: [state, { Name: "tag:team", Values: ["a"] }] })).toEqual([first]);
    expect(await found({ Filters: [state, { Name: "tag-key", Values: ["team"] }] })).toEqual([first, second].sort());
    expect(await found({ Filters: [state, { Name: "tag:team", Values: ["c"] }] })).toEqual([]);
    const owner = motoImages[0]?.owner_id ?? "";
    const all = motoImages.map(({ ami_id }) => ami_id).sort();
    expect(await found({ Owners: [owner] })).toEqual(all);
    expect(await found({ Owners: ["self", owner] })).toEqual(all);
    expect(await found({ Owners: ["self"] })).toEqual([]);
    const both = { Owners: [owner], Filters: [state, { Name: "tag:team", Values: ["b"] }] };
    expect(await found(both)).toEqual([second]);
    expect(await found({ ...both, Owners: ["self"] })).toEqual([]);
  });

  it("04 §7.2 SSM GetParameter: public paths through the shim; a missing one is ParameterNotFound", async () => {
    const { api, shim } = account();
    const path = "/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id";
    await expect(api.ssm.getParameter(path)).rejects.toMatchObject({ code: "ParameterNotFound" });
    shim.tables.parameters.set(path, "ami-0a00000000000001");
    expect(await api.ssm.getParameter(path)).toBe("ami-0a00000000000001");
  });

  it("04 §7.2 EKS DescribeCluster tells endpoint, authority, version and CIDR; a missing one has its code", async () => {
    const { api, cluster } = account();
    expect(await api.eks.describeCluster(cluster)).toMatchObject({
      version: "1.33",
      endpoint: expect.stringMatching(/^https:/),
      certificateAuthority: { data: expect.any(String) },
      kubernetesNetworkConfig: { serviceIpv4Cidr: expect.stringMatching(/\/\d+$/) },
      arn: expect.stringContaining(`:cluster/${cluster}`),
    });
    await expect(api.eks.describeCluster("nothing")).rejects.toMatchObject({ code: "ResourceNotFoundException" });
  });

  it("04 §7.2 Pricing GetProducts: shared and dedicated products through the shim", async () => {
    const { api, shim } = account();
    const products = (tenancy: string) =>
      api.pricing.getProducts({
        ServiceCode: "AmazonEC2",
        Filters: [{ Type: "TERM_MATCH", Field: "tenancy", Value: tenancy }],
      });
    expect(await products("Shared")).toEqual([]);
    shim.tables.onDemandPrices.set("m5.large", 0.096).set("m5.metal", 4.608);
    const types = (await products("Shared")).map((text) => JSON.parse(text).product.attributes.instanceType);
    expect(types).toEqual(["m5.large"]);
    const metal = (await products("Dedicated")).map((text) => JSON.parse(text).product.attributes.instanceType);
    expect(metal).toEqual(["m5.metal"]);
  });

  it("04 §7.2 DescribeCapacityReservations by id, tag and criteria through the shim; a missing id has its code", async () => {
    const { api, shim } = account();
    const reservation = (id: string, instanceMatchCriteria: string, team: string) => ({
      capacityReservationId: id,
      ownerId: "123456789012",
      instanceType: "m5.large",
      availabilityZone: "us-west-2a",
      state: "active",
      availableInstanceCount: 3,
      totalInstanceCount: 5,
      instanceMatchCriteria,
      tagSet: [{ key: "team", value: team }],
    });
    shim.tables.reservations.push(reservation("cr-1", "open", "a"), reservation("cr-2", "targeted", "b"));
    const ids = async (input: object) =>
      (await api.ec2.describeCapacityReservations(input)).map(({ CapacityReservationId }) => CapacityReservationId);
    const active = { Name: "state", Values: ["active"] };
    expect(await ids({ Filters: [active] })).toEqual(["cr-1", "cr-2"]);
    expect(await ids({ Filters: [active, { Name: "tag:team", Values: ["b"] }] })).toEqual(["cr-2"]);
    expect(await ids({ Filters: [{ Name: "instance-match-criteria", Values: ["open"] }] })).toEqual(["cr-1"]);
    expect(await ids({ CapacityReservationIds: ["cr-2"] })).toEqual(["cr-2"]);
    await expect(ids({ CapacityReservationIds: ["cr-9"] })).rejects.toMatchObject({
      code: "InvalidCapacityReservationId.NotFound",
    });
    const [first] = await api.ec2.describeCapacityReservations({ CapacityReservationIds: ["cr-1"] });
    expect(first).toMatchObject({ AvailableInstanceCount: 3, InstanceMatchCriteria: "open" });
  });

  it("04 §7.2 DescribePlacementGroups by name and id through the shim", async () => {
    const { api, shim } = account();
    const group = { groupId: "pg-1", groupName: "tight", state: "available", strategy: "partition", partitionCount: 3 };
    shim.tables.placementGroups.push(group);
    const Filters = [{ Name: "state", Values: ["available"] }];
    const byName = await api.ec2.describePlacementGroups({ GroupNames: ["tight"], Filters });
    expect(byName).toEqual([expect.objectContaining({ GroupId: "pg-1", Strategy: "partition", PartitionCount: 3 })]);
    expect(await api.ec2.describePlacementGroups({ GroupIds: ["pg-1"], Filters })).toHaveLength(1);
    await expect(api.ec2.describePlacementGroups({ GroupNames: ["other"] })).rejects.toMatchObject({
      code: "InvalidPlacementGroup.Unknown",
    });
  });
});
