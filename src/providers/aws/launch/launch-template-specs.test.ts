import { describe, expect, it } from "vitest";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import type { NodeClaim } from "../../../api/kinds/node-claim.ts";
import { awsLabels, labels } from "../../../api/labels.ts";
import type { InstanceType } from "../../../core/instance-type.ts";
import { Requirement } from "../../../core/requirement.ts";
import { Requirements } from "../../../core/requirements.ts";
import { Quantity } from "../../../util/quantity.ts";
import { ec2InstanceTypes } from "../catalogue.ts";
import { amiRequirementsFor } from "../node-class/ami-requirements.ts";
import { launchTags } from "./launch-tags.ts";
import type { LaunchTemplateRequest } from "./launch-template-spec.ts";
import { type LaunchTarget, launchTemplateSpecs } from "./launch-template-specs.ts";

type Spec = NonNullable<Ec2NodeClass["spec"]>;

const catalogue = ec2InstanceTypes();
function type(name: string): InstanceType {
  const found = "types" in catalogue ? catalogue.types.find((one) => one.name === name) : undefined;
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

const amis = [
  { id: "ami-std", name: "std", requirements: amiRequirementsFor({ arch: "amd64", variant: "standard" }) },
  { id: "ami-gpu", name: "gpu", requirements: amiRequirementsFor({ arch: "amd64", variant: "nvidia" }) },
];

function nodeClass(spec: Partial<Spec> = {}): Ec2NodeClass {
  return {
    apiVersion: "karpenter.k8s.aws/v1",
    kind: "EC2NodeClass",
    metadata: { name: "web" },
    spec: {
      amiFamily: "AL2023",
      amiSelectorTerms: [{ id: "ami-std" }],
      subnetSelectorTerms: [{ id: "subnet-1" }],
      securityGroupSelectorTerms: [{ id: "sg-1" }],
      role: "node",
      metadataOptions: {
        httpEndpoint: "enabled",
        httpProtocolIPv6: "disabled",
        httpPutResponseHopLimit: 1,
        httpTokens: "required",
      },
      ...spec,
    },
    status: { amis, securityGroups: [{ id: "sg-1" }, { id: "sg-2" }], instanceProfile: "prod_1" },
  } as Ec2NodeClass;
}

const claim = {
  metadata: {
    name: "web-1",
    labels: { [labels.nodePool]: "web", app: "x", "kubernetes.io/os": "linux", "foo.k8s.io/bar": "1" },
  },
  spec: {
    requirements: [],
    nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "web" },
    startupTaints: [{ key: "cilium", effect: "NoExecute" }],
  },
} as unknown as NodeClaim;

const target: LaunchTarget = {
  cluster: { name: "prod", endpoint: "https://k", caBundle: "Y2E=", dnsIp: "10.0.0.10", cidr: "10.0.0.0/16" },
  region: "us-west-2",
};

type Request = Partial<LaunchTemplateRequest> & Partial<LaunchTarget>;

function templates({ cluster = target.cluster, region = target.region, ...request }: Request = {}) {
  const usedClass = request.nodeClass ?? nodeClass();
  const tags = launchTags({
    clusterName: "prod",
    nodeClassName: "web",
    nodePoolName: "web",
    specTags: usedClass.spec?.tags,
  });
  const all = {
    nodeClass: usedClass,
    claim,
    instanceTypes: [type("m5.large")],
    capacityType: "on-demand",
    tenancy: "default",
    tags,
    usesReservations: true,
    ...request,
  } as const;
  return launchTemplateSpecs(all, { cluster, region });
}

function only(request: Request = {}) {
  const [first, ...more] = templates(request);
  if (first === undefined || more.length > 0) throw new Error(`${more.length + 1} templates`);
  return first;
}

const userData = (request: Request = {}) => Buffer.from(only(request).data.UserData ?? "", "base64").toString();

const classOf = (spec: Partial<Spec>) => ({ nodeClass: nodeClass(spec) });

