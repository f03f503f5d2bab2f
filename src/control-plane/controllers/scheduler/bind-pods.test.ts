import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/kubernetes/pod.ts";
import type { ClusterSnapshot, StateNode } from "../../../core/round/cluster-snapshot.ts";
import { emptyVolumeIndex } from "../../../core/volumes.ts";
import { Random } from "../../../util/random.ts";
import { bindPods } from "./bind-pods.ts";

const node = (name: string, zone: string, cpu = "4"): StateNode =>
  ({
    name,
    isBeingDeleted: false,
    node: {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { "topology.kubernetes.io/zone": zone, "kubernetes.io/hostname": name } },
      spec: {},
      status: { allocatable: { cpu, memory: "16Gi", pods: "110" } },
    },
  }) as unknown as StateNode;

const pod = (name: string, cpu: string, spec: object = {}, nodeName?: string): Pod =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", labels: { app: "web" } },
    spec: { containers: [{ name: "app", resources: { requests: { cpu } } }], ...spec, ...(nodeName && { nodeName }) },
  }) as unknown as Pod;

const cluster = (nodes: readonly StateNode[], more: Partial<ClusterSnapshot> = {}): ClusterSnapshot => ({
  nodes,
  boundPods: [],
  pendingPods: [],
  nodesByName: new Map(),
  daemons: [],
  namespaces: [],
  volumes: emptyVolumeIndex,
  ...more,
});

const places = (pods: readonly Pod[], snapshot: ClusterSnapshot, areRetried = false) =>
  bindPods(pods, snapshot, { random: new Random(1), areRetried }).flatMap((placement) =>
    placement.pods.map(({ metadata }) => `${metadata.name} on ${placement.node}`),
  );

describe("05:CP-L9 bindPods", () => {
  it("binds in the order of priority, then of arrival, until nodes are full", () => {
    const pods = [pod("first", "2"), pod("second", "2"), pod("third", "2"), pod("urgent", "2", { priority: 5 })];
    expect(places(pods, cluster([node("a", "x")]))).toEqual(["urgent on a", "first on a"]);
  });

  it("counts bound pods, and keeps room for DaemonSets that are not there yet", () => {
    const bound = pod("old", "2", {}, "a");
    const agent = pod("agent", "1");
    const snapshot = cluster([node("a", "x")], { boundPods: [bound], daemons: [agent] });
    expect(places([pod("small", "1"), pod("next", "1")], snapshot)).toEqual(["small on a"]);
  });

  it("counts only the domains of nodes that are there", () => {
    const spread = {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "topology.kubernetes.io/zone",
          whenUnsatisfiable: "DoNotSchedule",
          labelSelector: { matchLabels: { app: "web" } },
        },
      ],
    };
    const pods = ["1", "2", "3", "4"].map((name) => pod(name, "1", spread));
    expect(places(pods, cluster([node("a", "x"), node("b", "y")])).length).toBe(4);
  });

  it("leaves out nodes that are being deleted", () => {
    expect(places([pod("one", "1")], cluster([{ ...node("a", "x"), isBeingDeleted: true }]))).toEqual([]);
  });
});
