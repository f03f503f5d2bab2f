import { describe, expect, it } from "vitest";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../../src/api/kubernetes/cluster-objects.ts";
import { pod } from "../builders/pod.ts";
import { built, emptyState, machine } from "./objects.ts";

const volumeClaim = (name: string, spec: PersistentVolumeClaim["spec"]): PersistentVolumeClaim => ({
  metadata: { name, namespace: "default" },
  spec,
});
const bound = volumeClaim("data", { volumeName: "disk" });
const disk: PersistentVolume = { metadata: { name: "disk" }, spec: { csi: { driver: "csi.example.com" } } };
const csiNode = {
  metadata: { name: "n" },
  spec: {
    drivers: [
      { name: "csi.example.com", allocatable: { count: 3 } },
      { name: "other", allocatable: undefined },
    ],
  },
};
const user = built(pod().named("db").volume("data").onNode("n"));

function withMachine() {
  const { cluster } = emptyState();
  const { id, ...one } = machine("n");
  cluster.claimChanged(one.claim);
  cluster.nodeChanged(one.node);
  const volumes = () => {
    const { attached, limits } = cluster.nodeByProviderId(id)?.existing.volumes ?? {
      attached: new Map(),
      limits: new Map(),
    };
    return { attached: Object.fromEntries([...attached].map(([key, set]) => [key, [...set]])), limits: [...limits] };
  };
  return { cluster, id, one, volumes };
}

describe("cluster state: volumes (02 §2.10)", () => {
  const whole = { attached: { "csi.example.com": ["default/data"] }, limits: [["csi.example.com", 3]] };

  it("02:S-55 02:S-6 a claim two pods share counts once; a driver without a number has no limit", () => {
    const { cluster, volumes } = withMachine();
    cluster.csiNodeChanged(csiNode);
    cluster.volumeChanged(disk);
    cluster.volumeClaimChanged(bound);
    for (const name of ["a", "b"]) cluster.podChanged(built(pod().named(name).volume("data").onNode("n")));
    expect(volumes()).toEqual(whole);
  });

  it.each([
    ["the volume last", ["pod", "claim", "csi", "volume"]],
    ["the claim last", ["pod", "volume", "csi", "claim"]],
    ["the pod last", ["volume", "claim", "csi", "pod"]],
    ["the limits last", ["volume", "claim", "pod", "csi"]],
  ])("02:S-56 the order in which things are told does not matter: %s", (_, order) => {
    const { cluster, volumes } = withMachine();
    const tell: Record<string, () => void> = {
      pod: () => cluster.podChanged(user),
      claim: () => cluster.volumeClaimChanged(bound),
      volume: () => cluster.volumeChanged(disk),
      csi: () => cluster.csiNodeChanged(csiNode),
    };
    for (const what of order) {
      tell[what]?.();
      cluster.snapshot();
    }
    expect(volumes()).toEqual(whole);
  });

  it("02:S-55 news of claim and Node keeps what is attached", () => {
    const { cluster, one, volumes } = withMachine();
    cluster.csiNodeChanged(csiNode);
    cluster.volumeChanged(disk);
    cluster.volumeClaimChanged(bound);
    cluster.podChanged(user);
    cluster.claimChanged({ ...one.claim });
    cluster.nodeChanged({ ...one.node });
    cluster.podChanged({ ...user });
    expect(volumes()).toEqual(whole);
  });

  it("02:S-56 until a volume is bound its class says who will attach it", () => {
    const { cluster, volumes } = withMachine();
    const fast: StorageClass = { metadata: { name: "fast" }, provisioner: "kubernetes.io/aws-ebs" };
    cluster.volumeClaimChanged(volumeClaim("data", { storageClassName: "fast" }));
    cluster.podChanged(user);
    expect(volumes().attached).toEqual({});
    cluster.storageClassChanged(fast);
    expect(volumes().attached).toEqual({ "ebs.csi.aws.com": ["default/data"] });
    cluster.storageClassGone(fast);
    expect(volumes().attached).toEqual({});
  });

  it("02:S-55 what goes is no longer attached", () => {
    const { cluster, volumes } = withMachine();
    cluster.csiNodeChanged(csiNode);
    cluster.volumeChanged(disk);
    cluster.volumeClaimChanged(bound);
    cluster.podChanged(user);
    cluster.snapshot();
    cluster.volumeGone(disk);
    expect(volumes().attached).toEqual({});
    cluster.volumeChanged(disk);
    expect(volumes().attached).toEqual(whole.attached);
    cluster.volumeClaimGone(bound);
    cluster.csiNodeGone(csiNode);
    expect(volumes()).toEqual({ attached: {}, limits: [] });
    cluster.volumeClaimChanged(bound);
    cluster.podGone(user);
    expect(volumes().attached).toEqual({});
  });
});

describe("cluster state: host ports (02 §2.9)", () => {
  const server = built(pod().named("server").hostPort(443).onNode("n"));
  const taken = [{ ip: "0.0.0.0", port: 443, protocol: "TCP", owner: "default/server" }];

  it("02:S-50 a node knows the ports of its pods, each once", () => {
    const { cluster, id, one } = withMachine();
    cluster.podChanged(server);
    cluster.podChanged({ ...server });
    expect(cluster.nodeByProviderId(id)?.existing.hostPorts).toEqual(taken);
    cluster.claimChanged({ ...one.claim });
    cluster.nodeChanged({ ...one.node });
    expect(cluster.nodeByProviderId(id)?.existing.hostPorts).toEqual(taken);
    cluster.podGone(server);
    expect(cluster.nodeByProviderId(id)?.existing.hostPorts).toEqual([]);
  });
});