describe("launchTemplateSpecs", () => {
  it("04 §3.4 has image, profile, groups, volumes, metadata options and tags", () => {
    const { data, instanceTypes } = only();
    const { UserData: _, ...plain } = data;
    const all = [
      { Key: "eks:eks-cluster-name", Value: "prod" },
      { Key: "karpenter.k8s.aws/ec2nodeclass", Value: "web" },
      { Key: "karpenter.sh/nodepool", Value: "web" },
      { Key: "kubernetes.io/cluster/prod", Value: "owned" },
    ];
    expect(plain).toEqual({
      ImageId: "ami-std",
      IamInstanceProfile: { Name: "prod_1" },
      BlockDeviceMappings: [{ DeviceName: "/dev/xvda", Ebs: { VolumeSize: 20, VolumeType: "gp3", Encrypted: true } }],
      MetadataOptions: {
        HttpEndpoint: "enabled",
        HttpProtocolIpv6: "disabled",
        HttpPutResponseHopLimit: 1,
        HttpTokens: "required",
        InstanceMetadataTags: "disabled",
      },
      Monitoring: { Enabled: false },
      Placement: { Tenancy: "default" },
      NetworkInterfaces: [{ DeviceIndex: 0, InterfaceType: "interface", Groups: ["sg-1", "sg-2"] }],
      TagSpecifications: [{ ResourceType: "network-interface", Tags: all }],
      CapacityReservationSpecification: { CapacityReservationPreference: "none" },
    });
    expect(instanceTypes.map(({ name }) => name)).toEqual(["m5.large"]);
  });

  it("04 §1.9 nodes register with labels a kubelet may set, all taints, and the pods of their type", () => {
    const text = userData();
    expect(text).toContain(
      '--node-labels="app=x,karpenter.sh/capacity-type=on-demand,karpenter.sh/do-not-sync-taints=true,karpenter.sh/nodepool=web"',
    );
    expect(text).toContain("maxPods: 29");
    expect(text).toContain("- 10.0.0.10");
    expect(text.indexOf("key: cilium")).toBeLessThan(text.indexOf("key: karpenter.sh/unregistered"));
  });

  it("04 §3.4 one template for each image and number of pods; types without an image are left out", () => {
    const names = ["m5.large", "c5.large", "m5.xlarge", "g5.xlarge", "m7g.large"];
    const found = templates({ instanceTypes: names.map(type) });
    expect(found.map(({ imageId, instanceTypes }) => [imageId, instanceTypes.map(({ name }) => name)])).toEqual([
      ["ami-std", ["m5.large", "c5.large"]],
      ["ami-std", ["m5.xlarge"]],
      ["ami-gpu", ["g5.xlarge"]],
    ]);
  });

  it("04 §9.3 the content depends on what is launched, not on claim and type", () => {
    const before = JSON.stringify(only().data);
    const other = { ...claim, metadata: { ...claim.metadata, name: "web-2" } };
    expect(JSON.stringify(only({ claim: other, instanceTypes: [type("c5.large")] }).data)).toBe(before);
    expect(only(classOf({ tags: { a: "b" } })).data.TagSpecifications?.[0]?.Tags?.[0]).toEqual({
      Key: "a",
      Value: "b",
    });
    expect(only(classOf({ detailedMonitoring: true })).data.Monitoring).toEqual({ Enabled: true });
    expect(only({ tenancy: "dedicated" }).data.Placement).toEqual({ Tenancy: "dedicated" });
    expect(only(classOf({ blockDeviceMappings: [] })).data).not.toHaveProperty("BlockDeviceMappings");
  });

  it.each([
    ["20G", 19],
    ["20Gi", 20],
    ["1Ti", 1024],
    ["100Mi", 1],
  ])("04 §1.8 a volume of %s has %i GiB", (volumeSize, size) => {
    const blockDeviceMappings = [
      { deviceName: "/dev/sdb", ebs: { volumeSize, volumeType: "io2" as const, iops: 100 } },
    ];
    expect(only(classOf({ blockDeviceMappings })).data.BlockDeviceMappings).toEqual([
      { DeviceName: "/dev/sdb", Ebs: { VolumeSize: size, VolumeType: "io2", Iops: 100 } },
    ]);
  });

  it("04 §1.8 a volume has everything its class says of it", () => {
    const ebs = {
      deleteOnTermination: false,
      encrypted: false,
      iops: 3_000,
      kmsKeyID: "alias/mine",
      snapshotID: "snap-1",
      throughput: 250,
      volumeInitializationRate: 150,
      volumeSize: "30Gi",
      volumeType: "gp3" as const,
    };
    const snapshotOnly = { deviceName: "/dev/sdb", ebs: { snapshotID: "snap-2", deleteOnTermination: true } };
    const blockDeviceMappings = [{ deviceName: "/dev/xvda", rootVolume: true, ebs }, snapshotOnly];
    expect(only(classOf({ blockDeviceMappings })).data.BlockDeviceMappings).toEqual([
      {
        DeviceName: "/dev/xvda",
        Ebs: {
          DeleteOnTermination: false,
          Encrypted: false,
          Iops: 3_000,
          KmsKeyId: "alias/mine",
          SnapshotId: "snap-1",
          Throughput: 250,
          VolumeInitializationRate: 150,
          VolumeSize: 30,
          VolumeType: "gp3",
        },
      },
      { DeviceName: "/dev/sdb", Ebs: { SnapshotId: "snap-2", DeleteOnTermination: true } },
    ]);
  });

  it("04 §1.7 of two images that a type can boot it gets the first of the status, and others the second", () => {
    const anyAmd64 = { id: "ami-any", name: "any", requirements: amiRequirementsFor({ arch: "amd64" }) };
    const [std, gpu] = amis;
    const imagesOf = (...listed: (typeof anyAmd64 | undefined)[]) => {
      const plain = nodeClass();
      const withAmis = { ...plain, status: { ...plain.status, amis: listed } } as Ec2NodeClass;
      const instanceTypes = ["m5.large", "g5.xlarge", "inf1.xlarge"].map(type);
      return templates({ nodeClass: withAmis, instanceTypes }).map(
        ({ imageId, instanceTypes: own }) => `${imageId} ${own.map(({ name }) => name).join()}`,
      );
    };
    expect(imagesOf(std, anyAmd64)).toEqual(["ami-std m5.large", "ami-any g5.xlarge", "ami-any inf1.xlarge"]);
    expect(imagesOf(gpu, anyAmd64, std)).toEqual(["ami-gpu g5.xlarge", "ami-any m5.large", "ami-any inf1.xlarge"]);
    expect(imagesOf(anyAmd64, std, gpu).every((text) => text.startsWith("ami-any"))).toBe(true);
  });

  it.each([
    ["AL2", ["/dev/xvda 20"]],
    ["Bottlerocket", ["/dev/xvda 4", "/dev/xvdb 20"]],
    ["Windows2022", ["/dev/sda1 50"]],
    ["Custom", undefined],
  ] as const)("04 §1.8 default volumes of %s are %j", (amiFamily, volumes) => {
    const found = only(classOf({ amiFamily })).data.BlockDeviceMappings;
    expect(found?.map(({ DeviceName, Ebs }) => `${DeviceName} ${Ebs?.VolumeSize}`)).toEqual(volumes);
  });

  it("04 §1.8 a Custom image has no user data but the user's, and its taints are synced", () => {
    expect(only(classOf({ amiFamily: "Custom" })).data).not.toHaveProperty("UserData");
    expect(userData(classOf({ amiFamily: "Custom", userData: "mine" }))).toBe("mine");
  });

  it("04 §3.4 a reserved launch has one template for each reservation", () => {
    const reserved = (id: string, reservationType: string, interruptible: string, available = true) => ({
      requirements: Requirements.of(
        Requirement.in(labels.capacityType, ["reserved"]),
        Requirement.in(labels.zone, ["us-west-2a"]),
        Requirement.in(awsLabels.capacityReservationId, [id]),
        Requirement.in(awsLabels.capacityReservationType, [reservationType]),
        Requirement.in(awsLabels.capacityReservationInterruptible, [interruptible]),
      ),
      price: 0,
      available,
      reservationCapacity: 1,
    });
    const offerings = [
      reserved("cr-1", "default", "false"),
      reserved("cr-2", "capacity-block", "false"),
      reserved("cr-3", "default", "true"),
      reserved("cr-4", "default", "false", false),
    ];
    const types = [{ ...type("m5.large"), offerings }, type("c5.large")];
    const found = templates({ instanceTypes: types, capacityType: "reserved" });
    expect(found.map(({ reservationId, data }) => [reservationId, data.InstanceMarketOptions?.MarketType])).toEqual([
      ["cr-1", undefined],
      ["cr-2", "capacity-block"],
      ["cr-3", "interruptible-capacity-reservation"],
    ]);
    expect(found[0]?.data.CapacityReservationSpecification).toEqual({
      CapacityReservationPreference: "capacity-reservations-only",
      CapacityReservationTarget: { CapacityReservationId: "cr-1" },
    });
    expect(only({ usesReservations: false }).data).not.toHaveProperty("CapacityReservationSpecification");
  });

  it("04 §3.4 EFA interfaces when the pods ask for them", () => {
    const requests = { "vpc.amazonaws.com/efa": "1" };
    const efaClaim = { ...claim, spec: { ...claim.spec, resources: { requests } } } as NodeClaim;
    const big = {
      ...type("m5.large"),
      capacity: { ...type("m5.large").capacity, "vpc.amazonaws.com/efa": Quantity.of(2) },
    };
    const { NetworkInterfaces } = only({ claim: efaClaim, instanceTypes: [big] }).data;
    expect(NetworkInterfaces?.map((one) => [one.NetworkCardIndex, one.DeviceIndex, one.InterfaceType])).toEqual([
      [0, 0, "efa"],
      [1, 1, "efa"],
    ]);
    expect(only({ instanceTypes: [big] }).data.NetworkInterfaces).toHaveLength(1);
  });

  it("04 §3.4 interfaces of the class; only those with addresses get address settings", () => {
    const networkInterfaces = [
      { networkCardIndex: 0, deviceIndex: 0, interfaceType: "interface" as const },
      { networkCardIndex: 1, deviceIndex: 1, interfaceType: "efa-only" as const },
    ];
    const spec = {
      networkInterfaces,
      ipPrefixCount: 2,
      associatePublicIPAddress: true,
      connectionTracking: { udpTimeout: 30 },
    };
    expect(only(classOf(spec)).data.NetworkInterfaces).toEqual([
      {
        NetworkCardIndex: 0,
        DeviceIndex: 0,
        InterfaceType: "interface",
        Groups: ["sg-1", "sg-2"],
        AssociatePublicIpAddress: true,
        Ipv4PrefixCount: 2,
        ConnectionTrackingSpecification: { UdpTimeout: 30 },
      },
      { NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: "efa-only", Groups: ["sg-1", "sg-2"] },
    ]);
  });

  it("04 §3.4 in an IPv6 cluster interfaces have IPv6 addresses", () => {
    const cluster = { name: "prod", endpoint: "https://k", dnsIp: "fd00::a", cidr: "fd00::/108" };
    expect(only({ cluster, ...classOf({ ipPrefixCount: 1 }) }).data.NetworkInterfaces?.[0]).toMatchObject({
      PrimaryIpv6: true,
      Ipv6AddressCount: 1,
      Ipv6PrefixCount: 1,
    });
  });

  it("04 §3.4 isolated regions are sent no protocol of the metadata endpoint", () => {
    expect(only({ region: "us-iso-east-1" }).data.MetadataOptions).not.toHaveProperty("HttpProtocolIpv6");
  });

  it("04 §3.4 enclaves, nested virtualization, placement group and spot requests", () => {
    const requests = { "eks.amazonaws.com/nitro-sandbox": "1" };
    const { data } = only({
      claim: { ...claim, spec: { ...claim.spec, resources: { requests } } } as NodeClaim,
      capacityType: "spot",
      placementGroup: { id: "pg-1", partition: 2 },
      ...classOf({ cpuOptions: { nestedVirtualization: "enabled" } }),
    });
    expect(data.EnclaveOptions).toEqual({ Enabled: true });
    expect(data.CpuOptions).toEqual({ NestedVirtualization: "enabled" });
    expect(data.Placement).toEqual({ Tenancy: "default", GroupId: "pg-1", PartitionNumber: 2 });
    expect(data.TagSpecifications?.map((one) => one.ResourceType)).toEqual([
      "network-interface",
      "spot-instances-request",
    ]);
  });

  it.each([
    ["bottlerocket@latest", undefined, undefined, true],
    ["bottlerocket@v1.46.0", undefined, undefined, true],
    ["bottlerocket@1.45.9", undefined, undefined, false],
    [undefined, "bottlerocket-aws-k8s-1.33-x86_64-v1.50.1-*", undefined, true],
    [undefined, "bottlerocket-*", "bottlerocket-aws-k8s-1.33-x86_64-v1.20.0-abc", false],
    [undefined, undefined, "bottlerocket-aws-k8s-1.33-x86_64-v2.0.0-abc", true],
    [undefined, undefined, "mine", false],
  ])("04 §1.9 Bottlerocket of alias %s, term %s or image %s mounts by default: %s", (alias, name, imageName, binds) => {
    const term = alias === undefined ? { ...(name === undefined ? { id: "ami-std" } : { name }) } : { alias };
    const brClass = nodeClass({ amiFamily: "Bottlerocket", amiSelectorTerms: [term], instanceStorePolicy: "RAID0" });
    const [first] = amis;
    const named = { ...brClass, status: { ...brClass.status, amis: [{ ...first, name: imageName }] } } as Ec2NodeClass;
    expect(userData({ nodeClass: named }).includes("--dirs")).toBe(!binds);
  });

  it("04 §1.11 a restricted tag makes the class not ready", () => {
    expect(() => templates(classOf({ tags: { "karpenter.sh/nodepool": "x" } }))).toThrow("NodeClassRef not ready");
  });

  it("04 §1.9 bad user data fails the launch, a missing CIDR the class", () => {
    expect(() => templates(classOf({ amiFamily: "Bottlerocket", userData: "[settings" }))).toThrow(
      /creating nodeclaim.*user data/,
    );
    expect(() => templates({ cluster: { name: "prod", endpoint: "https://k" } })).toThrow("NodeClassRef not ready");
  });
});
