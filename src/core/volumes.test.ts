import { describe, expect, it } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../api/kubernetes/cluster-objects.ts";
import type { NodeSelectorTerm, Pod, Volume } from "../api/kubernetes/pod.ts";
import { labelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import {
  csiDriverOf,
  podVolumesByDriver,
  type VolumeIndex,
  volumeClaimKeys,
  volumeLimitExcess,
  volumeRequirementAlternatives,
} from "./volumes.ts";

const policy = labelPolicy("aws");

function index(
  claims: readonly PersistentVolumeClaim[],
  volumes: readonly PersistentVolume[] = [],
  classes: readonly StorageClass[] = [],
): VolumeIndex {
  const named = <T extends { metadata: { name?: string | undefined } }>(list: readonly T[], prefix = "") =>
    new Map(list.map((one) => [`${prefix}${one.metadata.name}`, one]));
  return { claims: named(claims, "shop/"), volumes: named(volumes), classes: named(classes) };
}

const pod = (...volumes: readonly Volume[]): Pod => ({ metadata: { name: "p", namespace: "shop" }, spec: { volumes } });
const uses = (...names: readonly string[]): Pod =>
  pod(...names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })));
const bound = (name: string, volumeName: string): PersistentVolumeClaim => ({
  metadata: { name, namespace: "shop" },
  spec: { volumeName },
});
const unbound = (name: string, storageClassName?: string): PersistentVolumeClaim => ({
  metadata: { name, namespace: "shop" },
  spec: { storageClassName },
});
const inZones = (...values: readonly string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key: labels.zone, operator: "In", values }],
});
const onHost = (host: string): NodeSelectorTerm => ({
  matchExpressions: [{ key: labels.hostname, operator: "In", values: [host] }],
});
const volume = (name: string, terms: readonly NodeSelectorTerm[], more: object = {}): PersistentVolume => ({
  metadata: { name },
  spec: { nodeAffinity: { required: { nodeSelectorTerms: terms } }, ...more },
});
const storageClass = (name: string, ...zones: readonly (readonly string[])[]): StorageClass => ({
  metadata: { name },
  allowedTopologies: zones.map((values) => ({ matchLabelExpressions: [{ key: labels.zone, values }] })),
});

function alternatives(of: Pod, volumes: VolumeIndex): readonly string[] | string {
  const found = volumeRequirementAlternatives(of, volumes, policy);
  return found.problem ?? found.alternatives.map(String);
}

const zoneIn = (...zones: readonly string[]) => `${labels.zone} In [${zones.join(" ")}]`;

