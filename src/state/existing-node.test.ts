import { describe, expect, it } from "vitest";
import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { Node } from "../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import { VirtualClock } from "../util/virtual-clock.ts";
import { ClusterState } from "./cluster-state.ts";

const registered = { "karpenter.sh/registered": "true" };
const initialized = { ...registered, "karpenter.sh/initialized": "true" };
const taint = (key: string, effect = "NoSchedule") => ({ key, effect });

function claim(changes: { metadata?: object; spec?: object; status?: object } = {}): NodeClaim {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name: "c", labels: { from: "claim", "karpenter.sh/nodepool": "p" }, ...changes.metadata },
    spec: { nodeClassRef: { group: "g", kind: "K", name: "n" }, requirements: [], ...changes.spec },
    status: {
      providerID: "id://1",
      capacity: { cpu: "4", gpu: "1" },
      allocatable: { cpu: "4", gpu: "1" },
      ...changes.status,
    },
  } as unknown as NodeClaim;
}

function node(
  labels: Readonly<Record<string, string>> = {},
  changes: { metadata?: object; spec?: object; status?: object } = {},
): Node {
  return {
    metadata: { name: "n", labels: { from: "node", ...labels }, ...changes.metadata },
    spec: { providerID: "id://1", ...changes.spec },
    status: { capacity: { cpu: "8" }, allocatable: { cpu: "7" }, ...changes.status },
  };
}

function pod(cpu: string, changes: { metadata?: object; spec?: object; status?: object } = {}): Pod {
  return {
    metadata: { name: "p", namespace: "default", ...changes.metadata },
    spec: { nodeName: "n", containers: [{ resources: { requests: { cpu } } }], ...changes.spec },
    status: { phase: "Running", ...changes.status },
  };
}

interface Objects {
  readonly claims?: readonly NodeClaim[];
  readonly nodes?: readonly Node[];
  readonly pods?: readonly Pod[];
}

function stateOf({ claims = [], nodes = [], pods = [] }: Objects): ClusterState {
  const servedNodeClasses = [{ group: "g", kind: "K" }];
  const cluster = new ClusterState({ clock: new VirtualClock(), servedNodeClasses, nominationMs: 0 });
  for (const one of claims) cluster.claimChanged(one);
  for (const one of nodes) cluster.nodeChanged(one);
  for (const one of pods) cluster.podChanged(one);
  return cluster;
}

function only(objects: Objects) {
  return onlyNode(stateOf(objects));
}

function onlyNode(cluster: ClusterState) {
  const [node, ...others] = cluster.nodes();
  if (node === undefined || others.length > 0) throw new Error("expected one node");
  return node.existing;
}

const shown = (amounts: Readonly<Record<string, { toString(): string }>>) =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));

