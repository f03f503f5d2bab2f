import { describe, expect, it } from "vitest";
import { ec2NodeClassHash, type HashedNodeClass } from "./ec2-node-class-hash.ts";
import { textHash } from "./struct-hash.ts";

const ca = { caBundle: "test-ca-bundle" };
const base: HashedNodeClass = {
  amiSelectorTerms: [{ alias: "al2023@latest" }],
  role: "role-1",
  tags: { a: "1", b: "2" },
  context: "context-1",
  detailedMonitoring: false,
  instanceStorePolicy: "RAID0",
  associatePublicIPAddress: false,
  userData: "echo",
  placementGroupSelector: { name: "pg" },
  cpuOptions: { nestedVirtualization: "enabled" },
  connectionTracking: { tcpEstablishedTimeout: 60, udpStreamTimeout: 60, udpTimeout: 30 },
  networkInterfaces: [
    { networkCardIndex: 0, deviceIndex: 0, interfaceType: "interface" },
    { networkCardIndex: 1, deviceIndex: 1, interfaceType: "efa-only" },
  ],
  metadataOptions: {
    httpEndpoint: "enabled",
    httpProtocolIPv6: "disabled",
    httpPutResponseHopLimit: 1,
    httpTokens: "required",
  },
  blockDeviceMappings: [
    {
      deviceName: "/dev/xvda",
      rootVolume: true,
      ebs: {
        volumeSize: "20Gi",
        volumeType: "gp3",
        deleteOnTermination: true,
        encrypted: false,
        iops: 0,
        throughput: 125,
        kmsKeyID: "k",
        snapshotID: "s",
        volumeInitializationRate: 100,
      },
    },
    { deviceName: "/dev/xvdb", ebs: { volumeSize: "1Ti" } },
  ],
  kubelet: {
    maxPods: 12,
    clusterDNS: ["10.0.0.10", "10.0.0.11"],
    evictionHard: { "memory.available": "5%", "nodefs.available": "10%" },
  },
};

const hash = (changes: HashedNodeClass = {}) => ec2NodeClassHash({ ...base, ...changes }, ca);
const unchanged = hash();

type Device = NonNullable<HashedNodeClass["blockDeviceMappings"]>[number];
const [root = {}, data = {}] = base.blockDeviceMappings ?? [];
const device = (changes: Partial<Device>) => ({ blockDeviceMappings: [{ ...root, ...changes }, data] });
const ebs = (changes: NonNullable<Device["ebs"]>) => device({ ebs: { ...root.ebs, ...changes } });
const options = (changes: object) => ({ metadataOptions: { ...base.metadataOptions, ...changes } });
const kubelet = (changes: object) => ({ kubelet: { ...base.kubelet, ...changes } });

const changes: readonly (readonly [string, HashedNodeClass])[] = [
  ["userData", { userData: "echo 2" }],
  ["no userData", { userData: undefined }],
  ["role", { role: "role-2" }],
  ["instanceProfile", { role: undefined, instanceProfile: "p" }],
  ["a profile named like the role", { role: undefined, instanceProfile: "role-1" }],
  ["a tag's value", { tags: { a: "2", b: "2" } }],
  ["swapped tag values", { tags: { a: "2", b: "1" } }],
  ["a tag with an empty value", { tags: { a: "1", b: "2", c: "" } }],
  ["context", { context: "context-2" }],
  ["detailedMonitoring", { detailedMonitoring: true }],
  ["detailedMonitoring unset", { detailedMonitoring: undefined }],
  ["instanceStorePolicy", { instanceStorePolicy: undefined }],
  ["associatePublicIPAddress", { associatePublicIPAddress: true }],
  ["associatePublicIPAddress unset", { associatePublicIPAddress: undefined }],
  ["the placement group's name", { placementGroupSelector: { name: "pg2" } }],
  ["the placement group by id", { placementGroupSelector: { id: "pg" } }],
  ["cpuOptions", { cpuOptions: { nestedVirtualization: "disabled" } }],
  [
    "tcpEstablishedTimeout",
    { connectionTracking: { tcpEstablishedTimeout: 61, udpStreamTimeout: 60, udpTimeout: 30 } },
  ],
  ["udpStreamTimeout", { connectionTracking: { tcpEstablishedTimeout: 60, udpStreamTimeout: 61, udpTimeout: 30 } }],
  ["udpTimeout", { connectionTracking: { tcpEstablishedTimeout: 60, udpStreamTimeout: 60, udpTimeout: 31 } }],
  ["a network interface less", { networkInterfaces: base.networkInterfaces?.slice(0, 1) }],
  ["a network card", { networkInterfaces: [{ networkCardIndex: 1, deviceIndex: 0, interfaceType: "interface" }] }],
  ["a network device", { networkInterfaces: [{ networkCardIndex: 0, deviceIndex: 1, interfaceType: "interface" }] }],
  ["an interface type", { networkInterfaces: [{ networkCardIndex: 0, deviceIndex: 0, interfaceType: "efa-only" }] }],
  ["httpEndpoint", options({ httpEndpoint: "disabled" })],
  ["httpProtocolIPv6", options({ httpProtocolIPv6: "enabled" })],
  ["httpPutResponseHopLimit", options({ httpPutResponseHopLimit: 2 })],
  ["httpTokens", options({ httpTokens: "optional" })],
  ["deviceName", device({ deviceName: "/dev/sda1" })],
  ["rootVolume", device({ rootVolume: false })],
  ["volumeSize", ebs({ volumeSize: "40Gi" })],
  ["volumeType", ebs({ volumeType: "gp2" })],
  ["deleteOnTermination", ebs({ deleteOnTermination: false })],
  ["deleteOnTermination unset", ebs({ deleteOnTermination: undefined })],
  ["encrypted", ebs({ encrypted: true })],
  ["encrypted unset", ebs({ encrypted: undefined })],
  ["iops", ebs({ iops: 3000 })],
  ["iops unset", ebs({ iops: undefined })],
  ["throughput", ebs({ throughput: 250 })],
  ["kmsKeyID", ebs({ kmsKeyID: "k2" })],
  ["snapshotID", ebs({ snapshotID: "s2" })],
  ["volumeInitializationRate", ebs({ volumeInitializationRate: 200 })],
  ["the image family", { amiSelectorTerms: [{ alias: "bottlerocket@latest" }] }],
  ["kubelet.maxPods", kubelet({ maxPods: 13 })],
  ["kubelet digits turned round", kubelet({ maxPods: 21 })],
  ["kubelet list order", kubelet({ clusterDNS: ["10.0.0.11", "10.0.0.10"] })],
  ["an explicit empty value in kubelet", kubelet({ systemReserved: {} })],
  ["kubelet gone", { kubelet: undefined }],
];