describe("volumeAlternatives", () => {
  const cases: readonly [title: string, pod: Pod, index: VolumeIndex, expected: readonly string[] | string][] = [
    ["02:W-1 no volumes, no constraint", pod(), index([]), []],
    ["02:W-1 volumes without claims do not count", pod({ name: "tmp" }), index([]), []],
    [
      "02:W-1 a bound claim goes where its volume is, one alternative a term",
      uses("data"),
      index([bound("data", "pv")], [volume("pv", [inZones("a", "b"), inZones("c")])]),
      [zoneIn("a", "b"), zoneIn("c")],
    ],
    [
      "02:R-22 keys are normalised",
      uses("data"),
      index(
        [bound("data", "pv")],
        [
          volume("pv", [
            { matchExpressions: [{ key: "topology.ebs.csi.aws.com/zone", operator: "In", values: ["a"] }] },
          ]),
        ],
      ),
      [zoneIn("a")],
    ],
    [
      "02:W-1 a volume that is anywhere",
      uses("data"),
      index([bound("data", "pv")], [{ metadata: { name: "pv" } }]),
      [],
    ],
    ["02:W-1 an empty term says nothing", uses("data"), index([bound("data", "pv")], [volume("pv", [{}])]), []],
    [
      "02:W-1 a local volume forgets its host and keeps its zone",
      uses("data"),
      index(
        [bound("data", "pv")],
        [
          volume(
            "pv",
            [{ matchExpressions: [...(onHost("n").matchExpressions ?? []), ...(inZones("a").matchExpressions ?? [])] }],
            { local: { path: "/x" } },
          ),
        ],
      ),
      [zoneIn("a")],
    ],
    [
      "02:W-1 a term of nothing but the host becomes one without constraint",
      uses("data"),
      index([bound("data", "pv")], [volume("pv", [onHost("n"), inZones("a")], { hostPath: { path: "/x" } })]),
      ["", zoneIn("a")],
    ],
    [
      "02:W-1 an unbound claim goes where its class allows, one alternative a term",
      uses("data"),
      index([unbound("data", "sc")], [], [storageClass("sc", ["a"], ["b", "c"])]),
      [zoneIn("a"), zoneIn("b", "c")],
    ],
    ["02:W-1 a class without topology", uses("data"), index([unbound("data", "sc")], [], [storageClass("sc")]), []],
    ["02:W-1 neither volume nor class", uses("data"), index([unbound("data")]), []],
    [
      "02:W-1 the class of a bound claim does not matter",
      uses("data"),
      index(
        [{ ...bound("data", "pv"), spec: { volumeName: "pv", storageClassName: "gone" } }],
        [volume("pv", [inZones("a")])],
      ),
      [zoneIn("a")],
    ],
    [
      "02:V-5 an ephemeral volume's claim is named after the pod and the volume",
      pod({ name: "tmp", ephemeral: {} }),
      index([unbound("p-tmp", "sc")], [], [storageClass("sc", ["a"])]),
      [zoneIn("a")],
    ],
    [
      "02:W-2 volumes multiply, and pairs that cannot be had together are dropped",
      uses("x", "y"),
      index(
        [bound("x", "pv-x"), bound("y", "pv-y")],
        [volume("pv-x", [inZones("a"), inZones("b")]), volume("pv-y", [inZones("b", "c"), inZones("a", "b")])],
      ),
      [zoneIn("a"), zoneIn("b"), zoneIn("b")],
    ],
    [
      "02:W-2 when no pair can be had the conflict stays to be seen",
      uses("x", "y"),
      index([bound("x", "pv-x"), bound("y", "pv-y")], [volume("pv-x", [inZones("a")]), volume("pv-y", [inZones("b")])]),
      [`${labels.zone} DoesNotExist`],
    ],
    ["02:W-4 a claim that is missing", uses("data"), index([]), "persistent volume claim shop/data not found"],
    ["02:W-4 a volume that is missing", uses("x"), index([bound("x", "pv")]), "persistent volume pv not found"],
    ["02:W-4 a class that is missing", uses("x"), index([unbound("x", "sc")]), "storage class sc not found"],
    [
      "02:W-1 an operator nobody knows cannot be satisfied",
      uses("x"),
      index([bound("x", "pv")], [volume("pv", [{ matchExpressions: [{ key: "k", operator: "Near" }] }])]),
      ["k DoesNotExist"],
    ],
  ];
  it.each(cases)("%s", (_, of, volumes, expected) => expect(alternatives(of, volumes)).toEqual(expected));

  it("02:W-1 a host of a volume that could move binds", () => {
    const volumes = index([bound("x", "pv")], [volume("pv", [onHost("n")], { csi: { driver: "d" } })]);
    const found = volumeRequirementAlternatives(uses("x"), volumes, policy);
    expect(found.alternatives?.map((one) => one.get(labels.hostname).singleValue)).toEqual(["n"]);
  });
});