describe("existing nodes", () => {
  it("02:S-20 02:S-21 02:S-22 an unmanaged Node has its own name and labels and counts as initialized", () => {
    const seen = only({ nodes: [node()] });
    expect(seen).toMatchObject({ name: "n", providerId: "id://1", isInitialized: true, labels: { from: "node" } });
    expect(seen).not.toHaveProperty("nodePool");
  });

  it.each([
    ["the claim before registration", {}, "c", "claim", false],
    [
      "the Node after it",
      { ...registered, "karpenter.sh/nodepool": "p", "node.kubernetes.io/instance-type": "t" },
      "n",
      "node",
      false,
    ],
    ["the Node once initialized", { ...initialized, "karpenter.sh/nodepool": "p" }, "n", "node", true],
  ])("02:S-22 name and labels are those of %s", (_, labels, name, from, isInitialized) => {
    expect(only({ claims: [claim()], nodes: [node(labels)] })).toMatchObject({
      name,
      isInitialized,
      nodePool: "p",
      labels: { from },
    });
  });

  it("02:S-22 a claim without a Node is in flight", () => {
    const seen = only({ claims: [claim({ spec: { taints: [taint("dedicated")] } })] });
    expect(seen).toMatchObject({ name: "c", hostname: "c", isInitialized: false, taints: [taint("dedicated")] });
    expect(shown(seen.available)).toEqual({ cpu: "4", gpu: "1" });
  });

  it("02:S-23 the hostname is the label's, else the name", () => {
    expect(only({ nodes: [node({ "kubernetes.io/hostname": "host" })] }).hostname).toBe("host");
    expect(only({ nodes: [node()] }).hostname).toBe("n");
  });

  it("02:S-24 ephemeral and startup taints of an uninitialized managed node are ignored, others are not", () => {
    const taints = [
      taint("node.kubernetes.io/not-ready"),
      taint("boot"),
      taint("readiness.k8s.io/x", "NoExecute"),
      taint("mine"),
    ];
    const young = claim({ spec: { startupTaints: [taint("boot")] } });
    const seen = (labels: Readonly<Record<string, string>>, claims: readonly NodeClaim[]) =>
      only({ claims, nodes: [node(labels, { spec: { taints } })] }).taints.map(({ key }) => key);
    const all = taints.map(({ key }) => key);
    expect(seen(registered, [young])).toEqual(["mine"]);
    expect(seen(initialized, [young])).toEqual(all);
    expect(seen({}, [])).toEqual(all);
  });

  it("02:S-25 an uninitialized node has the resources of its claim where it reports none", () => {
    const nodes = (labels: Readonly<Record<string, string>>) => [
      node(labels, { status: { capacity: { cpu: "8", memory: "0" } } }),
    ];
    const claims = [claim({ status: { capacity: { cpu: "4", memory: "1Gi", gpu: "1" } } })];
    expect(shown(only({ claims, nodes: nodes(registered) }).capacity)).toEqual({
      cpu: "8",
      memory: "1Gi",
      gpu: "1",
      nodes: "1",
    });
    expect(shown(only({ claims, nodes: nodes(initialized) }).capacity)).toEqual({ cpu: "8", memory: "0", nodes: "1" });
  });

  it("02:S-26 02:S-6 available is what pods that are not terminal leave; daemons are summed up apart", () => {
    const daemon = { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }] };
    const pods = [
      pod("1", { metadata: { name: "a", deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      pod("2", { metadata: { name: "b", ...daemon } }),
      pod("3", { status: { phase: "Succeeded" } }),
      pod("4", { spec: { nodeName: "other" } }),
    ];
    const seen = only({ nodes: [node({}, { status: { allocatable: { cpu: "7", pods: "10" } } })], pods });
    expect(shown(seen.available)).toEqual({ cpu: "4", pods: "8" });
    expect(shown(seen.daemonRequests)).toEqual({ cpu: "2", pods: "1" });
  });

  it("02:S-50 02:S-55 counts host ports and attached volumes against the limits of its CSINode", () => {
    const user = pod("1", { spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] } });
    const ported = pod("1", { spec: { containers: [{ ports: [{ containerPort: 1, hostPort: 80 }] }] } });
    const cluster = stateOf({
      nodes: [node()],
      pods: [user, { ...user, metadata: { name: "q", namespace: "default" } }, { ...ported, metadata: { name: "r" } }],
    });
    cluster.csiNodeChanged({
      metadata: { name: "n" },
      spec: { drivers: [{ name: "csi.example.com", allocatable: { count: 2 } }, { name: "other" }] },
    });
    cluster.volumeClaimChanged({
      metadata: { name: "data", namespace: "default" },
      spec: { storageClassName: "fast" },
    });
    cluster.storageClassChanged({ metadata: { name: "fast" }, provisioner: "csi.example.com" });
    const seen = onlyNode(cluster);
    expect(seen.hostPorts).toEqual([{ ip: "0.0.0.0", port: 80, protocol: "TCP", owner: "default/r" }]);
    expect(seen.volumes).toEqual({
      attached: new Map([["csi.example.com", new Set(["default/data"])]]),
      limits: new Map([["csi.example.com", 2]]),
    });
  });

  it("02:S-1 02:S-4 02:S-5 tracks launched claims, and Nodes that can be identified", () => {
    const count = (objects: Objects) => stateOf(objects).nodes().length;
    expect(count({ claims: [claim({ status: { providerID: "" } })] })).toBe(0);
    expect(count({ nodes: [node({}, { spec: { providerID: "" } })] })).toBe(1);
    expect(
      count({ nodes: [node({ "karpenter.sh/nodepool": "p", ...initialized }, { spec: { providerID: "" } })] }),
    ).toBe(0);
    expect(count({ nodes: [node({ "karpenter.sh/nodepool": "p" })] })).toBe(0);
    expect(count({ nodes: [node({ "karpenter.sh/nodepool": "p", "node.kubernetes.io/instance-type": "t" })] })).toBe(1);
  });

  it("02:S-27 is being deleted if its claim is, or the Node itself if it has no claim", () => {
    const gone = { deletionTimestamp: "2026-01-01T00:00:00Z" };
    const deleting = (objects: Objects) =>
      stateOf(objects)
        .nodes()
        .map(({ isBeingDeleted }) => isBeingDeleted);
    expect(deleting({ nodes: [node({}, { metadata: { name: "n", ...gone } })] })).toEqual([true]);
    expect(deleting({ claims: [claim()], nodes: [node({}, { metadata: { name: "n", ...gone } })] })).toEqual([false]);
    expect(deleting({ claims: [claim({ metadata: gone })] })).toEqual([true]);
    const terminating = { conditions: [{ type: "InstanceTerminating", status: "True" }] };
    expect(deleting({ claims: [claim({ status: { providerID: "id://1", ...terminating } })] })).toEqual([true]);
  });
});