describe("ec2NodeClassHash", () => {
  it.each(changes)("01 §6.2 drifts on %s", (_what, change) => {
    expect(hash(change)).not.toBe(unchanged);
  });

  it("01 §6.2 each change has a hash of its own", () => {
    expect(new Set(changes.map(([, change]) => hash(change))).size).toBe(changes.length);
  });

  it("01 §6.2 drifts on the cluster's CA bundle", () => {
    expect(ec2NodeClassHash(base, { caBundle: "other" })).not.toBe(unchanged);
    expect(ec2NodeClassHash(base, {})).not.toBe(unchanged);
  });

  it("01 §6.2 ignores selector terms and ipPrefixCount", () => {
    const selectors = {
      ...base,
      subnetSelectorTerms: [{ id: "subnet-1" }],
      securityGroupSelectorTerms: [{ id: "sg-1" }],
      capacityReservationSelectorTerms: [{ id: "cr-1" }],
      ipPrefixCount: 3,
      amiSelectorTerms: [{ alias: "al2023@v20240807" }],
    };
    expect(ec2NodeClassHash(selectors, ca)).toBe(unchanged);
  });

  it("01 §9.17 hashes the resolved image family, not how it was said", () => {
    expect(hash({ amiFamily: "AL2023", amiSelectorTerms: [{}] })).toBe(unchanged);
    expect(hash({ amiFamily: "Custom" })).not.toBe(unchanged);
  });

  it("01 §6.3 ignores order, in tags, devices, interfaces and kubelet keys", () => {
    const turned = {
      tags: { b: "2", a: "1" },
      blockDeviceMappings: [data, root],
      networkInterfaces: [...(base.networkInterfaces ?? [])].reverse(),
      kubelet: Object.fromEntries(Object.entries(base.kubelet ?? {}).reverse()),
    };
    expect(hash(turned)).toBe(unchanged);
  });

  it("01 §6.3 an unset field is not an empty one", () => {
    const bare: HashedNodeClass = { role: "r", amiFamily: "AL2023" };
    const empty: readonly HashedNodeClass[] = [
      { tags: {} },
      { blockDeviceMappings: [] },
      { cpuOptions: {} },
      { metadataOptions: {} },
      { userData: "" },
    ];
    const hashes = [{}, ...empty].map((one) => ec2NodeClassHash({ ...bare, ...one }, ca));
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(ec2NodeClassHash({ ...bare, kubelet: {} }, ca)).toBe(ec2NodeClassHash(bare, ca));
  });

  it("01 §6.2 sizes are compared as quantities, and an unset root volume is none", () => {
    expect(
      hash({
        blockDeviceMappings: [root, { deviceName: "/dev/xvdb", rootVolume: false, ebs: { volumeSize: "1024Gi" } }],
      }),
    ).toBe(unchanged);
  });

  it("01 §6.2 the kubelet block is hashed as Go writes it", () => {
    const expected = ec2NodeClassHash({ ...base, kubelet: undefined }, ca);
    const jsonOf = (kubelet: HashedNodeClass["kubelet"]) =>
      BigInt(hash({ kubelet })) ^ BigInt(expected) ^ textHash("null");
    expect(jsonOf({ b: "<&>", a: 1 })).toBe(textHash('{"a":1,"b":"\\u003c\\u0026\\u003e"}'));
  });
});