describe("driverOf", () => {
  const classOf = (provisioner: string): StorageClass => ({ metadata: { name: "sc" }, provisioner });
  const csi = { metadata: { name: "pv" }, spec: { csi: { driver: "csi.example.com" } } };
  const ebs = { metadata: { name: "pv" }, spec: { awsElasticBlockStore: {} } };
  const nfs = { metadata: { name: "pv" }, spec: {} };
  const cases: readonly (readonly [string, PersistentVolumeClaim, VolumeIndex, string | undefined])[] = [
    ["bound: the volume's driver", bound("x", "pv"), index([], [csi]), "csi.example.com"],
    ["bound: an in-tree EBS volume", bound("x", "pv"), index([], [ebs]), "ebs.csi.aws.com"],
    ["bound: neither", bound("x", "pv"), index([], [nfs]), undefined],
    ["bound: missing volume", bound("x", "pv"), index([]), undefined],
    ["unbound: the class's", unbound("x", "sc"), index([], [], [classOf("csi.example.com")]), "csi.example.com"],
    ["unbound: missing class", unbound("x", "sc"), index([]), undefined],
    ["unbound: no class", unbound("x"), index([]), undefined],
    ...Object.entries({
      "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
      "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
      "kubernetes.io/azure-disk": "disk.csi.azure.com",
      "kubernetes.io/azure-file": "file.csi.azure.com",
      "kubernetes.io/cinder": "cinder.csi.openstack.org",
      "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
      "kubernetes.io/portworx-volume": "pxd.portworx.com",
      "kubernetes.io/no-provisioner": "kubernetes.io/no-provisioner",
    }).map(
      ([provisioner, driver]) =>
        [`unbound: ${provisioner}`, unbound("x", "sc"), index([], [], [classOf(provisioner)]), driver] as const,
    ),
  ];
  it.each(cases)("02:S-56 %s", (_, claim, volumes, expected) => expect(csiDriverOf(claim, volumes)).toBe(expected));
});

describe("volume limits", () => {
  const ebs = "ebs.csi.aws.com";
  const volumes = index(
    [unbound("a", "sc"), unbound("b", "sc"), unbound("p-tmp", "sc"), unbound("plain"), bound("nfs", "pv")],
    [{ metadata: { name: "pv" } }],
    [{ metadata: { name: "sc" }, provisioner: "kubernetes.io/aws-ebs" }],
  );

  it("02:S-55 a pod's claims by driver; what has none, or is missing, is left out", () => {
    const tmp: Volume = { name: "tmp", ephemeral: {} };
    const all = pod(...(uses("a", "b", "a", "plain", "nfs", "missing").spec.volumes ?? []), tmp, { name: "empty" });
    expect(podVolumesByDriver(all, volumes)).toEqual(new Map([[ebs, new Set(["shop/a", "shop/b", "shop/p-tmp"])]]));
    expect(volumeClaimKeys(all)).toHaveLength(7);
    expect(podVolumesByDriver(pod(), volumes).size).toBe(0);
  });

  const wanted = (...keys: readonly string[]) => new Map([[ebs, new Set(keys)]]);
  const cases: readonly [
    title: string,
    limit: number,
    attached: readonly string[],
    wanted: readonly string[],
    boolean,
  ][] = [
    ["room left", 3, ["x"], ["y", "z"], false],
    ["one too many", 2, ["x"], ["y", "z"], true],
    ["a shared claim counts once", 2, ["x", "y"], ["x", "y"], false],
    ["a node over its limit takes nothing", 1, ["x", "y"], [], true],
    ["a limit of none", 0, [], ["x"], true],
  ];
  it.each(cases)("02:S-57 %s", (_, limit, attached, keys, expected) => {
    const node = { attached: wanted(...attached), limits: new Map([[ebs, limit]]) };
    expect(volumeLimitExcess(node, wanted(...keys)) !== undefined).toBe(expected);
  });

  it("02:S-57 an unknown limit is no limit, and the first driver by name is told", () => {
    expect(volumeLimitExcess({ attached: new Map(), limits: new Map() }, wanted("x"))).toBeUndefined();
    const limits = new Map([
      ["z", 0],
      ["a", 1],
    ]);
    const many = new Map([
      ["a", new Set(["1", "2"])],
      ["z", new Set(["1"])],
    ]);
    const excess = volumeLimitExcess({ attached: new Map(), limits }, many);
    expect(excess).toEqual({ driver: "a", count: 2, limit: 1 });
  });
});