/** The object of upstream's own test, in which every hash is written out. */
const published: HashedNodeClass = {
  role: "role-1",
  tags: { "keyTag-1": "valueTag-1", "keyTag-2": "valueTag-2" },
  context: "fake-context",
  detailedMonitoring: false,
  associatePublicIPAddress: false,
  metadataOptions: {
    httpEndpoint: "disabled",
    httpProtocolIPv6: "disabled",
    httpPutResponseHopLimit: 1,
    httpTokens: "optional",
  },
  blockDeviceMappings: [
    {
      deviceName: "map-device-1",
      ebs: {
        deleteOnTermination: false,
        encrypted: false,
        iops: 0,
        kmsKeyID: "fakeKMSKeyID",
        snapshotID: "fakeSnapshot",
        throughput: 0,
        volumeSize: "2G",
        volumeType: "standard",
      },
    },
    { deviceName: "map-device-2" },
  ],
  userData: "userdata-test-1",
};

const [first = {}, second = {}] = published.blockDeviceMappings ?? [];
const withFirst = (changes: Partial<Device>) => ({ blockDeviceMappings: [{ ...first, ...changes }, second] });
const withVolume = (changes: NonNullable<Device["ebs"]>) => withFirst({ ebs: { ...first.ebs, ...changes } });
const withOptions = (changes: object) => ({ metadataOptions: { ...published.metadataOptions, ...changes } });

/** Of release v1.14.1, whose version v5 lacks the kubelet's text and is otherwise the same when there is none. */
const publishedHashes: readonly (readonly [string, string, HashedNodeClass])[] = [
  ["base", "2608468723537941485", {}],
  ["userData", "2153344579995979450", { userData: "userdata-test-2" }],
  ["tags", "4608386791045313156", { tags: { ...published.tags, "keyTag-test-3": "valueTag-test-3" } }],
  ["context", "11612053647989098410", { context: "context-2" }],
  ["detailedMonitoring", "11845605438531206428", { detailedMonitoring: true }],
  ["instanceStorePolicy", "6430637013089544585", { instanceStorePolicy: "RAID0" }],
  ["associatePublicIPAddress", "6811176403923819181", { associatePublicIPAddress: true }],
  ["httpEndpoint", "8158886403801636337", withOptions({ httpEndpoint: "enabled" })],
  ["httpProtocolIPv6", "12355196004817691031", withOptions({ httpProtocolIPv6: "enabled" })],
  ["httpPutResponseHopLimit", "8968306366664488826", withOptions({ httpPutResponseHopLimit: 10 })],
  ["httpTokens", "12408995450371615650", withOptions({ httpTokens: "required" })],
  ["deviceName", "13986335469721503441", withFirst({ deviceName: "map-device-test-3" })],
  ["rootVolume", "14242690863945643402", withFirst({ rootVolume: true })],
  ["deleteOnTermination", "12316454167870753581", withVolume({ deleteOnTermination: true })],
  ["encrypted", "17753517657333560591", withVolume({ encrypted: true })],
  ["iops", "2249322442135400321", withVolume({ iops: 10 })],
  ["kmsKeyID", "12259594419287406661", withVolume({ kmsKeyID: "test" })],
  ["snapshotID", "1149563513090550380", withVolume({ snapshotID: "test" })],
  ["throughput", "12068199760789564545", withVolume({ throughput: 10 })],
  ["volumeType", "16361719363399715944", withVolume({ volumeType: "io1" })],
  ["volumeSize", "3564293065344858862", withVolume({ volumeSize: "10G" })],
  ["tcpEstablishedTimeout", "12177489405137904098", { connectionTracking: { tcpEstablishedTimeout: 300 } }],
  ["udpStreamTimeout", "17567831983996427", { connectionTracking: { udpStreamTimeout: 120 } }],
  ["udpTimeout", "5078825826133662844", { connectionTracking: { udpTimeout: 45 } }],
  ["cpuOptions", "17001101224536964682", { cpuOptions: { nestedVirtualization: "enabled" } }],
  ["instanceProfile", "3585768058063247698", { role: undefined, instanceProfile: "test-instance-profile" }],
];

describe("upstream's published hashes of an EC2NodeClass", () => {
  it("01 §6.3 version v6", () => {
    expect(ec2NodeClassHash(published, ca)).toBe("11148166120438674859");
  });

  it.each(publishedHashes)("01 §6.3 version v5, %s", (_what, hash, change) => {
    const ours = BigInt(ec2NodeClassHash({ ...published, ...change }, ca));
    expect((ours ^ textHash("null")).toString()).toBe(hash);
  });
});
